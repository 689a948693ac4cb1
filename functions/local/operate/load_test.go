package operate_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"supportbot/shared/backend"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/clickhouse/clickhousetest"
	"supportbot/shared/sandbox/fault"
	sandbox "supportbot/shared/sandbox/tracker"
	"supportbot/shared/wiring/wiringtest"
)

func TestMain(m *testing.M) {
	backend.ServeClickHouse()
	goleak.VerifyTestMain(m, backendtest.Goroutines()...)
}

// The history is loaded call by call: it says how fast and until when, and goes on
// where it was broken off.
func TestLoad(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	rows, address := clickhousetest.New(t)
	var ago atomic.Int64 // hours
	past := sandbox.New(sandbox.Config{Token: wiringtest.Secret, OrgID: "77", Now: func() time.Time {
		return time.Now().Add(-time.Duration(ago.Load()) * time.Hour)
	}})
	web := httptest.NewServer(past)
	t.Cleanup(func() { past.Close(); web.Close() })
	d.vars["CLICKHOUSE_URL"], d.vars["TRACKER_API_URL"], d.vars["TRACKER_RATE_PER_SECOND"] = address, web.URL, "1000"
	var last string
	for n := range 101 { // one more than a page
		ago.Store(int64(2 - n/100))
		k, err := past.As("agent").Create(sandbox.NewTicket{Summary: "CANARY-subject"})
		if err != nil {
			t.Fatal(err)
		}
		last = k.ID
	}
	past.Faults().Add(fault.Fault{Method: "GET /v3/issues/" + last + "/changelog", Kind: fault.Status, Status: 403, Times: 1})
	if out := d.must("load", "--since", "2020-01-01"); !strings.Contains(out, "100 tickets (") || !strings.Contains(out, " a second") ||
		!strings.Contains(out, "1 are left to the next load") || !strings.Contains(out, "everything since 2020-01-01 00:00:00 UTC is loaded") {
		t.Errorf("said %q", out)
	}
	if out := d.must("load", "--since", "2020-01-01"); !strings.Contains(out, "0 tickets (0 rows)") || !strings.Contains(out, "is loaded") {
		t.Errorf("once more it said %q", out)
	}

	past.Faults().Add(fault.Fault{Method: "GET /v3/issues/" + last + "/changelog", Kind: fault.Status, Status: 429, RetryAfter: 3600, Times: 1})
	brief, cancel := context.WithTimeout(d.Context(), 4*time.Minute) // less than it asks for
	defer cancel()
	out, err := d.within(brief, "load", "--since", "2021-01-01")
	if err == nil || !strings.Contains(out, "100 tickets (") || !strings.Contains(out, "1 to go, until about ") || strings.Contains(out, "is loaded") {
		t.Errorf("where Tracker asks to wait it said %q, %v", out, err)
	}
	opts, err := redis.ParseURL(d.vars["REDIS_URL"])
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(opts)
	defer func() { _ = client.Close() }()
	if err := client.FlushDB(d.Context()).Err(); err != nil { // the hour is over
		t.Fatal(err)
	}
	if out := d.must("load", "--since", "2021-01-01"); !strings.Contains(out, "1 tickets (") || strings.Contains(out, "to go") || !strings.Contains(out, "is loaded") {
		t.Errorf("after that it said %q", out)
	}
	if got := clickhousetest.Rows(t, rows, "SELECT count() FROM tickets_latest"); got[0] != "(101)" {
		t.Errorf("%s tickets are in", got[0])
	}
}
