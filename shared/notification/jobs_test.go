package notification_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/notification"
)

// Whoever agreed to what was counted replays that, call by call if it is more than one
// replays, and nothing that went into review meanwhile.
func TestReplayJobs_TakesWhatWasCounted(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	review := func(from, to int) {
		d.exec(`INSERT INTO jobs (queue, kind, key, lane, strict, payload, state, finished_at)
			SELECT 'tickets', 'test', 'k' || n, 'lane ' || n, true, '{}', 'needs_review', clock_timestamp() FROM generate_series($1::int, $2::int) n`, from, to)
	}
	type answer struct {
		Chosen, Replayed int
		More             bool
		Until            time.Time
	}
	replay := func(body map[string]any, want answer) answer {
		t.Helper()
		var got answer
		d.call("POST", "/v1/jobs/replay", body).into(&got)
		until := got.Until
		if got.Until = want.Until; got != want || until.IsZero() {
			t.Errorf("%v: got %+v until %s, want %+v", body, got, until, want)
		}
		got.Until = until
		return got
	}
	review(1, 600)
	counted := replay(map[string]any{"dry_run": true}, answer{Chosen: 500, More: true}).Until
	review(601, 610) // while somebody reads the question
	agreed := map[string]any{"dry_run": false, "until": counted}
	replay(agreed, answer{Chosen: 500, Replayed: 500, More: true})
	d.exec(`UPDATE jobs SET state = 'needs_review', finished_at = clock_timestamp() WHERE key = 'k600'`) // it failed again
	replay(agreed, answer{Chosen: 100, Replayed: 100})
	replay(agreed, answer{})
	if left := d.number(`SELECT count(*) FROM jobs WHERE state = 'needs_review'`); left != 11 {
		t.Errorf("%d wait for a person, want those that came later", left)
	}
	replay(map[string]any{"dry_run": true}, answer{Chosen: 11})
}

// Who chooses in the query what a body chooses has all of it replayed, if nobody says so.
func TestReplayJobs_ChosenInTheQuery(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.exec(`INSERT INTO jobs (queue, kind, key, lane, strict, payload, state, finished_at)
		SELECT 'tickets', 'test', 'k' || n, 'lane ' || n, true, '{}', 'needs_review', clock_timestamp() FROM generate_series(1, 3) n`)
	got := d.call("POST", "/v1/jobs/replay?kind=deliver.", map[string]any{"dry_run": false})
	if got.status != 400 || !strings.Contains(got.problem().Detail, "kind: there is no such parameter here") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if left := d.number(`SELECT count(*) FROM jobs WHERE state = 'needs_review'`); left != 3 {
		t.Errorf("%d are left of 3", left)
	}
}

// A remark that nobody can read is none.
func TestSettleJob_SaysNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.exec(`INSERT INTO jobs (queue, kind, key, lane, strict, payload, state, finished_at)
		VALUES ('tickets', 'test', 'k', 'lane', true, '{}', 'needs_review', clock_timestamp())`)
	at := path(d.number(`SELECT id FROM jobs`), "")
	at = strings.Replace(at, "broadcasts", "jobs", 1) + "/settle"
	for _, remark := range []string{"", " \n", "\x00", "\u200b\u202e", strings.Repeat("я", 1001)} {
		if got := d.call("POST", at, map[string]any{"remark": remark}); got.status != 422 {
			t.Errorf("%q: %d %s", remark, got.status, got.body)
		}
	}
	d.call("POST", at, map[string]any{"remark": strings.Repeat("я", 998) + "\x00 "}).into(&struct{}{})
	if got := d.number(`SELECT length(remark) FROM jobs`); got != 998 {
		t.Errorf("%d characters are kept", got)
	}
}

// What is replayed by somebody else and fails again while all are replayed is another review.
func TestReplayJobs_FailsAgainMeanwhile(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.exec(`INSERT INTO jobs (queue, kind, key, lane, strict, payload, state, finished_at)
		SELECT 'tickets', 'test', 'k' || n, 'lane ' || n, true, '{}', 'needs_review', clock_timestamp() FROM generate_series(1, 3) n`)
	deps := d.deps
	deps.Store = listing{deps.Store, func() { d.exec(`UPDATE jobs SET finished_at = clock_timestamp() WHERE key = 'k2'`) }}
	d.api = notification.New(deps)
	var got struct{ Chosen, Replayed int }
	d.call("POST", "/v1/jobs/replay", map[string]any{"dry_run": false}).into(&got)
	if left := d.number(`SELECT count(*) FROM jobs WHERE state = 'needs_review' AND key = 'k2'`); got.Chosen != 3 || got.Replayed != 2 || left != 1 {
		t.Errorf("got %+v, %d of the other review left", got, left)
	}
}

// listing lets something happen after jobs were listed.
type listing struct {
	notification.Store
	then func()
}

func (l listing) Jobs(ctx context.Context, f job.Filter) ([]job.Record, error) {
	list, err := l.Store.Jobs(ctx, f)
	l.then()
	return list, err
}
