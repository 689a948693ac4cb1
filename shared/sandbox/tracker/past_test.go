package tracker_test

import (
	"net/http"
	"testing"
	"time"

	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/tracker"
)

// told makes a call that tells of the past, as somebody with a token.
func (w *world) told(at, token, method, path, body string) reply {
	w.t.Helper()
	defer func(was http.Header) { w.header = was }(w.header.Clone())
	w.header.Set(tracker.TimeHeader, at)
	w.header.Set("Authorization", "OAuth "+token)
	return w.call(method, path, body)
}

// What is told of the past is a ticket's history as any other, by whom and when it
// says; and nothing else notices.
func TestPast(t *testing.T) {
	t.Parallel()
	h := newHook(t, 200)
	w := setup(t, noKeepAlive, func(c *tracker.Config) { c.Past = true; c.Rate, c.Burst = 0.001, 4; c.Lag = time.Hour })
	w.trigger(h, `[{"type":"Event.comment-create"}]`, "{{userComment.text}}")
	w.Faults().Add(fault.Fault{Method: "*", Kind: fault.Status, Status: 503, Times: 1})
	calls := len(w.Calls().Since(0))

	id := w.told("2025-10-26T00:30:00.125Z", "secret", "POST", "/v3/issues", `{"queue":"SUP","summary":"old","unique":"u"}`).text("id")
	steps := []struct{ at, token, method, path, body string }{
		{"2025-10-26T01:30:00Z", "boris-token", "PATCH", "", `{"assignee":"boris","priority":"critical"}`},
		{"2025-10-26T03:30:00+01:00", "boris-token", "POST", "/comments", `{"text":"/reply done"}`},
		{"2025-10-27T00:00:00Z", "boris-token", "POST", "/transitions/resolve/_execute", `{"resolution":"fixed","comment":"bye"}`},
		{"2025-10-28T00:00:00Z", "secret", "POST", "/_move?queue=BIL", `{}`},
	}
	for _, s := range steps {
		if r := w.told(s.at, s.token, s.method, "/v3/issues/"+id+s.path, s.body); r.status > 299 {
			t.Fatalf("%s %s: %d %s", s.method, s.path, r.status, r.raw)
		}
	}
	if n := len(w.Calls().Since(0)); n != calls {
		t.Errorf("%d calls were logged, want none", n-calls)
	}
	if n := len(w.Faults().List()); n != 1 {
		t.Errorf("%d faults are left, want the one", n)
	}
	w.Faults().Clear()

	found := w.must("POST", "/v3/issues/_search", `{"query":"Updated: >= \"2025-10-27T12:00:00\""}`)
	for field, want := range map[string]string{
		"createdAt": "2025-10-26T00:30:00.125+0000", "updatedAt": "2025-10-28T00:00:00.000+0000", "resolvedAt": "2025-10-27T00:00:00.000+0000", "key": "BIL-1",
	} {
		if got := found.text(0, field); got != want {
			t.Errorf("%s: got %s, want %s", field, got, want)
		}
	}
	changes := w.must("GET", "/v3/issues/"+id+"/changelog", "")
	for n, want := range []string{"2025-10-26T00:30:00.125", "2025-10-26T01:30:00.000", "2025-10-26T02:30:00.000", "2025-10-27T00:00:00.000", "2025-10-28T00:00:00.000"} {
		if got := changes.text(n, "updatedAt"); got != want+"+0000" {
			t.Errorf("change %d: got %s, want %s", n, got, want)
		}
		if got, want := changes.text(n, "updatedBy", "display"), []string{"Support Robot", "Boris", "Boris", "Boris", "Support Robot"}[n]; got != want {
			t.Errorf("change %d is by %s, want %s", n, got, want)
		}
	}
	// A trigger runs for what happens now alone.
	if _, err := w.As("anna").Create(tracker.NewTicket{Summary: "new"}); err != nil {
		t.Fatal(err)
	}
	w.must("POST", "/v3/issues/SUP-2/comments", `{"text":"now"}`)
	if got := w.fired(1); len(got) != 1 || got[0] != "now" {
		t.Errorf("triggers called with %q, want only what is new", got)
	}
}

func TestPast_Refusals(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		past   bool
		at     string
		token  string
		status int
	}{
		"not configured": {false, "2025-01-01T00:00:00Z", "secret", http.StatusForbidden},
		"to come":        {true, "2026-08-01T09:00:00.001Z", "secret", http.StatusBadRequest},
		"no time":        {true, "yesterday", "secret", http.StatusBadRequest},
		"a stranger":     {true, "2025-01-01T00:00:00Z", "guess", http.StatusUnauthorized},
		"now":            {true, "2026-08-01T09:00:00Z", "secret", http.StatusCreated},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t, func(c *tracker.Config) { c.Past = tc.past })
			if r := w.told(tc.at, tc.token, "POST", "/v3/issues", `{"queue":"SUP","summary":"s"}`); r.status != tc.status {
				t.Errorf("got %d %s, want %d", r.status, r.raw, tc.status)
			}
			if n := len(w.Tickets()); (n == 1) != (tc.status == http.StatusCreated) {
				t.Errorf("%d tickets", n)
			}
		})
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	w := setup(t)
	anna := w.As("anna")
	for n, summary := range []string{"printer", "paper", "printer again", "ink", "printer no more"} {
		w.clock.Add(time.Minute)
		queue := []string{"SUP", "BIL"}[n%2]
		if _, err := anna.Create(tracker.NewTicket{Queue: queue, Summary: summary, Fields: map[string]string{"chat": "Мария"}}); err != nil {
			t.Fatal(err)
		}
	}
	w.clock.Add(time.Minute)
	if _, err := anna.Do("SUP-1", tracker.Edit{Assignee: "boris"}); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		wanted tracker.Wanted
		most   int
		want   []string
		total  int
	}{
		"all":       {tracker.Wanted{}, 9, []string{"SUP-1", "SUP-3", "BIL-2", "SUP-2", "BIL-1"}, 5},
		"the last":  {tracker.Wanted{}, 2, []string{"SUP-1", "SUP-3"}, 5},
		"one":       {tracker.Wanted{}, 1, []string{"SUP-1"}, 5},
		"a queue":   {tracker.Wanted{Queue: "BIL"}, 9, []string{"BIL-2", "BIL-1"}, 2},
		"words":     {tracker.Wanted{Words: " PRINTER "}, 2, []string{"SUP-1", "SUP-3"}, 3},
		"a name":    {tracker.Wanted{Words: "мария", Named: "chat"}, 1, []string{"SUP-1"}, 5},
		"an agent":  {tracker.Wanted{Words: "boris"}, 9, []string{"SUP-1"}, 1},
		"a key":     {tracker.Wanted{Words: "bil-2"}, 9, []string{"BIL-2"}, 1},
		"not there": {tracker.Wanted{Words: "ink", Queue: "SUP"}, 9, nil, 0},
	} {
		list, total := w.Find(tc.wanted, tc.most)
		var keys []string
		for _, k := range list {
			keys = append(keys, k.Key)
		}
		if total != tc.total || len(keys) != len(tc.want) {
			t.Errorf("%s: got %v of %d, want %v of %d", name, keys, total, tc.want, tc.total)
			continue
		}
		for n := range keys {
			if keys[n] != tc.want[n] {
				t.Errorf("%s: got %v, want %v", name, keys, tc.want)
				break
			}
		}
	}
}
