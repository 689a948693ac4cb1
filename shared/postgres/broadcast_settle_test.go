package postgres_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"supportbot/shared/broadcast"
	"supportbot/shared/job"
)

// inState brings a broadcast of three recipients into a state by the ways there are:
// one was sent, one is claimed where that can be, one is open.
func inState(s *studio, state broadcast.State) (id, batch int64) {
	s.t.Helper()
	for i := range 3 {
		s.person("", fmt.Sprint(i+1))
	}
	spec := news("text")
	switch state {
	case broadcast.Draft:
		spec.Draft = true
		b, _ := s.create(spec)
		return b.ID, 0
	case broadcast.Scheduled:
		spec.StartAt = ptr(time.Now().Add(time.Hour))
		b, _ := s.create(spec)
		return b.ID, 0
	case broadcast.Planning:
		b, _ := s.create(spec)
		return b.ID, 0
	}
	b, _ := s.planned(spec)
	batch = s.batch(b.ID)
	s.claimed(batch, tokenA, 1, 2)
	s.write(batch, tokenA, broadcast.Result{N: 1, Outcome: broadcast.Sent})
	must := func(_ broadcast.Broadcast, err error) {
		s.t.Helper()
		if err != nil {
			s.t.Fatal(err)
		}
	}
	switch state {
	case broadcast.Pausing:
		must(s.db.PauseBroadcast(s.ctx, b.ID))
	case broadcast.Paused:
		s.write(batch, tokenA, broadcast.Result{N: 2})
		must(s.db.PauseBroadcast(s.ctx, b.ID))
	case broadcast.Cancelling:
		must(s.db.CancelBroadcast(s.ctx, b.ID))
	case broadcast.Cancelled:
		s.write(batch, tokenA, broadcast.Result{N: 2})
		must(s.db.CancelBroadcast(s.ctx, b.ID))
	case broadcast.Finished:
		s.claimed(batch, tokenA, 3)
		s.write(batch, tokenA, broadcast.Result{N: 2, Outcome: broadcast.Uncertain}, broadcast.Result{N: 3, Outcome: broadcast.Sent})
		s.settle(b.ID)
	}
	s.wantState(b.ID, state)
	return b.ID, batch
}

func TestSettle_ByState(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		from     broadcast.State
		before   func(s *studio, id, batch int64)
		want     broadcast.State
		outcomes string
	}{
		{"a draft stays", broadcast.Draft, nil, broadcast.Draft, ""},
		{"what waits for its time stays", broadcast.Scheduled, nil, broadcast.Scheduled, ""},
		{"what waits for its plan stays", broadcast.Planning, nil, broadcast.Planning, ""},
		{"whoever cancels the planning cancels the broadcast", broadcast.Planning, func(s *studio, id, _ int64) {
			j, err := s.db.Find(s.ctx, broadcast.PlanKey(id))
			if err == nil {
				_, err = s.db.Cancel(s.ctx, j.ID, "person:1")
			}
			if err != nil {
				s.t.Fatal(err)
			}
		}, broadcast.Cancelled, ""},
		{"it runs as long as somebody is open", broadcast.Running, nil, broadcast.Running, "sent claimed -"},
		{"it has finished when nobody is", broadcast.Running, func(s *studio, _, batch int64) {
			s.claimed(batch, tokenA, 3)
			s.write(batch, tokenA, broadcast.Result{N: 2, Outcome: broadcast.Blocked}, broadcast.Result{N: 3, Outcome: broadcast.Uncertain})
		}, broadcast.Finished, "sent blocked uncertain"},
		{"a pause waits for a claim", broadcast.Pausing, nil, broadcast.Pausing, "sent claimed -"},
		{"a claim given back is none", broadcast.Pausing, func(s *studio, _, batch int64) { s.write(batch, tokenA, broadcast.Result{N: 2}) }, broadcast.Paused, "sent - -"},
		{"nor is one of a run that has died", broadcast.Pausing, func(s *studio, _, batch int64) { s.age(batch, time.Minute) }, broadcast.Paused, "sent claimed -"},
		{"a pause stays", broadcast.Paused, nil, broadcast.Paused, "sent - -"},
		{"a cancellation waits for a claim", broadcast.Cancelling, nil, broadcast.Cancelling, "sent claimed skipped(cancelled)"},
		{"and ends with it", broadcast.Cancelling, func(s *studio, _, batch int64) {
			s.write(batch, tokenA, broadcast.Result{N: 2, Outcome: broadcast.Sent})
		}, broadcast.Cancelled, "sent sent skipped(cancelled)"},
		{"or when its run has died", broadcast.Cancelling, func(s *studio, _, batch int64) { s.age(batch, time.Minute) }, broadcast.Cancelled,
			"sent uncertain(the run that was sending it has died) skipped(cancelled)"},
		{"what is cancelled stays", broadcast.Cancelled, nil, broadcast.Cancelled, "sent skipped(cancelled) skipped(cancelled)"},
		{"what has finished stays", broadcast.Finished, nil, broadcast.Finished, "sent uncertain sent"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := newStudio(t, 2)
			id, batch := inState(s, tc.from)
			if tc.before != nil {
				tc.before(s, id, batch)
			}
			for range 2 {
				if got := s.settle(id); got != tc.want {
					t.Errorf("settled as %s, want %s", got, tc.want)
				}
			}
			b := s.broadcast(id)
			if got := s.outcomes(batch); b.State != tc.want || got != tc.outcomes {
				t.Errorf("broadcast is %s with %q, want %s with %q", b.State, got, tc.want, tc.outcomes)
			}
			ended := tc.want == broadcast.Cancelled || tc.want == broadcast.Finished
			if (b.FinishedAt != nil) != ended || ended && b.Counts.Open() != 0 {
				t.Errorf("ended at %v with %+v", b.FinishedAt, b.Counts)
			}
		})
	}
}

