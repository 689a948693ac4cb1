package clickhouse

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"supportbot/shared/analytics"
)

// canned answers every request in the same way.
type canned struct {
	status int
	body   []byte
}

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: c.status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(c.body)), Request: r}, nil
}

// FuzzAnswer: whatever ClickHouse, or somebody on the way to it, answers, a call gives
// values or an error, and no error repeats rows that were sent.
func FuzzAnswer(f *testing.F) {
	for _, body := range []string{
		``, `{}`, `null`, `[]`, "Ok.\n", `{"meta":[{"name":"n","type":"UInt64"}],"data":[[1]],"rows":1}`, `{"meta":[],"data":[[]]}`, `{"data":[null,[null]]}`,
		`{"meta":[{"name":"id","type":"String"},{"name":"v","type":"UInt64"}],"data":[["5f7e","7"],["a",1e400],[1,2]]}`, `{"data":[["2026-01-31"]]}`,
		`{"meta":[],"data":[],"exception":"Code: 60. DB::Exception: Table base.t does not exist. (UNKNOWN_TABLE) (version 26.7.2.1 (official build))"}`,
		"{\"data\":[[\"a\"],\n__exception__\r\ntag\r\nCode: 159. DB::Exception: 'CANARY' (TIMEOUT_EXCEEDED)\n93 tag\r\n__exception__\r\n",
		`Code: 99999999999999999999. DB::Exception: (`, `Code: 1. DB::Exception: ) (version `, `<html>`, "\xff\xfe",
	} {
		f.Add(200, []byte(body))
		f.Add(500, []byte(body))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		if status < 200 || status > 599 || status/100 == 3 {
			status = 200
		}
		db := &DB{http: &http.Client{Transport: canned{status, body}}, address: "http://127.0.0.1:1/"}
		ctx := context.Background()
		res, err := db.Select(ctx, "SELECT 1", nil)
		if err == nil && (status != http.StatusOK || !json.Valid(body)) {
			t.Errorf("status %d of %q is no error: %+v", status, body, res)
		}
		for _, row := range res.Rows {
			var text string
			var at time.Time
			_ = scan(row, &text, &at) // gives a value or an error
		}
		if _, err = db.Known(ctx, []string{"i"}, time.Time{}); err == nil && status != http.StatusOK {
			t.Error("knows what nobody said")
		}
		_, _ = db.Empty(ctx)
		if err = db.Exec(ctx, "SELECT 1"); err == nil && status != http.StatusOK {
			t.Errorf("status %d is no error", status)
		}
		err = db.InsertAgents(ctx, []analytics.Agent{{ID: "1", Login: "login", Name: "name", SeenAt: time.Unix(0, 0)}})
		if err != nil && bytes.Contains(body, []byte("CANARY")) && strings.Contains(err.Error(), "CANARY") {
			t.Errorf("the error of an insert repeats rows: %v", err)
		}
	})
}
