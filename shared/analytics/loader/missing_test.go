package loader_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/analytics/loader"
	"supportbot/shared/clickhouse/clickhousetest"
	sandbox "supportbot/shared/sandbox/tracker"
)

// front stands before a Tracker and changes what it answers.
type front struct {
	// change may change an answer's JSON; nil: nothing changes.
	change atomic.Pointer[func(path string, answer any)]
	// status gives what is answered instead; 0: nothing is.
	status atomic.Pointer[func(path string) int]
}

func (f *front) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if status := f.status.Load(); status != nil {
			if code := (*status)(r.URL.Path); code != 0 {
				rw.Header().Set("Content-Type", "application/json")
				rw.WriteHeader(code)
				_, _ = fmt.Fprintf(rw, `{"errors":{},"errorMessages":["no"],"statusCode":%d}`, code)
				return
			}
		}
		change := f.change.Load()
		if change == nil {
			next.ServeHTTP(rw, r)
			return
		}
		w := httptest.NewRecorder()
		next.ServeHTTP(w, r)
		body := w.Body.Bytes()
		var answer any
		if json.Unmarshal(body, &answer) == nil {
			(*change)(r.URL.Path, answer)
			body, _ = json.Marshal(answer)
		}
		for name, values := range w.Header() {
			if name != "Content-Length" {
				rw.Header()[name] = values
			}
		}
		rw.WriteHeader(w.Code)
		_, _ = rw.Write(body)
	})
}

// refuse answers the status for these issues, whatever is asked of them.
func (f *front) refuse(status int, ids ...string) {
	of := func(path string) int {
		for _, id := range ids {
			if strings.Contains(path, "/issues/"+id) {
				return status
			}
		}
		return 0
	}
	f.status.Store(&of)
}

// without takes what is called so out of an answer, at any depth.
func without(answer any, name string) {
	switch v := answer.(type) {
	case []any:
		for _, x := range v {
			without(x, name)
		}
	case map[string]any:
		delete(v, name)
		for _, x := range v {
			without(x, name)
		}
	}
}