// Between a look and the change that it led to, a pause may have been taken back,
// somebody claimed, and the pause asked for again.
func TestSettle_LooksAgainWhenItHadToWait(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		from     broadcast.State
		happened string
	}{
		{broadcast.Pausing, `UPDATE recipients SET claim = gen_random_uuid(), claimed_at = clock_timestamp() WHERE n = 3`},
		{broadcast.Running, `UPDATE recipients SET outcome = NULL WHERE n = 3`},
	} {
		t.Run(string(tc.from), func(t *testing.T) {
			t.Parallel()
			s := newStudio(t, 4)
			id, batch := inState(s, tc.from)
			s.claimed(batch, tokenA, 3)
			s.write(batch, tokenA, broadcast.Result{N: 2, Outcome: broadcast.Sent}, broadcast.Result{N: 3, Outcome: broadcast.Uncertain})
			block, err := s.session().Begin(s.ctx)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := block.Exec(s.ctx, `SELECT FROM broadcasts FOR SHARE`); err != nil {
				t.Fatal(err)
			}
			done := make(chan broadcast.State, 1)
			go func() {
				state, err := s.db.Settle(s.ctx, id)
				if err != nil {
					t.Error(err)
				}
				done <- state
			}()
			waitFor(t, s.url, waitingForLocks(1))
			s.exec(tc.happened)
			if err := block.Commit(s.ctx); err != nil {
				t.Fatal(err)
			}
			if got := <-done; got != tc.from {
				t.Errorf("settled as %s, want %s: somebody is under way", got, tc.from)
			}
		})
	}
}

// A million recipients are many transactions; each batch that is skipped stays so.
func TestSettle_SkipsBatchByBatch(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	s.crowd(2*broadcast.BatchSize + 10)
	b, _ := s.planned(news("text"))
	first := s.batch(b.ID)
	s.claimed(first, tokenA, 5)
	got, err := s.db.CancelBroadcast(s.ctx, b.ID)
	if err != nil || got.State != broadcast.Cancelling || got.Counts.Skipped != got.Counts.Total-1 {
		t.Fatalf("cancel: %s, %+v, %v", got.State, got.Counts, err)
	}
	if n := get[int](s, `SELECT count(*) FROM jobs WHERE kind = 'broadcast.batch' AND state = 'cancelled'`); n != 3 {
		t.Errorf("%d jobs of batches are cancelled, want all", n)
	}
	s.write(first, tokenA, broadcast.Result{N: 5, Outcome: broadcast.Sent})
	if got := s.settle(b.ID); got != broadcast.Cancelled {
		t.Errorf("broadcast is %s, want cancelled", got)
	}
	if c := s.broadcast(b.ID).Counts; c.Sent != 1 || c.Skipped != c.Total-1 {
		t.Errorf("counts %+v", c)
	}
}

