package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"supportbot/shared/sandbox"
	"supportbot/shared/sandbox/history"
	"supportbot/shared/sandbox/tracker"
)

// pastHead is the head of the pane "history".
type pastHead struct {
	Offered        bool
	State, Problem string
	Tickets, Done  int
}

func (b *bundle) history() (h pastHead) {
	b.t.Helper()
	var p struct{ Head pastHead }
	b.must("GET", "history", nil).into(b.t, &p)
	return p.Head
}

// offered makes the page offer a history that is loaded by load.
func offered(load func(ctx context.Context, since time.Time, told func(left int)) error) func(*sandbox.Config) {
	return func(c *sandbox.Config) {
		c.History.Categories = []history.Category{{Key: "problem", Type: "bug", Priority: "normal"}}
		c.History.Load = load
	}
}

// over waits until the history is not under way any more.
func (b *bundle) over() (h pastHead) {
	b.t.Helper()
	s := b.stream("history")
	s.until(func(u sandbox.Update) bool {
		h = pastHead{}
		return json.Unmarshal(u.Head, &h) == nil && h.State != "playing" && h.State != "loading" && h.State != ""
	})
	return h
}

func TestHistory(t *testing.T) {
	t.Parallel()
	var since time.Time
	b := setup(t, offered(func(_ context.Context, at time.Time, told func(left int)) error {
		since = at
		told(20)
		return nil
	}))
	if h := b.history(); !h.Offered || h.State != "" {
		t.Fatalf("got %+v, want an offer", h)
	}
	const tickets = 300
	b.must("POST", "history", map[string]int{"tickets": tickets, "seed": 3})
	if h := b.over(); h.State != "done" || h.Problem != "" {
		t.Fatalf("got %+v, want it done", h)
	}
	all := b.Tracker.Tickets()
	if len(all) != tickets {
		t.Errorf("%d tickets, want %d", len(all), tickets)
	}
	for _, k := range all {
		if k.CreatedAt.Before(since) || time.Since(k.UpdatedAt) < time.Minute {
			t.Errorf("%s is of %s, changed at %s: not of the year before", k.Key, k.CreatedAt, k.UpdatedAt)
		}
	}
	// The list shows some of them, the search finds the others.
	var pane struct {
		Head struct{ Total int }
		Put  []struct{ ID, Key, Queue string }
	}
	b.must("GET", "tickets", nil).into(t, &pane)
	if pane.Head.Total != tickets || len(pane.Put) != 200 {
		t.Errorf("%d of %d tickets are listed, want 200 of %d", len(pane.Put), pane.Head.Total, tickets)
	}
	other := slices.IndexFunc(all, func(k tracker.Ticket) bool { // of its queue: some were moved
		return k.Queue == "SUP" && !slices.ContainsFunc(pane.Put, func(shown struct{ ID, Key, Queue string }) bool { return shown.Key == k.Key })
	})
	if other < 0 {
		t.Fatal("all tickets of the queue are listed")
	}
	pane.Put = nil
	b.must("GET", "found/SUP/"+all[other].Key, nil).into(t, &pane)
	if len(pane.Put) == 0 || pane.Put[len(pane.Put)-1].Queue != "SUP" {
		t.Errorf("found %+v", pane)
	}
	// The same once more is another history.
	b.must("POST", "history", map[string]int{"tickets": 20, "seed": 3})
	if h := b.over(); h.State != "done" || len(b.Tracker.Tickets()) != tickets+20 {
		t.Errorf("got %+v with %d tickets", h, len(b.Tracker.Tickets()))
	}
}

func TestHistory_FailsAndEnds(t *testing.T) {
	t.Parallel()
	loading := make(chan struct{})
	b := setup(t, offered(func(ctx context.Context, _ time.Time, _ func(left int)) error {
		close(loading)
		<-ctx.Done()
		return ctx.Err()
	}))
	b.must("POST", "history", map[string]int{"tickets": 1})
	<-loading
	if r := b.do("POST", "history", map[string]int{"tickets": 1}); r.status != http.StatusBadRequest {
		t.Errorf("a second one: status %d, want 400", r.status)
	}
	b.box.Close() // waits for it

	b = setup(t, offered(func(context.Context, time.Time, func(left int)) error { return errors.New("no analytics") }))
	b.must("POST", "history", map[string]int{"tickets": 1})
	if h := b.over(); h.State != "failed" || h.Problem != "no analytics" {
		t.Errorf("got %+v, want the failure", h)
	}
}

func TestHistory_Refusals(t *testing.T) {
	t.Parallel()
	b := setup(t, offered(nil))
	for _, n := range []int{0, -1, 50_001} {
		if r := b.do("POST", "history", map[string]int{"tickets": n}); r.status != http.StatusBadRequest {
			t.Errorf("%d tickets: status %d, want 400", n, r.status)
		}
	}
	none := setup(t, func(c *sandbox.Config) { c.History = nil })
	if r := none.do("POST", "history", map[string]int{"tickets": 1}); r.status != http.StatusNotFound {
		t.Errorf("without an offer: status %d, want 404: %s", r.status, fmt.Sprint(string(r.body)))
	}
	if h := none.history(); h.Offered {
		t.Error("it is offered nevertheless")
	}
}