// Tickets that Tracker does not tell all of are counted, or counted as left out; nobody
// vanishes without a word.
func TestLoad_MissingFields(t *testing.T) {
	t.Parallel()
	f := &front{}
	w := newWorld(t, f.wrap)
	var ids []string
	for _, key := range w.history(8) {
		k, _ := w.tracker.Ticket(key)
		ids = append(ids, k.ID)
	}
	missing := map[string][]string{ids[2]: {"createdAt"}, ids[3]: {"updatedAt"}, ids[4]: {"id", "key"}, ids[5]: {"queue", "type", "priority"}}
	strip := func(path string, answer any) {
		without(answer, "display") // nobody is called anything
		list, _ := answer.([]any)
		if !strings.HasSuffix(path, "/issues/_search") {
			return
		}
		for _, x := range list {
			issue, _ := x.(map[string]any)
			id, _ := issue["id"].(string)
			for _, name := range missing[id] {
				delete(issue, name)
			}
		}
	}
	f.change.Store(&strip)
	f.refuse(http.StatusNotFound, ids[1])
	var log journal
	s := w.store(log.of)
	if r := s.all(t); r.Tickets != 4 || r.Gone != 1 || r.Incomplete != 3 || r.Owed != 0 {
		t.Errorf("got %+v, want 4 tickets, one gone and 3 incomplete", r)
	}
	if line := log.closing(t); line["gone"] != 1.0 || line["incomplete"] != 3.0 || line["outcome"] != "done" {
		t.Errorf("the last line is %v", line)
	}
	for text, want := range map[string]int{"a ticket cannot be counted": 3, "a ticket is gone": 1} {
		if got := strings.Count(log.String(), text); got != want {
			t.Errorf("%d lines say %q, want %d", got, text, want)
		}
	}
	want := []string{"('DEV-2','102')", "('SUP-1','')", "('SUP-6','102')", "('SUP-7','101')"}
	if diff := cmp.Diff(want, clickhousetest.Rows(t, s.rows, "SELECT key, assignee FROM tickets_latest")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := clickhousetest.Rows(t, s.rows, "SELECT * FROM agents"); len(got) > 0 {
		t.Errorf("agents without a name: %v", got)
	}
}

// An agent's ticket that went to a queue of which no category knows is found by no
// search. It is asked for, and ends when its work does.
func TestLive_MovedOutOfSight(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k, err := w.agent.Create(sandbox.NewTicket{Queue: "SUP", Summary: "CANARY-subject"})
	if err != nil {
		t.Fatal(err)
	}
	w.clock.Add(time.Hour)
	s := w.store()
	s.all(t)
	s.mustLive(t)
	state := func(want string) {
		t.Helper()
		if got := s.count(t, "SELECT queue, phase FROM tickets_latest"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	moved, err := w.agent.Move(k.Key, "DEV")
	if err != nil {
		t.Fatal(err)
	}
	w.clock.Add(23 * time.Hour)
	s.mustLive(t)
	state("('SUP','new')")
	w.clock.Add(2 * time.Hour)
	if r := s.live(t); r.Tickets != 1 {
		t.Errorf("got %+v, want the ticket", r)
	}
	state("('DEV','new')")
	if r := s.live(t); r.Tickets != 0 {
		t.Errorf("at once again: got %+v", r)
	}
	w.do(moved.Key, sandbox.Edit{Status: "resolved", Resolution: "fixed"})
	w.clock.Add(25 * time.Hour)
	s.mustLive(t)
	state("('DEV','done')")
	w.clock.Add(25 * time.Hour)
	if r := s.live(t); r.Tickets != 0 {
		t.Errorf("when it is over: got %+v", r)
	}
}

// Some in each run, those that wait longest first.
func TestLive_SomeOutOfSight(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n := range 60 {
		w.open(n)
	}
	w.clock.Add(time.Hour)
	s := w.store()
	s.all(t)
	s.mustLive(t)
	w.clock.Add(25 * time.Hour)
	for _, want := range []int{50, 10, 0} {
		if r := s.live(t); r.Tickets != want || !r.Done {
			t.Errorf("got %+v, want %d tickets", r, want)
		}
	}
}

// What Tracker shows no more counts no more, as if it were loaded anew; until it is
// shown again.
func TestLive_Deleted(t *testing.T) {
	t.Parallel()
	f := &front{}
	w := newWorld(t, f.wrap)
	keys := make([]string, 4)
	var ids []string
	for n := range keys {
		keys[n] = w.open(n)
		k, _ := w.tracker.Ticket(keys[n])
		ids = append(ids, k.ID)
	}
	w.clock.Add(time.Hour)
	s := w.store()
	s.all(t)
	s.mustLive(t)
	there := func(want string) {
		t.Helper()
		if got := s.count(t, "SELECT count() FROM tickets_latest"); got != want {
			t.Errorf("%s tickets are there, want %s", got, want)
		}
	}

	w.clock.Add(25 * time.Hour)
	f.refuse(http.StatusForbidden, ids...) // a right is missing: no ticket is gone
	if r := s.live(t); r.Gone != 0 {
		t.Errorf("all are refused: got %+v", r)
	}
	there("(4)")

	f.refuse(http.StatusNotFound, ids[:2]...)
	if r := s.live(t); r.Gone != 2 || r.Tickets != 2 {
		t.Errorf("got %+v, want two gone and two read", r)
	}
	there("(2)")
	fresh := w.store()
	fresh.all(t)
	if diff := cmp.Diff(fresh.tables(t)["latest"], s.tables(t)["latest"]); diff != "" {
		t.Errorf("(-anew +gone):\n%s", diff)
	}

	w.clock.Add(25 * time.Hour)
	f.refuse(http.StatusForbidden, ids[2])
	if r := s.live(t); r.Gone != 1 || r.Tickets != 1 {
		t.Errorf("got %+v, want one out of reach and one read; nobody asks for those that are gone", r)
	}
	there("(1)")

	f.refuse(http.StatusNotFound)
	w.do(keys[0], sandbox.Edit{Priority: "critical"})
	w.clock.Add(time.Hour)
	s.mustLive(t)
	there("(2)")

	// The others were out of reach alone: nothing has changed about them.
	for r, err := s.Since(ctx, w.clock.Now().AddDate(-1, 0, 0)); !r.Done; r, err = s.Since(ctx, w.clock.Now().AddDate(-1, 0, 0)) {
		if err != nil {
			t.Fatal(err)
		}
	}
	there("(4)")
	fresh = w.store()
	fresh.all(t)
	if diff := cmp.Diff(fresh.tables(t)["latest"], s.tables(t)["latest"]); diff != "" {
		t.Errorf("(-anew +shown again):\n%s", diff)
	}
}

// A run that dies while it asks for tickets asks again.
func TestLive_BrokenOffOutOfSight(t *testing.T) {
	t.Parallel()
	f := &front{}
	w := newWorld(t, f.wrap)
	for n := range 4 {
		w.open(n)
	}
	gone, _ := w.tracker.Ticket("SUP-1")
	w.clock.Add(time.Hour)
	// The sweep before has the same steps.
	stores, left := map[string]*store{}, map[string]int{"events": 2, "agents": 2, "tickets": 2, "advanced": 2, "visited": 1}
	armed := false
	for point := range left {
		stores[point] = w.store(func(d *loader.Deps) {
			d.Hook = func(at string) {
				if armed && at == point {
					if left[at]--; left[at] == 0 {
						panic("broken off at " + at)
					}
				}
			}
		})
		stores[point].all(t)
		stores[point].mustLive(t)
	}
	f.refuse(http.StatusNotFound, gone.ID)
	w.clock.Add(25 * time.Hour)
	fresh := w.store()
	fresh.all(t)
	want := fresh.tables(t)["latest"]
	armed = true
	for point, s := range stores {
		if !s.dies(t, func() { s.mustLive(t) }) {
			t.Errorf("it goes on after %s", point)
		}
		s.forgetLeases(t)
		s.mustLive(t)
		if diff := cmp.Diff(want, s.tables(t)["latest"]); diff != "" {
			t.Errorf("after %s (-whole +broken off):\n%s", point, diff)
		}
	}
}
