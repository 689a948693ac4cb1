package job_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"supportbot/shared/env"
	"supportbot/shared/job"
	"supportbot/shared/postgres"
)

func TestLease_RenewalFailsDuringAnExternalCall(t *testing.T) {
	t.Parallel()
	r := newRig(t, 4)
	made := r.insertOnly(newJob("k", "lane", 1))
	tick := make(chan time.Time, 1)
	var cause error
	w := r.worker(func(ctx context.Context, run *job.Run) (job.Outcome, error) {
		if err := run.Begin(ctx, "effect", nil); err != nil {
			return job.Outcome{}, err
		}
		// Somebody else took the lane; the next renewal finds out.
		r.exec(`UPDATE lanes SET lease_token = gen_random_uuid()`)
		tick <- time.Now()
		<-ctx.Done() // the call is cancelled
		cause = context.Cause(ctx)
		return job.Outcome{}, ctx.Err()
	})
	w.RenewTick = func() (<-chan time.Time, func()) { return tick, func() {} }
	r.work(w, made[0].ID)
	if !errors.Is(cause, job.ErrLost) {
		t.Errorf("the call ended with %v, want ErrLost", cause)
	}
	if j := r.find("k"); j.State != job.Running || j.Attempts != 0 {
		t.Errorf("job is %s after %d attempts; the worker must write nothing", j.State, j.Attempts)
	}
}

func TestLease_StoreAwayDuringRenewalIsAskedAgainWhileTheLeaseIsGood(t *testing.T) {
	t.Parallel()
	r := newRig(t, 4)
	made := r.insertOnly(newJob("k", "lane", 1))
	tick := make(chan time.Time)
	store := &failingRenew{Store: r.db, failures: 1, renewed: make(chan struct{}, 2)}
	w := r.worker(func(ctx context.Context, run *job.Run) (job.Outcome, error) {
		tick <- time.Now() // fails
		tick <- time.Now() // succeeds
		<-store.renewed
		return r.effect(ctx, run)
	})
	w.Store = store
	w.RenewTick = func() (<-chan time.Time, func()) { return tick, func() {} }
	r.work(w, made[0].ID)
	r.wantState("k", job.Completed)
}

type failingRenew struct {
	job.Store
	failures int
	renewed  chan struct{}
}

func (f *failingRenew) Renew(ctx context.Context, lane, token string) error {
	if f.failures > 0 {
		f.failures--
		return errors.New("connection refused")
	}
	err := f.Store.Renew(ctx, lane, token)
	f.renewed <- struct{}{}
	return err
}

// hangingRenew is a database that takes a renewal and never answers.
type hangingRenew struct {
	job.Store
	asked chan struct{}
}

func (h *hangingRenew) Renew(ctx context.Context, _, _ string) error {
	h.asked <- struct{}{}
	<-ctx.Done()
	return ctx.Err()
}

// A renewal without an answer is tried again at each tick; when the lease is over
// the work ends, also in the middle of a call.
func TestLease_RenewalHangs(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	made := r.insertOnly(newJob("k", "lane", 1))
	clock, tick := newFakeClock(), make(chan time.Time)
	store := &hangingRenew{Store: r.db, asked: make(chan struct{})}
	w := r.worker(func(ctx context.Context, run *job.Run) (job.Outcome, error) {
		if err := run.Begin(ctx, "effect", nil); err != nil {
			return job.Outcome{}, err
		}
		for range 2 {
			clock.move(20*time.Second, 20*time.Second)
			tick <- time.Time{}
			<-store.asked
			if ctx.Err() != nil {
				t.Error("the work was ended while the lease was good")
			}
		}
		clock.move(20*time.Second, 20*time.Second)
		tick <- time.Time{}
		<-ctx.Done() // the call
		return job.Outcome{}, ctx.Err()
	})
	w.Store, w.Clock = store, clock.clock()
	w.RenewTick = func() (<-chan time.Time, func()) { return tick, func() {} }
	r.work(w, made[0].ID)
	if got := r.find("k").Stage; got != "begin effect" {
		t.Errorf("stage %q, want that the call may have happened", got)
	}
}