// Workers, cancellation and settling at once: everybody gets one outcome, and what
// was claimed gets what its owner wrote.
func TestSettle_CancelledUnderWay(t *testing.T) {
	t.Parallel()
	for range 5 {
		s := newStudio(t, 8)
		const n = 200
		s.crowd(n)
		b, _ := s.planned(news("text"))
		batch := s.batch(b.ID)
		var wg sync.WaitGroup
		var mu sync.Mutex
		sent := 0
		for range 3 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				token := newToken()
				for from := 0; from < n; from += 5 {
					got, _, err := s.db.ClaimRecipients(s.ctx, batch, token, []int{from + 1, from + 2, from + 3, from + 4, from + 5})
					if err != nil {
						t.Error(err)
						return
					}
					var rs []broadcast.Result
					for _, r := range got {
						rs = append(rs, broadcast.Result{N: r.N, Outcome: broadcast.Sent})
					}
					if err := s.db.Write(s.ctx, batch, token, rs); err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					sent += len(rs)
					mu.Unlock()
				}
			}()
		}
		waitFor(t, s.url, `SELECT count(*) > 20 FROM recipients WHERE outcome = 'sent'`)
		if _, err := s.db.CancelBroadcast(s.ctx, b.ID); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		if got := s.settle(b.ID); got != broadcast.Cancelled {
			t.Errorf("broadcast is %s, want cancelled", got)
		}
		if c := s.broadcast(b.ID).Counts; c.Sent != sent || c.Sent+c.Skipped != n {
			t.Errorf("counts %+v, want %d sent and the rest skipped", c, sent)
		}
	}
}

func TestSettleAll_GivesOrphanedBatchesNewJobs(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		spoil string
		want  bool
	}{
		{"its job is there", `SELECT 1`, false},
		{"its job waits for review", `UPDATE jobs SET state = 'needs_review' WHERE kind = 'broadcast.batch'`, false},
		{"its job has vanished", `DELETE FROM jobs WHERE kind = 'broadcast.batch'`, true},
		{"its job says that it is completed", `UPDATE jobs SET state = 'completed', finished_at = now() WHERE kind = 'broadcast.batch'`, true},
		{"its job was cancelled", `UPDATE jobs SET state = 'cancelled', finished_at = now() WHERE kind = 'broadcast.batch'`, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := newStudio(t, 2)
			id, batch := inState(s, broadcast.Running)
			s.exec(tc.spoil)
			jobs, changed, err := s.db.SettleAll(s.ctx)
			if err != nil || (len(jobs) == 1) != tc.want || (changed == 1) != tc.want {
				t.Errorf("jobs %+v, %d changed, %v", jobs, changed, err)
			}
			if again, changed, err := s.db.SettleAll(s.ctx); err != nil || len(again) != 0 || changed != 0 {
				t.Errorf("once more: jobs %+v, %d changed, %v", again, changed, err)
			}
			s.wantState(id, broadcast.Running)
			if !tc.want {
				return
			}
			if want := broadcast.BatchKey(batch, 1); jobs[0].Key != want {
				t.Errorf("job %s, want %s", jobs[0].Key, want)
			}
			c := s.claim(jobs[0].ID)
			var in broadcast.BatchJob
			run := job.Run{Job: *c.job}
			if err := run.Decode(&in); err != nil || in.Batch != batch || in.Broadcast != id {
				t.Errorf("job for %+v, %v", in, err)
			}
		})
	}
}

func TestSettleAll_DoesEverySecondPhase(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	want := map[int64]broadcast.State{}
	for from, to := range map[broadcast.State]broadcast.State{
		broadcast.Draft: broadcast.Draft, broadcast.Scheduled: broadcast.Scheduled, broadcast.Running: broadcast.Running,
		broadcast.Pausing: broadcast.Paused, broadcast.Paused: broadcast.Paused, broadcast.Cancelling: broadcast.Cancelled,
		broadcast.Cancelled: broadcast.Cancelled, broadcast.Finished: broadcast.Finished,
	} {
		s.exec(`DELETE FROM identities`)
		id, _ := inState(s, from)
		want[id] = to
	}
	s.exec(`UPDATE recipients SET claimed_at = claimed_at - interval '1 minute'`)
	if _, changed, err := s.db.SettleAll(s.ctx); err != nil || changed != 2 {
		t.Errorf("%d changed, %v", changed, err)
	}
	for id, state := range want {
		s.wantState(id, state)
	}
}

func TestPurgeRecipients(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	for i := range 5 {
		s.person("", fmt.Sprint(i))
	}
	var all []broadcast.Broadcast
	for range 4 {
		b, _ := s.planned(news("text"))
		batch := s.batch(b.ID)
		s.claimed(batch, tokenA, 1, 2, 3, 4, 5)
		s.write(batch, tokenA, broadcast.Result{N: 1, Outcome: broadcast.Uncertain})
		if len(all) < 3 { // the last one runs on
			if _, err := s.db.CancelBroadcast(s.ctx, b.ID); err != nil {
				t.Fatal(err)
			}
			s.age(batch, time.Minute)
			s.settle(b.ID)
		}
		all = append(all, s.broadcast(b.ID))
	}
	s.exec(`UPDATE broadcasts SET finished_at = finished_at - interval '91 days', created_at = created_at - interval '91 days' WHERE id <> $1`, all[2].ID)
	for i, want := range []int64{3, 3, 3, 1} { // so many at a time
		if n, err := s.db.PurgeRecipients(s.ctx, 3, time.Time{}); err != nil || n != want {
			t.Errorf("pass %d purged %d, %v; want %d", i, n, err, want)
		}
	}
	for i, b := range all {
		n := get[int](s, `SELECT count(*) FROM batches b JOIN recipients r ON r.batch = b.id WHERE b.broadcast = $1`, b.ID)
		if gone := n == 0; gone != (i < 2) {
			t.Errorf("broadcast %d has %d recipients", i, n)
		}
		if i == 3 {
			continue
		}
		if _, err := s.db.Count(s.ctx, s.batch(b.ID)); i == 2 && err != nil {
			t.Error(err)
		}
		if got := s.broadcast(b.ID).Counts; got != b.Counts {
			t.Errorf("counts %+v after the purge, want %+v", got, b.Counts)
		}
	}
	if n := get[int](s, `SELECT count(*) FROM broadcasts WHERE purged_at IS NOT NULL`); n != 2 {
		t.Errorf("%d broadcasts are marked, want two", n)
	}
}

