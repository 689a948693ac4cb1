package loader_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/analytics/loader"
	"supportbot/shared/sandbox/fault"
	sandbox "supportbot/shared/sandbox/tracker"
)

func TestLoad_Faults(t *testing.T) {
	t.Parallel()
	const changelog, comments, search = "GET /v3/issues/*/changelog", "GET /v3/issues/*/comments", "POST /v3/issues/_search"
	for name, tc := range map[string]struct {
		fault fault.Fault
		fails bool // the call; the next one goes on
		owed  int
		waits time.Duration // at least once
	}{
		"429":             {fault: fault.Fault{Method: changelog, Kind: fault.Status, Status: 429, RetryAfter: 7, Times: 3}, waits: 7 * time.Second},
		"429 of a search": {fault: fault.Fault{Method: search, Kind: fault.Status, Status: 429, Times: 1}},
		"500":             {fault: fault.Fault{Method: comments, Kind: fault.Status, Status: 500, Times: 2}, waits: 2 * time.Second},
		"503 of a search": {fault: fault.Fault{Method: search, Kind: fault.Status, Status: 503, Times: 2}},
		"an outage":       {fault: fault.Fault{Method: changelog, Kind: fault.Status, Status: 503, Times: 400}, fails: true},
		"404 of one":      {fault: fault.Fault{Method: changelog, Kind: fault.Status, Status: 404, Times: 1}, owed: 1},
		"403 of one":      {fault: fault.Fault{Method: comments, Kind: fault.Status, Status: 403, Times: 1}, owed: 1},
		"403 of all":      {fault: fault.Fault{Method: changelog, Kind: fault.Status, Status: 403, Times: 400}, fails: true},
		"401":             {fault: fault.Fault{Method: comments, Kind: fault.Status, Status: 401, Times: 60}, fails: true},
		"422 of one":      {fault: fault.Fault{Method: changelog, Kind: fault.Status, Status: 422, Times: 1}, owed: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.history(12)
			s := w.store()
			want := w.store()
			want.all(t)
			want.mustLive(t)
			w.tracker.Faults().Add(tc.fault)
			r, err := s.Since(ctx, since)
			if (err != nil) != tc.fails || r.Owed != tc.owed || r.Gone != 0 {
				t.Errorf("got %+v, %v; want failing %v, %d owed, none gone", r, err, tc.fails, tc.owed)
			}
			waited := false
			for _, d := range s.waited {
				waited = waited || d >= tc.waits
			}
			if tc.waits > 0 && !waited {
				t.Errorf("waited %v, want %s", s.waited, tc.waits)
			}
			w.tracker.Faults().Clear()
			s.all(t)
			s.mustLive(t) // pays debts
			if diff := cmp.Diff(want.tables(t), s.tables(t)); diff != "" {
				t.Errorf("(-without +with the fault):\n%s", diff)
			}
		})
	}
}

// A ticket that Tracker can never tell of keeps no other back, and is tried again.
func TestLoad_OnePoisonedTicket(t *testing.T) {
	t.Parallel()
	bad := ""
	w := newWorld(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if bad != "" && strings.Contains(r.URL.Path, bad+"/changelog") {
				rw.WriteHeader(http.StatusInternalServerError)
				return
			}
			next.ServeHTTP(rw, r)
		})
	})
	keys := w.history(9)
	k, _ := w.tracker.Ticket(keys[4])
	bad = k.ID
	s := w.store()
	if r := s.all(t); r.Tickets != 8 || r.Owed != 1 {
		t.Errorf("got %+v, want 8 tickets and one owed", r)
	}
	s.mustLive(t)
	if issues, err := s.db.OwedTickets(ctx, 5); err != nil || len(issues) != 1 || issues[0] != bad {
		t.Errorf("owed are %v, %v", issues, err)
	}
	bad = ""
	w.do(keys[4], sandbox.Edit{Priority: "critical"})
	s.mustLive(t)
	if got := s.count(t, "SELECT uniqExact(issue) FROM tickets"); got != "(8)" {
		t.Errorf("got %s tickets; one that has just changed may lack its last entry", got)
	}
	w.clock.Add(time.Hour)
	s.mustLive(t)
	if got := s.count(t, "SELECT uniqExact(issue) FROM tickets"); got != "(9)" {
		t.Errorf("got %s tickets in the end", got)
	}
	if issues, err := s.db.OwedTickets(ctx, 5); err != nil || len(issues) > 0 {
		t.Errorf("owed are %v, %v, want none", issues, err)
	}
}

// More tickets of one moment than a call can read: each call gets further.
func TestLoad_ManyOfOneMoment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n := range 250 {
		w.open(n)
	}
	w.clock.Add(time.Hour)
	left := 0
	s := w.store(func(d *loader.Deps) {
		d.Hook = func(at string) {
			if at == "advanced" {
				if left++; left%2 == 1 {
					panic("no time")
				}
			}
		}
	})
	deaths := 0
	var r loader.Report
	for s.dies(t, func() { r = s.all(t) }) {
		s.forgetLeases(t)
		if deaths++; deaths > 20 {
			t.Fatal("it never ends")
		}
	}
	if r.Remaining != 0 || !r.EndsAt.IsZero() {
		t.Errorf("when it is over %d remain until %s", r.Remaining, r.EndsAt)
	}
	if got := s.count(t, "SELECT count() FROM tickets"); got != "(250)" {
		t.Errorf("got %s rows of 250 tickets: some were read twice", got)
	}
}

// A ClickHouse that was lost, with what Postgres remembers of it, is filled again by
// whichever load comes first.
func TestLoad_ClickHouseLost(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]func(t *testing.T, s *store){
		"the history notices":   func(*testing.T, *store) {},
		"the live load notices": func(t *testing.T, s *store) { s.mustLive(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.history(8)
			s := w.store()
			s.all(t)
			w.history(3)
			w.clock.Add(time.Hour)
			s.mustLive(t)
			want := s.tables(t)
			for _, table := range []string{"tickets", "tickets_now", "ticket_events", "agents", "statuses"} {
				if err := s.rows.Exec(ctx, "TRUNCATE TABLE "+table); err != nil {
					t.Fatal(err)
				}
			}
			first(t, s)
			s.all(t)
			s.mustLive(t)
			for _, table := range []string{"latest", "events", "agents", "statuses"} {
				if diff := cmp.Diff(want[table], s.tables(t)[table]); diff != "" {
					t.Errorf("%s (-before +after):\n%s", table, diff)
				}
			}
			if r := s.all(t); r.Tickets != 0 {
				t.Errorf("once more: got %+v, want nothing to do", r)
			}
		})
	}
}

// A history fills a gap behind the begin of the live load, too.
func TestLoad_SinceAfterTheLiveLoadBegan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.store()
	s.mustLive(t)
	w.clock.Add(time.Hour)
	from := w.clock.Now()
	w.history(4)
	w.clock.Add(time.Hour)
	s.mustLive(t)
	want := s.tables(t)
	if err := s.rows.Exec(ctx, "ALTER TABLE tickets_now DELETE WHERE created_at > '2026-03-01 10:00:00' SETTINGS mutations_sync = 1"); err != nil {
		t.Fatal(err)
	}
	if s.count(t, "SELECT count() FROM tickets_latest") != "(0)" {
		t.Fatal("there is no gap")
	}
	if r, err := s.Since(ctx, from); err != nil || !r.Done || r.Tickets != 4 {
		t.Errorf("got %+v, %v, want four tickets", r, err)
	}
	if diff := cmp.Diff(want["latest"], s.tables(t)["latest"]); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}