func TestLease_FrozenInstance(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name       string
		mono, wall time.Duration
		wantCall   bool
	}{
		{"frozen a minute: only the wall clock moved", 0, time.Minute, false},
		{"slow for a minute: both moved", time.Minute, time.Minute, false},
		{"the wall clock was set back: the monotonic one counts", time.Minute, -time.Hour, false},
		{"half a lease", 30 * time.Second, 30 * time.Second, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, 2)
			made := r.insertOnly(newJob("k", "lane", 1))
			clock := newFakeClock()
			called := false
			w := r.worker(func(ctx context.Context, run *job.Run) (job.Outcome, error) {
				clock.move(tc.mono, tc.wall) // between the claim and the check
				if err := run.Begin(ctx, "effect", nil); err != nil {
					return job.Outcome{}, err
				}
				called = true
				return job.Outcome{}, run.Done(ctx, "effect", nil)
			})
			w.Clock = clock.clock()
			r.work(w, made[0].ID)
			if called != tc.wantCall {
				t.Errorf("external call made: %v, want %v", called, tc.wantCall)
			}
			if !called {
				if j := r.find("k"); j.State != job.Running || j.Stage != "" {
					t.Errorf("job is %s at stage %q; a worker that may have lost its lease writes nothing", j.State, j.Stage)
				}
			}
		})
	}
}

func TestLease_FrozenBetweenTheStageAndTheCall(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	made := r.insertOnly(newJob("k", "lane", 1))
	clock := newFakeClock()
	w := r.worker(func(ctx context.Context, run *job.Run) (job.Outcome, error) {
		if err := run.Begin(ctx, "effect", nil); err != nil {
			return job.Outcome{}, err
		}
		t.Error("the call was made by an instance that was frozen for a minute")
		return job.Outcome{}, nil
	})
	w.Clock = clock.clock()
	w.Hook = func(point string) {
		if point == "test/effect/begun" {
			clock.move(0, time.Minute)
		}
	}
	r.work(w, made[0].ID)
	if j := r.find("k"); j.Stage != "" {
		t.Errorf("stage %q says that the call may have happened", j.Stage)
	}
}

// lostStage writes a stage once without saying so.
type lostStage struct {
	job.Store
	ctx  context.CancelFunc // called with it; nil: nothing is
	lost bool
}

func (l *lostStage) Stage(ctx context.Context, id int64, token, stage string, data json.RawMessage) (bool, error) {
	cancel, err := l.Store.Stage(ctx, id, token, stage, data)
	if l.lost {
		return cancel, err
	}
	l.lost = true
	if l.ctx != nil {
		l.ctx()
	}
	return false, errors.Join(err, errors.New("connection reset"))
}

// A stage of whose writing nothing was heard does not make an effect uncertain that
// was not even tried.
func TestLease_AnswerToAStageIsLost(t *testing.T) {
	t.Parallel()
	for _, ended := range []bool{false, true} {
		r := newRig(t, 2)
		made := r.insertOnly(newJob("k", "lane", 1))
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		store := &lostStage{Store: r.db}
		if ended {
			store.ctx = cancel
		}
		w := r.worker(func(ctx context.Context, run *job.Run) (job.Outcome, error) {
			if err := run.Begin(ctx, "effect", nil); err != nil {
				return job.Outcome{}, err
			}
			t.Error("the call was made though its stage was not")
			return job.Outcome{}, nil
		})
		w.Store = store
		if err := w.Work(ctx, made[0].ID); err != nil {
			t.Fatal(err)
		}
		if j := r.find("k"); j.State != job.Queued || j.Stage != "" {
			t.Errorf("call ended %v: job is %s at stage %q, want none", ended, j.State, j.Stage)
		}
	}
}

func TestLease_JobThatKillsItsWorkerEachTime(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	made := r.insertOnly(newJob("killer", "lane", 1), newJob("behind", "lane", 2))
	for i := range 5 {
		if got := r.find("killer").State; got == job.NeedsReview {
			t.Fatalf("review after %d losses, want 5", i)
		}
		// A worker that dies: it claimed, wrote its stage and was never heard of again.
		claim, err := r.db.Claim(context.Background(), "tickets", made[0].ID, tokenOf(i))
		if err != nil || claim.Job == nil {
			t.Fatalf("claim %d: %+v, %v", i, claim, err)
		}
		if _, err := r.db.Stage(context.Background(), claim.Job.ID, tokenOf(i), "begin effect", nil); err != nil {
			t.Fatal(err)
		}
		r.later()
		r.reconcile()
	}
	r.wantState("killer", job.NeedsReview)
	if got := r.find("killer").Attempts; got != 0 {
		t.Errorf("%d attempts; lost leases are counted apart", got)
	}
	r.settle(1, nil)
	r.wantState("behind", job.Completed)
}