// There may be a message to one customer each second, and each is a broadcast.
func TestPurgeRecipients_OfManyBroadcasts(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	s.exec(`INSERT INTO broadcasts (kind, state, content, audience, created_by, finished_at)
		SELECT 'message', 'finished', '{}', '{}', 'key:x', now() - interval '91 days' FROM generate_series(1, 1000)`)
	s.exec(`INSERT INTO batches (broadcast, messenger, bot, number, size) SELECT id, 'vk', '1', 1, 1 FROM broadcasts`)
	s.exec(`INSERT INTO recipients (batch, identity, n, outcome) SELECT id, id, 1, 'sent' FROM batches`)
	s.exec(`INSERT INTO recipients (batch, identity, n, outcome) SELECT -n, n, 1, 'sent' FROM generate_series(1, 20000) n`) // of others
	s.exec(`VACUUM ANALYZE`)
	scans := func() int64 {
		return get[int64](s, `SELECT sum(seq_scan)::bigint FROM pg_stat_user_tables WHERE relname IN ('recipients', 'broadcasts')`)
	}
	s.settleStats()
	before := scans()
	if n, err := s.db.PurgeRecipients(s.ctx, 100, time.Time{}); err != nil || n != 100 {
		t.Errorf("at first %d, %v", n, err)
	}
	s.settleStats()
	if n := scans() - before; n != 0 {
		t.Errorf("%d scans of everything", n)
	}
	if n, err := s.db.PurgeRecipients(s.ctx, 100, time.Now().Add(time.Minute)); err != nil || n != 900 {
		t.Errorf("then %d, %v, want all the others", n, err)
	}
	if n := get[int](s, `SELECT count(*) FROM broadcasts WHERE purged_at IS NULL`); n != 0 {
		t.Errorf("%d are not marked", n)
	}
}

// What a pass does depends on what is on its way, not on what ever was.
func TestSettleAll_LooksOnlyAtWhatIsOnItsWay(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	s.exec(`INSERT INTO broadcasts (kind, state, content, audience, created_by)
		SELECT 'message', 'finished', '{}', '{}', 'key:x' FROM generate_series(1, 5000)`)
	s.exec(`ANALYZE broadcasts`)
	plan := strings.Join(list[string](s, `EXPLAIN SELECT id FROM broadcasts WHERE state NOT IN ('draft', 'cancelled', 'finished') ORDER BY id`), "\n")
	if !strings.Contains(plan, "broadcasts_active") {
		t.Errorf("plan:\n%s", plan)
	}
	if got := list[string](s, `EXPLAIN SELECT id FROM broadcasts WHERE kind <> 'message' AND id < 999999 ORDER BY id DESC LIMIT 50`); !slices.ContainsFunc(got, func(l string) bool { return strings.Contains(l, "broadcasts_listed") }) {
		t.Errorf("plan:\n%s", strings.Join(got, "\n"))
	}
}

// What waits for its time is looked at without being locked: there may be a thousand,
// and the reconciler comes every minute.
func TestSettle_LocksNothingThatWaits(t *testing.T) {
	t.Parallel()
	for _, state := range []broadcast.State{broadcast.Scheduled, broadcast.Planning} {
		t.Run(string(state), func(t *testing.T) {
			t.Parallel()
			s := newStudio(t, 2)
			id, _ := inState(s, state)
			s.exec(`BEGIN`)
			s.exec(`SELECT FROM broadcasts FOR UPDATE`)
			ctx, cancel := context.WithTimeout(s.ctx, 30*time.Second)
			defer cancel()
			if got, err := s.db.Settle(ctx, id); err != nil || got != state {
				t.Errorf("got %q, %v, want %q", got, err, state)
			}
			s.exec(`ROLLBACK`)
		})
	}
}
