package notification_test

import (
	"testing"
	"time"
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
