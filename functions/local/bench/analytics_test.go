package bench

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/backend"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/env"
	"supportbot/shared/tracker"
	v3 "supportbot/shared/tracker/v3"
)

// Each part gives its figures; what they are is not asked here.
func TestAnalytics_PartsMeasure(t *testing.T) {
	t.Parallel()
	s := quick(t)
	s.clickhouse = backendtest.ClickHouseServer(t, backend.Options{})
	o := options{rounds: 1, tickets: 1200, events: 20_000}
	for name, run := range map[string]func(*stage, context.Context, options, *report) error{"loader": (*stage).loader, "metrics": (*stage).metrics} {
		var out strings.Builder
		r := &report{out: &out}
		if err := run(s, context.Background(), o, r); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out.String())
		}
		r.close()
		for _, want := range map[string][]string{
			"loader":  {"loader, 1200 tickets, rows of the bare insert", "loader, 12 tickets: rate while it inserts : the bare insert", "a million rows of ticket_events on disk"},
			"metrics": {"metric resolution_time: p50", "metric broadcasts: p95", "charts: "},
		}[name] {
			if !strings.Contains(out.String(), want) {
				t.Errorf("no %q in\n%s", want, out.String())
			}
		}
	}
}

// A ticket of the long past is one of the sandbox's in everything but its names and
// times.
func TestLongPast_TellsWhatTheSandboxTells(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	end := time.Now().UTC().Truncate(time.Second)
	past, err := newLongPast(ctx, 5000, end)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(past.close)
	// 37 updates before the end: not the first time that a specimen is told of.
	long, small := trackerOf(t, past), trackerOf(t, past.sandbox)
	from := past.begin.Add(4963 * past.step)
	n := 4963
	for issue, err := range long.UpdatedSince(ctx, from.Add(-time.Millisecond)) {
		if err != nil {
			t.Fatal(err)
		}
		if issue.UpdatedAt.Before(from) {
			continue
		}
		one, shift := past.of(n)
		compare(t, small, long, issue, one.id, shift)
		n++
	}
	if n != 5000 {
		t.Errorf("%d tickets, want 37", n-4963)
	}
	if got, err := long.CountUpdated(ctx, from.Add(-time.Second)); err != nil || got != 37 {
		t.Errorf("counted %d, %v, want 37", got, err)
	}
}

func trackerOf(t *testing.T, h http.Handler) *v3.Client {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	c, err := v3.New(v3.Config{URL: srv.URL, Token: env.NewSecret(secret), OrgID: trackerOrg, Queue: "SUP"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// compare compares a ticket with the sandbox's that it is told after.
func compare(t *testing.T, small, long *v3.Client, got tracker.Issue, specimen string, shift time.Duration) {
	t.Helper()
	ctx := context.Background()
	later := func(at *time.Time) {
		if !at.IsZero() {
			*at = at.Add(shift)
		}
	}
	want, err := small.Issue(ctx, specimen)
	wantChanges, err1 := small.Changes(ctx, specimen, "")
	wantComments, err2 := small.Comments(ctx, specimen, "")
	gotChanges, err3 := long.Changes(ctx, got.ID, "")
	gotComments, err4 := long.Comments(ctx, got.ID, "")
	if err := errors.Join(err, err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	if got.ID == want.ID || got.Key == want.Key {
		t.Errorf("%s has the name of its specimen %s", got.Key, want.Key)
	}
	want.ID, want.Key = got.ID, got.Key
	for _, at := range []*time.Time{&want.CreatedAt, &want.UpdatedAt, &want.ResolvedAt} {
		later(at)
	}
	for i := range want.SLA {
		later(&want.SLA[i].FailsAt)
	}
	value := func(v *tracker.Value) { // of a field that is a time
		if at, err := time.Parse(timeForm, v.Key); err == nil {
			v.Key = at.Add(shift).UTC().Format(timeForm)
		}
	}
	for i := range wantChanges {
		later(&wantChanges[i].At)
		for f := range wantChanges[i].Fields {
			value(&wantChanges[i].Fields[f].From)
			value(&wantChanges[i].Fields[f].To)
		}
	}
	for i := range wantComments {
		later(&wantComments[i].CreatedAt)
		later(&wantComments[i].UpdatedAt)
	}
	for what, diff := range map[string]string{
		"issue": cmp.Diff(want, got), "changes": cmp.Diff(wantChanges, gotChanges), "comments": cmp.Diff(wantComments, gotComments),
	} {
		if diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", got.Key, what, diff)
		}
	}
}
