package loader_test

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/analytics/loader"
	"supportbot/shared/sandbox/fault"
	sandbox "supportbot/shared/sandbox/tracker"
)

// A load that is told to wait for longer than it has ends in good order, says how much
// there is and until when, and goes on as if nothing had been.
func TestSince_StopsBeforeItsDeadline(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	keys := w.history(12)
	want := w.store()
	want.all(t)
	var log journal
	s := w.store(log.of)
	k, _ := w.tracker.Ticket(keys[4])
	w.tracker.Faults().Add(fault.Fault{Method: "GET /v3/issues/" + k.ID + "/changelog", Kind: fault.Status, Status: 429, RetryAfter: 3600})
	// An hour is five minutes to the client, which is still more than there is.
	brief, cancel := context.WithTimeout(ctx, 4*time.Minute)
	defer cancel()
	r, err := s.Since(brief, since)
	if err != nil || r.Done || r.Tickets != 4 || r.Remaining != 8 || r.Owed != 0 {
		t.Errorf("got %+v, %v, want four tickets and more to do", r, err)
	}
	if r.PerSecond <= 0 || r.EndsAt.Before(w.clock.Now()) {
		t.Errorf("%v tickets a second until %s", r.PerSecond, r.EndsAt)
	}
	if line := log.closing(t); line["outcome"] != "more to do" || line["remaining"] != 8.0 || line["ends_at"] == nil {
		t.Errorf("the last line is %v", line)
	}
	if len(s.waited) > 0 {
		t.Errorf("it waited %v", s.waited)
	}
	w.tracker.Faults().Clear()
	if r := s.all(t); r.Tickets != 8 {
		t.Errorf("then got %+v, want the other eight", r)
	}
	if diff := cmp.Diff(want.tables(t), s.tables(t)); diff != "" {
		t.Errorf("(-without +with the wait):\n%s", diff)
	}
}

// A debt that cannot be paid in time stays one, and the load goes on.
func TestLive_DebtsWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k, _ := w.tracker.Ticket(w.history(3)[1])
	s := w.store()
	one := fault.Fault{Method: "GET /v3/issues/" + k.ID + "/changelog", Kind: fault.Status, Status: 422, Times: 1}
	w.tracker.Faults().Add(one)
	if r := s.all(t); r.Owed != 1 {
		t.Fatalf("got %+v, want a debt", r)
	}
	one.Status, one.RetryAfter, one.Times = 429, 3600, 0
	w.tracker.Faults().Add(one)
	brief, cancel := context.WithTimeout(ctx, 4*time.Minute)
	defer cancel()
	if r, err := s.Live(brief); err != nil || !r.Done || r.Owed+r.Gone+r.Tickets != 0 {
		t.Errorf("got %+v, %v, want nothing done about it", r, err)
	}
	if issues, err := s.db.OwedTickets(ctx, 5); err != nil || len(issues) != 1 {
		t.Errorf("owed are %v, %v", issues, err)
	}
	w.tracker.Faults().Clear()
	if r, err := s.Live(ctx); err != nil || r.Tickets != 1 {
		t.Errorf("then got %+v, %v, want the debt paid", r, err)
	}
}

// What happens to a ticket between its place in the list and its history is there in
// the end, once.
func TestLoad_ChangedMeanwhile(t *testing.T) {
	t.Parallel()
	var path atomic.Value
	var once sync.Once
	var change func()
	w := newWorld(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if p, _ := path.Load().(string); p != "" && r.URL.Path == p {
				once.Do(change)
			}
			next.ServeHTTP(rw, r)
		})
	})
	keys := w.history(6)
	var changed atomic.Bool
	change = func() {
		_, err := w.agent.Do(keys[2], sandbox.Edit{Assignee: "boris", Status: "reopened", Comments: []sandbox.NewComment{{Text: "/reply ещё раз"}}})
		if changed.Store(true); err != nil {
			t.Error(err)
		}
	}
	k, _ := w.tracker.Ticket(keys[2])
	path.Store("/v3/issues/" + k.ID + "/changelog")
	s := w.store()
	s.all(t)
	s.mustLive(t)
	w.clock.Add(time.Hour)
	s.mustLive(t)
	fresh := w.store()
	fresh.all(t)
	if !changed.Load() {
		t.Fatal("nothing has changed meanwhile")
	}
	for _, table := range []string{"latest", "events", "agents", "statuses"} {
		if diff := cmp.Diff(fresh.tables(t)[table], s.tables(t)[table]); diff != "" {
			t.Errorf("%s (-afterwards +meanwhile):\n%s", table, diff)
		}
	}
}

// What Tracker's lists show late is found by the overlap.
func TestLive_WhatListsShowLate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key := w.open(0)
	w.clock.Add(time.Hour)
	s := w.store()
	s.all(t)
	s.mustLive(t)
	w.tracker.SetLag(5 * time.Minute)
	w.do(key, sandbox.Edit{Priority: "critical"})
	for n, want := range []string{"('normal')", "('critical')"} {
		w.clock.Add(3 * time.Minute)
		s.mustLive(t)
		if got := s.count(t, "SELECT priority FROM tickets_latest"); got != want {
			t.Errorf("%d minutes later it is %s, want %s", 3*(n+1), got, want)
		}
	}
}

// A load that was refused everything is none: whoever watches is to see it.
func TestLive_RefusedIsNotLoaded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.history(5)
	s := w.store()
	s.all(t)
	s.mustLive(t)
	loaded := func() time.Time {
		t.Helper()
		h, err := s.db.Health(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return h.Loaded
	}
	before := loaded()
	w.history(5)
	w.tracker.Faults().Add(fault.Fault{Method: "GET /v3/issues/*/changelog", Kind: fault.Status, Status: 403})
	if r, err := s.Live(ctx); err == nil {
		t.Errorf("got %+v and no error", r)
	}
	if got := loaded(); before.IsZero() || !got.Equal(before) {
		t.Errorf("loaded until %s before, and until %s after a load that was refused", before, got)
	}
	w.tracker.Faults().Clear()
	s.mustLive(t)
	if got := loaded(); !got.After(before) {
		t.Errorf("loaded until %s after a load", got)
	}
}

// A process whose clock is ahead passes over nothing: what changes between the clocks is
// loaded when it has happened.
func TestLoad_ClockAhead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var ahead time.Duration
	s := w.store(func(d *loader.Deps) {
		d.Now = func() time.Time { return w.clock.Now().Add(ahead) }
		d.Clock = func(context.Context) (time.Time, error) { return w.clock.Now(), nil }
	})
	before := w.open(0)
	w.clock.Add(time.Hour)
	ahead = 24 * time.Hour
	if r, err := s.Since(ctx, since); err != nil || !r.Done || r.Tickets != 1 {
		t.Fatalf("the history: %+v, %v", r, err)
	}
	s.mustLive(t)
	w.clock.Add(time.Hour)
	w.do(before, sandbox.Edit{Status: "inProgress"})
	w.open(1)
	ahead = 0
	w.clock.Add(30 * time.Hour)
	s.mustLive(t)
	if got := s.count(t, "SELECT count(), countIf(status = 'inProgress') FROM tickets_latest"); got != "(2,1)" {
		t.Errorf("tickets, and those in progress: %s, want (2,1)", got)
	}
	ahead = 24 * time.Hour
	s.mustLive(t)
	if at, err := s.db.Watermark(ctx, "analytics:counts"); err != nil || at.After(w.clock.Now()) {
		t.Errorf("counted up to %s, %v, and it is %s", at, err, w.clock.Now())
	}
}
