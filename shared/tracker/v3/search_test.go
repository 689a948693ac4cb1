package v3_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/env"
	"supportbot/shared/sandbox/fault"
	sandbox "supportbot/shared/sandbox/tracker"
	"supportbot/shared/tracker"
	"supportbot/shared/tracker/v3"
)

func keys(issues []tracker.Issue) []string {
	list := []string{}
	for _, i := range issues {
		list = append(list, i.Key)
	}
	return list
}

func TestSearch_CustomersTicketsNewestFirst(t *testing.T) {
	t.Parallel()
	w := setup(t)
	ctx := context.Background()
	for n := range 7 {
		w.clock.Add(time.Second)
		w.create(t, tracker.NewIssue{Queue: []string{"SUP", "BIL"}[n%2], Fields: customer(strconv.Itoa(40 + n/6))})
	}
	mine := map[tracker.Field]string{
		tracker.FieldMessenger: "telegram", tracker.FieldBot: "1099511627777", tracker.FieldChat: "40",
	}
	both := []string{"SUP", "BIL"}
	cases := []struct {
		queues []string
		limit  int
		want   []string
	}{
		{both, 4, []string{"BIL-3", "SUP-3", "BIL-2", "SUP-2"}},
		{both, 100, []string{"BIL-3", "SUP-3", "BIL-2", "SUP-2", "BIL-1", "SUP-1"}},
		{nil, 4, []string{"SUP-3", "SUP-2", "SUP-1"}},
	}
	for _, tc := range cases {
		got, err := w.Search(ctx, tc.queues, mine, tc.limit)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, keys(got)); diff != "" {
			t.Errorf("%d of %v (-want +got):\n%s", tc.limit, tc.queues, diff)
		}
	}
	var all []tracker.Issue
	for i, err := range w.Of(ctx, both, mine) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, i)
	}
	if diff := cmp.Diff(cases[1].want, keys(all)); diff != "" {
		t.Errorf("all of them (-want +got):\n%s", diff)
	}
}

// A value can hold what the query language gives a meaning to.
func TestSearch_ValuesAreNoQueries(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for _, nick := range []string{`a" OR Queue: "BIL`, `back\slash`, `x) OR (Queue: SUP`, "empty()", "простой"} {
		fields := map[tracker.Field]string{tracker.FieldNickname: nick}
		made := w.create(t, tracker.NewIssue{Fields: fields})
		got, err := w.Search(context.Background(), nil, fields, 10)
		if err != nil || len(got) != 1 || got[0].Key != made.Key {
			t.Errorf("%q: got %v, %v, want %s", nick, keys(got), err, made.Key)
		}
	}
}

// A search that answers somebody else's ticket must not show it.
func TestSearch_OtherPeoplesTicketsAreLeftOut(t *testing.T) {
	t.Parallel()
	c := against(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, `[{"id":"1","key":"SUP-1","6054ae3a2b6b2c7f80bb9a93--supportChat":"4"},
			{"id":"2","key":"SUP-2","6054ae3a2b6b2c7f80bb9a93--supportChat":"42"}, {"id":"3","key":"SUP-3"}, null, {},
			{"id":"4","key":"SUP-4","6054ae3a2b6b2c7f80bb9a93--supportChat":42}]`)
	})
	got, err := c.Search(context.Background(), nil, map[tracker.Field]string{tracker.FieldChat: "42"}, 10)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"SUP-2", "SUP-4"}, keys(got)); diff != "" {
		t.Error(diff)
	}
}

func TestUpdatedSince_GoesBeyondTheLimitOfPaging(t *testing.T) {
	t.Parallel()
	w := setup(t, func(s *sandbox.Config, _ *v3.Config) { s.SearchLimit = 100 })
	ctx := context.Background()
	begin := w.clock.Now()
	var want []string
	for n := range 250 {
		w.clock.Add(time.Second)
		if _, err := w.agent.Create(sandbox.NewTicket{Summary: "x", Fields: map[string]string{"supportChat": "1"}}); err != nil {
			t.Fatal(err)
		}
		want = append(want, "SUP-"+strconv.Itoa(n+1))
	}
	var all []tracker.Issue
	for i, err := range w.UpdatedSince(ctx, begin) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, i)
	}
	if diff := cmp.Diff(want, keys(all)); diff != "" {
		t.Error(diff)
	}
	if n := w.server.Scrolls(); n != 0 {
		t.Errorf("got %d snapshots left, want none", n)
	}
}

