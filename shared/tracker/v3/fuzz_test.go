package v3_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"testing"
	"time"

	"supportbot/shared/env"
	"supportbot/shared/tracker"
	"supportbot/shared/tracker/v3"
)

// canned answers every request with the same body; a listing's second page is
// empty, so that it ends.
type canned struct {
	status int
	body   []byte
}

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	body := c.body
	if r.URL.Query().Get("id") != "" {
		body = []byte("[]")
	}
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
	return &http.Response{
		StatusCode: c.status, Status: strconv.Itoa(c.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(body)), Request: r, ContentLength: int64(len(body)),
	}, nil
}

// Whatever an answer holds, no method panics, and each gives a value or an error
// of the port.
func FuzzAnswers(f *testing.F) {
	seeds := []string{
		``, `null`, `[]`, `{}`, `[null]`, `[{"id":1}]`, `{"id":"1","key":"SUP-1","version":"7"}`,
		`{"id":"5f7e","key":"SUP-1","status":{"key":"open"},"statusType":"new","6054ae3a2b6b2c7f80bb9a93--supportChat":"1","x--":1}`,
		`[{"id":626,"longId":"a","summonees":[{"id":1}],"attachments":[{"id":"1","display":"a"}],"createdAt":"2026-08-27T13:00:00.000+0300"}]`,
		`[{"id":"a","type":"IssueWorkflow","fields":[{"field":{"id":"status"},"from":{"key":"open"},"to":null}],"comments":{"added":[{"id":"10"}],"updated":[{"comment":{"id":1},"from":"a"}]}}]`,
		`[{"id":"1","fields":[{"field":{"id":"boards"},"from":[{"id":1}],"to":3}]}]`,
		`{"errors":{"summary":"x"},"errorMessages":["y"],"statusCode":422}`, `{"uid":1120000000000001,"login":"r"}`,
		`[{"id":1e400}]`, `[{"id":-1.5}]`, `{"id":[[[[`, `<html>`, "\xff\xfe", `[{"key":"open","type":"new"},{"type":{"key":"x"}}]`,
	}
	for _, s := range seeds {
		f.Add(200, []byte(s))
		f.Add(422, []byte(s))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		if status < 200 || status > 599 {
			status = 200
		}
		c, err := v3.New(v3.Config{Token: env.NewSecret(token), OrgID: "1", Queue: "SUP", Transport: canned{status, body}})
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		check := func(what string, err error, valid bool) {
			t.Helper()
			if err == nil && !valid {
				t.Errorf("%s: neither a value nor an error", what)
			}
			if err != nil && tracker.KindOf(err) == tracker.Duplicate {
				t.Errorf("%s: duplicate without unique", what)
			}
		}
		i, err := c.Create(ctx, tracker.NewIssue{Summary: "x"})
		check("create", err, i.ID != "" && i.Key != "")
		i, err = c.Issue(ctx, "SUP-1")
		check("issue", err, i.ID != "")
		i, err = c.FindByUnique(ctx, "u")
		check("find", err, i.ID != "")
		m, err := c.AddComment(ctx, "SUP-1", tracker.NewComment{Text: "x"})
		check("comment", err, m.ID != "")
		up, err := c.Upload(ctx, tracker.Upload{Name: "a", Size: 1, Body: bytes.NewReader([]byte("x"))})
		check("upload", err, up.ID != "")
		me, err := c.Myself(ctx)
		check("myself", err, me.ID != "")
		list, err := c.Comments(ctx, "SUP-1", "")
		for _, m := range list {
			check("comments", err, m.ID != "")
		}
		changes, err := c.Changes(ctx, "SUP-1", "")
		for _, ch := range changes {
			check("changes", err, ch.ID != "")
		}
		_, err = c.Attachments(ctx, "SUP-1")
		check("attachments", err, true)
		_, err = c.Transitions(ctx, "SUP-1")
		check("transitions", err, true)
		_, err = c.Statuses(ctx)
		check("statuses", err, true)
		for _, err := range c.UpdatedSince(ctx, time.Time{}) {
			check("updated", err, true) // an issue may lack anything
		}
	})
}
