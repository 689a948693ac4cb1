package v3_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"testing"
	"time"

	"supportbot/shared/env"
	"supportbot/shared/tracker"
	"supportbot/shared/tracker/v3"
)

// canned answers every request with the same body, and with the same text in every header
// that is read; a listing's second page is empty and names no next one, so that it ends.
type canned struct {
	status int
	body   []byte
	header string
}

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	body, header := c.body, http.Header{"Content-Type": {c.header}, "Retry-After": {c.header}}
	if q := r.URL.Query(); q.Get("id")+q.Get("scrollId") != "" {
		body = []byte("[]")
	} else if c.header != "" {
		header["Link"], header["X-Scroll-Id"], header["X-Scroll-Token"] = []string{c.header}, []string{c.header}, []string{c.header}
	}
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
	return &http.Response{
		StatusCode: c.status, Status: strconv.Itoa(c.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(body)), Request: r, ContentLength: int64(len(body)),
	}, nil
}

// Whatever an answer holds, no method panics, and each gives a value or an error
// of the port.
func FuzzAnswers(f *testing.F) {
	seeds := []string{
		``, `null`, `[]`, `{}`, `7`, `-7`, `[null]`, `[{"id":1}]`, `{"id":"1","key":"SUP-1","version":"7"}`,
		`{"id":"5f7e","key":"SUP-1","status":{"key":"open"},"statusType":"new","6054ae3a2b6b2c7f80bb9a93--supportChat":"1","x--":1}`,
		`[{"id":626,"longId":"a","summonees":[{"id":1}],"attachments":[{"id":"1","display":"a"}],"createdAt":"2026-08-27T13:00:00.000+0300"}]`,
		`[{"id":"a","type":"IssueWorkflow","fields":[{"field":{"id":"status"},"from":{"key":"open"},"to":null}],"comments":{"added":[{"id":"10"}],"updated":[{"comment":{"id":1},"from":"a"}]}}]`,
		`[{"id":"1","fields":[{"field":{"id":"boards"},"from":[{"id":1}],"to":3}]}]`,
		`{"errors":{"summary":"x"},"errorMessages":["y"],"statusCode":422}`, `{"uid":1120000000000001,"login":"r"}`,
		`[{"id":1e400}]`, `[{"id":-1.5}]`, `{"id":[[[[`, `<html>`, "\xff\xfe", `[{"key":"open","type":"new"},{"type":{"key":"x"}}]`,
	}
	for _, s := range seeds {
		f.Add(200, []byte(s), "")
		f.Add(422, []byte(s), "")
		f.Add(200, []byte(s), `<https://x/>; rel="next"`)
	}
	for _, header := range []string{"7", "-7", "99999999999", "soon", "Wed, 21 Oct 2015 07:28:00 GMT", "text/html", "\xff\n"} {
		f.Add(429, []byte(`{}`), header)
		f.Add(503, []byte(`<html>`), header)
	}
	f.Fuzz(func(t *testing.T, status int, body []byte, header string) {
		if status < 200 || status > 599 {
			status = 200
		}
		c, err := v3.New(v3.Config{Token: env.NewSecret(token), OrgID: "1", Queue: "SUP", Transport: canned{status: status, body: body, header: header}})
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
			var e *tracker.Error
			if err != nil && (!errors.As(err, &e) || e.RetryAfter < 0 || e.RetryAfter > 5*time.Minute) {
				t.Errorf("%s: %v, to be repeated after %v", what, err, e)
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
		for i, err := range c.Open(ctx) {
			check("open", err, i.ID != "")
		}
		n, err := c.CountUpdated(ctx, time.Time{})
		check("count", err, n >= 0)
		m, err = c.Comment(ctx, "SUP-1", "1")
		check("one comment", err, m.ID != "")
		of := map[tracker.Field]string{tracker.FieldChat: "1"}
		found, err := c.Search(ctx, nil, of, 10)
		check("search", err, true)
		for _, i := range found {
			check("search", nil, i.ID != "" && i.Fields[tracker.FieldChat] == "1")
		}
		for i, err := range c.Of(ctx, nil, of) {
			check("of", err, i.ID != "" && i.Fields[tracker.FieldChat] == "1")
		}
		check("fields", c.SetFields(ctx, "SUP-1", of), true)
		check("detach", c.Detach(ctx, "SUP-1", tracker.FieldChat), true)
		check("transit", c.Transit(ctx, "SUP-1", "1"), true)
		var managed map[string]any
		check("manage", c.Manage(ctx, v3.Managed{Call: "look", Method: http.MethodGet, Path: []string{"queues"}}, &managed), true)
		file, err := c.Download(ctx, "SUP-1", tracker.Attachment{ID: "1", Name: "a"})
		check("download", err, file != nil)
		if err == nil {
			_, err = io.Copy(io.Discard, file)
			check("read", err, true)
			_ = file.Close()
		}
	})
}