func TestUpdatedSince(t *testing.T) {
	t.Parallel()
	w := setup(t)
	ctx := context.Background()
	for _, q := range []string{"SUP", "SUP", "BIL", "SUP"} {
		w.clock.Add(time.Second)
		w.create(t, tracker.NewIssue{Queue: q})
	}
	w.clock.Add(time.Second)
	if _, err := w.agent.Comment("SUP-1", "touched"); err != nil {
		t.Fatal(err)
	}
	w.clock.Add(time.Second)
	if _, err := w.agent.Create(sandbox.NewTicket{Queue: "RAW", Summary: "an agent's, of another queue"}); err != nil {
		t.Fatal(err)
	}
	at := func(seconds int) time.Time { return newClock().Now().Add(time.Duration(seconds) * time.Second) }
	cases := map[string]struct {
		since  time.Time
		queues []string
		want   []string
	}{
		"all, oldest update first": {at(0), []string{"SUP", "BIL"}, []string{"SUP-2", "BIL-1", "SUP-3", "SUP-1"}},
		"ours of another queue":    {at(0), nil, []string{"SUP-2", "BIL-1", "SUP-3", "SUP-1"}},
		"an agent's":               {at(0), []string{"RAW"}, []string{"SUP-2", "BIL-1", "SUP-3", "SUP-1", "RAW-1"}},
		"at the time itself":       {at(4), nil, []string{"SUP-3", "SUP-1"}},
		"within a second":          {at(4).Add(time.Millisecond), nil, []string{"SUP-1"}},
		"nothing":                  {at(60), nil, []string{}},
		"in another zone than UTC": {at(4).In(time.FixedZone("MSK", 3*3600)), nil, []string{"SUP-3", "SUP-1"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []tracker.Issue
			for i, err := range w.UpdatedSince(ctx, tc.since, tc.queues...) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, i)
			}
			if diff := cmp.Diff(tc.want, keys(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What Tracker does not tell all of is given all the same: whoever counts has to know.
func TestUpdatedSince_GivesWhatLacksSomething(t *testing.T) {
	t.Parallel()
	const all = `[{"id":"1","key":"SUP-1","updatedAt":"2026-08-01T09:00:00.000+0000"},{"id":"2","key":"SUP-2"},{"key":"SUP-3"},{},null,
		{"id":"6","key":"SUP-6","updatedAt":"2026-07-01T09:00:00.000+0000"}]`
	c, err := v3.New(v3.Config{Token: env.NewSecret(token), OrgID: "1", Queue: "SUP", Transport: canned{status: 200, body: []byte(all)}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	var named []bool
	for i, err := range c.UpdatedSince(context.Background(), newClock().Now()) {
		if err != nil {
			t.Fatal(err)
		}
		named = append(named, i.Named())
	}
	if diff := cmp.Diff([]bool{true, false, false, false, false}, named); diff != "" {
		t.Errorf("named (-want +got):\n%s", diff)
	}
	for i, err := range c.Open(context.Background()) {
		if err != nil || i.ID == "" || i.Key == "" {
			t.Errorf("open: got %+v, %v", i, err)
		}
	}
}

func many(t *testing.T, w *world, n int) {
	t.Helper()
	for range n {
		if _, err := w.agent.Create(sandbox.NewTicket{Summary: "x"}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for _, q := range []string{"SUP", "BIL", "SUP"} {
		w.clock.Add(time.Second)
		w.create(t, tracker.NewIssue{Queue: q})
	}
	if _, err := w.agent.Do("SUP-1", sandbox.Edit{Status: "resolved", Resolution: "fixed"}); err != nil {
		t.Fatal(err)
	}
	var got []tracker.Issue
	for i, err := range w.Open(context.Background(), "SUP", "BIL") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, i)
	}
	if diff := cmp.Diff([]string{"BIL-1", "SUP-2"}, keys(got)); diff != "" {
		t.Error(diff)
	}
}

func TestUpdatedSince_StoppedEarlyFreesTheSnapshot(t *testing.T) {
	t.Parallel()
	w := setup(t)
	many(t, w, 150)
	for i, err := range w.UpdatedSince(context.Background(), time.Time{}) {
		if err != nil || i.Key == "" {
			t.Fatal(err)
		}
		break
	}
	if n := w.server.Scrolls(); n != 0 {
		t.Errorf("got %d snapshots left, want none", n)
	}
}

func TestUpdatedSince_ErrorsEndIt(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		during func(*world)
		want   tracker.ErrorKind
	}{
		"the snapshot expires": {func(w *world) { w.clock.Add(2 * time.Minute) }, tracker.Temporary},
		"the server fails": {func(w *world) {
			w.server.Faults().Add(fault.Fault{Method: "POST /v3/issues/_search", Kind: fault.HTMLBefore})
		}, tracker.Temporary},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			many(t, w, 150)
			var last error
			n := 0
			for _, err := range w.UpdatedSince(context.Background(), time.Time{}) {
				if n++; n == 50 {
					tc.during(w)
				}
				last = err
			}
			wantKind(t, last, tc.want)
			if n != 101 {
				t.Errorf("got %d turns, want a page and the error", n)
			}
		})
	}
}
