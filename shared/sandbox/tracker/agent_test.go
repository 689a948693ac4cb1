package tracker_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/tracker"
)

func TestAgent_WhatPeopleDoIsVisible(t *testing.T) {
	t.Parallel()
	w := setup(t)
	anna := w.As("anna")
	made, err := anna.Create(tracker.NewTicket{
		Queue: "SUP", Summary: "Принтер", Description: "**не печатает**", Type: "incident", Priority: "critical",
		Fields: map[string]string{"chat": "42"},
	})
	if err != nil {
		t.Fatal(err)
	}
	after, err := anna.Do(made.Key, tracker.Edit{
		Status: "resolved", Resolution: "fixed", Assignee: "boris", Priority: "minor", Type: "request", Summary: "Принтер и сканер",
		Comments: []tracker.NewComment{{Text: "/reply готово", Summonees: []string{"support-robot"}, Files: []tracker.NewFile{{Name: "чек.pdf", Data: []byte("%PDF")}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	now, file := w.clock.Now(), after.Files[0]
	want := tracker.Ticket{
		ID: made.ID, Key: "SUP-1", Queue: "SUP", Version: 2, Summary: "Принтер и сканер", Description: "**не печатает**",
		Type: "request", Priority: "minor", Status: "resolved", StatusType: "done", PreviousStatus: "open", Resolution: "fixed",
		Assignee: "boris", Author: "anna", Followers: []string{"anna"}, Fields: map[string]string{"chat": "42"},
		CreatedAt: now, UpdatedAt: now, Files: []tracker.File{{ID: file.ID, Name: "чек.pdf", MIME: "application/pdf", Size: 4}},
		Comments: []tracker.Comment{{
			ID: after.Comments[0].ID, Author: "anna", Name: "Анна Агентова", Text: "/reply готово", Summonees: []string{"support-robot"},
			Files: []tracker.File{file}, Version: 1, CreatedAt: now, UpdatedAt: now,
		}},
		Steps: []tracker.Step{
			{ID: "reopen", To: "reopened", RU: "Переоткрыть", EN: "Reopen"},
			{ID: "close", To: "closed", Resolution: true, RU: "Закрыть", EN: "Close"},
		},
	}
	if diff := cmp.Diff(want, after); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]tracker.Ticket{want}, w.Tickets()); diff != "" {
		t.Error(diff)
	}
	_, r, err := w.Open(file.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := io.ReadAll(r); string(got) != "%PDF" {
		t.Errorf("got %q", got)
	}
	reopened, err := anna.Do("SUP-1", tracker.Edit{Status: "reopened", Assignee: "-"})
	if err != nil || reopened.Resolution != "" || reopened.Assignee != "" {
		t.Errorf("got %+v, %v", reopened, err)
	}
}

func TestAgent_Refusals(t *testing.T) {
	t.Parallel()
	w := setup(t)
	anna := w.As("anna")
	if _, err := anna.Create(tracker.NewTicket{Summary: "x"}); err != nil {
		t.Fatal(err)
	}
	before := w.Tickets()
	do := func(d tracker.Edit) func() error {
		return func() error { _, err := anna.Do("SUP-1", d); return err }
	}
	cases := map[string]struct {
		do   func() error
		want error
	}{
		"unknown agent":      {func() error { _, err := w.As("zoe").Comment("SUP-1", "x"); return err }, tracker.ErrNotFound},
		"no such ticket":     {func() error { _, err := anna.Comment("SUP-9", "x"); return err }, tracker.ErrNotFound},
		"no such comment":    {func() error { return anna.DeleteComment("SUP-1", "9") }, tracker.ErrNotFound},
		"no text":            {do(tracker.Edit{Comments: []tracker.NewComment{{Text: "ok"}, {Text: " "}}}), tracker.ErrRefused},
		"no such step":       {do(tracker.Edit{Status: "reopened", Summary: "y"}), tracker.ErrRefused},
		"resolution missing": {do(tracker.Edit{Status: "closed"}), tracker.ErrRefused},
		"resolution unasked": {do(tracker.Edit{Status: "inProgress", Resolution: "fixed"}), tracker.ErrRefused},
		"unknown priority":   {do(tracker.Edit{Priority: "urgent"}), tracker.ErrRefused},
		"summons nobody":     {do(tracker.Edit{Comments: []tracker.NewComment{{Text: "x", Summonees: []string{"zoe"}}}}), tracker.ErrNotFound},
		"moves nowhere":      {func() error { _, err := anna.Move("SUP-1", "NO"); return err }, tracker.ErrRefused},
		"creates nothing":    {func() error { _, err := anna.Create(tracker.NewTicket{}); return err }, tracker.ErrRefused},
		"unknown local": {func() error {
			_, err := anna.Create(tracker.NewTicket{Summary: "x", Fields: map[string]string{"no": "1"}})
			return err
		}, tracker.ErrRefused},
		"no such file": {func() error { _, _, err := w.Open("9"); return err }, nil},
	}
	for name, tc := range cases {
		err := tc.do()
		if err == nil || tc.want != nil && !errors.Is(err, tc.want) {
			t.Errorf("%s: got %v, want %v", name, err, tc.want)
		}
	}
	if diff := cmp.Diff(before, w.Tickets()); diff != "" {
		t.Errorf("something changed: %s", diff)
	}
}

func TestAgent_CommentBecomesAReplyByAnEdit(t *testing.T) {
	t.Parallel()
	w := setup(t)
	anna := w.As("anna")
	if _, err := anna.Create(tracker.NewTicket{Summary: "x"}); err != nil {
		t.Fatal(err)
	}
	c, err := anna.Comment("SUP-1", "note")
	if err != nil {
		t.Fatal(err)
	}
	if err := anna.EditComment("SUP-1", c.ID, "now a reply", "support-robot"); err != nil {
		t.Fatal(err)
	}
	r := w.must("GET", "/v3/issues/SUP-1/comments/"+c.ID, "")
	if r.text("summonees", 0, "id") == "" || r.at("version") != 2.0 {
		t.Errorf("got %s", r.raw)
	}
	entry := w.must("GET", "/v3/issues/SUP-1/changelog", "")
	if entry.text(2, "type") != "IssueCommentUpdated" || entry.text(2, "comments", "updated", 0, "comment", "id") != c.ID ||
		entry.text(2, "comments", "updated", 0, "from") != "note" {
		t.Errorf("got %s", entry.raw)
	}
}

// Faults of calls: what is logged, and whether the call took effect.
func TestFaults_OfCalls(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.must("POST", "/v3/issues", `{"queue":"SUP","summary":"x"}`)
	w.Faults().Add(fault.Fault{Method: "POST /v3/issues/*/comments", Kind: fault.Status, Status: 503, RetryAfter: 2, Times: 1})
	r := w.call("POST", "/v3/issues/SUP-1/comments", `{"text":"a"}`)
	if r.status != 503 || r.header.Get("Retry-After") != "2" || r.at("statusCode") != 503.0 {
		t.Errorf("got %d %v %s", r.status, r.header, r.raw)
	}
	w.Faults().Add(fault.Fault{Method: "POST /v3/issues/*/comments", Kind: fault.HTMLAfter, Times: 1})
	r = w.call("POST", "/v3/issues/SUP-1/comments", `{"text":"b"}`)
	if r.status != 502 || !strings.HasPrefix(r.raw, "<html>") {
		t.Errorf("got %d %s", r.status, r.raw)
	}
	type line struct {
		Method string
		Status int
		Effect bool
	}
	var got []line
	for _, c := range w.Calls().Since(1) {
		got = append(got, line{c.Method, c.Status, c.Effect})
	}
	want := []line{{"POST /v3/issues/SUP-1/comments", 503, false}, {"POST /v3/issues/SUP-1/comments", 201, true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if c := w.Tickets()[0].Comments; len(c) != 1 || c[0].Text != "b" {
		t.Errorf("got %+v, want the second", c)
	}
}

func TestRate(t *testing.T) {
	t.Parallel()
	w := setup(t, func(c *tracker.Config) { c.Rate, c.Burst = 2, 3 })
	var got []int
	for range 5 {
		got = append(got, w.call("GET", "/v3/statuses", "").status)
	}
	w.clock.Add(1e9)
	for range 3 {
		got = append(got, w.call("GET", "/v3/statuses", "").status)
	}
	if diff := cmp.Diff([]int{200, 200, 200, 429, 429, 200, 200, 429}, got); diff != "" {
		t.Error(diff)
	}
}