func tokenOf(i int) string { return "00000000-0000-0000-0000-00000000000" + string(rune('0'+i)) }

func TestLease_NewStageForgivesLosses(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	made := r.insertOnly(newJob("k", "lane", 1))
	for i := range 8 {
		claim, err := r.db.Claim(context.Background(), "tickets", made[0].ID, tokenOf(i))
		if err != nil || claim.Job == nil {
			t.Fatalf("claim %d: %+v, %v", i, claim, err)
		}
		if _, err := r.db.Stage(context.Background(), claim.Job.ID, tokenOf(i), "done "+tokenOf(i), nil); err != nil {
			t.Fatal(err)
		}
		r.later()
	}
	r.reconcile()
	r.wantState("k", job.Queued)
}

// TestWorker_StopsBeforeTheDeadline: that of the context, or that of the function's
// time-out where the context has none.
func TestWorker_StopsBeforeTheDeadline(t *testing.T) {
	t.Parallel()
	t.Run("of the context", func(t *testing.T) { t.Parallel(); stopsInTime(t, 12*time.Second, 0) })
	t.Run("of the function", func(t *testing.T) { t.Parallel(); stopsInTime(t, 0, 12*time.Second) })
}

func stopsInTime(t *testing.T, own, limit time.Duration) {
	t.Helper()
	r := newRig(t, 2)
	made := r.insertOnly(newJob("k", "lane", 1), newJob("next", "lane", 2))
	w := r.worker(func(ctx context.Context, run *job.Run) (job.Outcome, error) {
		<-ctx.Done()
		return job.Outcome{}, ctx.Err()
	})
	// The function's deadline is so near that the work has the time of its claim and
	// little more.
	ctx := context.Background()
	if own > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, own)
		defer cancel()
	}
	w.Limit = limit
	if err := w.Work(ctx, made[0].ID); err != nil {
		t.Fatal(err)
	}
	if j := r.find("k"); j.State != job.Queued || j.Attempts != 0 {
		t.Errorf("job is %s after %d attempts; a deadline is no attempt", j.State, j.Attempts)
	}
	if got := r.pub.take(); len(got) != 1 || got[0].Job != made[0].ID {
		t.Errorf("hints %v, want one to go on", got)
	}
}

// Times of the wall carry no reading of the monotonic clock, by which they would be compared.
func TestSystemClock_Wall(t *testing.T) {
	t.Parallel()
	if now := job.SystemClock().Wall(); now != now.Round(0) {
		t.Errorf("%s has a monotonic reading", now)
	}
}

// TestLease_Shorter: who is told so keeps a lane for less, in the store as by its own clock.
func TestLease_Shorter(t *testing.T) {
	t.Parallel()
	const short = 15 * time.Second
	r := newRig(t, 2)
	db, err := postgres.Open(postgres.Config{URL: env.NewSecret(r.url), MaxConns: 2, Lease: short})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	made := r.insertOnly(newJob("k", "lane", 1), newJob("next", "lane", 2))
	holder := func(when string) string {
		token, left := r.leased()
		if left <= 0 || left > short {
			t.Errorf("%s: %s are left of the lease, want at most %s", when, left, short)
		}
		return token
	}
	clock := newFakeClock()
	w := r.worker(func(ctx context.Context, run *job.Run) (job.Outcome, error) {
		if err := db.Renew(ctx, "lane", holder(run.Key)); err != nil {
			t.Error(err)
		}
		holder(run.Key + ", renewed")
		if run.Key == "next" {
			clock.move(11*time.Second, 11*time.Second)
		}
		return job.Outcome{}, run.Begin(ctx, "effect", nil)
	})
	w.Store, w.Lease, w.Clock = db, short, clock.clock()
	r.work(w, made[0].ID)
	r.wantState("k", job.Completed)
	if got := r.find("next").Stage; got != "" {
		t.Errorf("stage %q: a call was begun with four seconds left of the lease", got)
	}
}
