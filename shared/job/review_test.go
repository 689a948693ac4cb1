package job_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"supportbot/shared/job"
)

var errBroken = errors.New("broken")

func TestFailure_BackoffThenReviewThenReplay(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	ctx := context.Background()
	broken := true
	handle := func(ctx context.Context, run *job.Run) (job.Outcome, error) {
		if broken && run.Key == "k" {
			return job.Outcome{}, errBroken
		}
		return r.effect(ctx, run)
	}
	made := r.insertOnly(newJob("k", "lane", 1))
	for i := 1; i <= job.Attempts; i++ {
		r.later()
		r.work(r.worker(handle), made[0].ID)
		if got := r.find("k").Attempts; got != i {
			t.Fatalf("%d attempts, want %d", got, i)
		}
	}
	r.wantState("k", job.NeedsReview)
	r.pub.take()

	broken = false
	again, err := r.db.Replay(ctx, made[0].ID, "person:1")
	if err != nil || again.State != job.Accepted {
		t.Fatalf("replay: %+v, %v", again, err)
	}
	if got := r.find("k").Attempts; got != 0 {
		t.Errorf("%d attempts after the replay, want 0", got)
	}
	r.publisher().Publish(ctx, []job.Inserted{again})
	r.settle(1, handle)
	r.wantState("k", job.Completed)
}

func TestReplay_DoesNotHoldItsLaneUp(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	ctx := context.Background()
	handle := func(ctx context.Context, run *job.Run) (job.Outcome, error) {
		if run.Key == "bad" {
			return job.Outcome{}, job.Review(errBroken)
		}
		return r.effect(ctx, run)
	}
	made := r.insert(newJob("bad", "lane", 1))
	r.settle(1, handle)
	r.wantState("bad", job.NeedsReview)
	if _, err := r.db.Replay(ctx, made[0].ID, "person:1"); err != nil {
		t.Fatal(err)
	}
	// It waits for its next attempt; a job behind it in the order goes first.
	r.exec(`UPDATE jobs SET run_at = clock_timestamp() + interval '1 minute'`)
	r.insert(newJob("good", "lane", 2))
	r.settle(1, handle)
	r.wantState("good", job.Completed)
	r.wantState("bad", job.Queued)
}

func TestParking_IsNoAttempt(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	made := r.insertOnly(newJob("k", "lane", 1))
	handle := func(context.Context, *job.Run) (job.Outcome, error) {
		return job.Outcome{}, job.Later(3*time.Hour, errBroken)
	}
	for range 2 * job.Attempts {
		r.later()
		r.work(r.worker(handle), made[0].ID)
	}
	if j := r.find("k"); j.State != job.Queued || j.Attempts != 0 {
		t.Errorf("job is %s after %d attempts", j.State, j.Attempts)
	}
}

// A job that is told to wait again and again gets to a person when its time is over, and
// keeps its lane up no longer; a replay gives it new time. A broadcast may take as long
// as it takes.
func TestParking_HasAnEnd(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		age   time.Duration // since it was begun
		loose bool
		want  job.State
	}{
		"in time":          {job.Budget - time.Hour, false, job.Queued},
		"its time is over": {job.Budget + time.Hour, false, job.NeedsReview},
		"a broadcast":      {job.Budget + time.Hour, true, job.Queued},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, 2)
			j := newJob("k", "lane", 1)
			j.Lane.Loose = tc.loose
			made := r.insertOnly(j)
			w := r.worker(func(context.Context, *job.Run) (job.Outcome, error) { return job.Outcome{}, job.Later(0, errBroken) })
			// What was made long ago and begun now is young.
			r.exec(`UPDATE jobs SET created_at = created_at - interval '1 year'`)
			r.work(w, made[0].ID)
			r.wantState("k", job.Queued)
			r.exec(`UPDATE jobs SET started_at = started_at - make_interval(secs => $1)`, tc.age.Seconds())
			r.work(w, made[0].ID)
			r.wantState("k", tc.want)
			if tc.want != job.NeedsReview {
				return
			}
			if _, err := r.db.Replay(context.Background(), made[0].ID, "person:1"); err != nil {
				t.Fatal(err)
			}
			r.work(w, made[0].ID)
			r.wantState("k", job.Queued)
		})
	}
}

// While a job waits for another one, or for a person, it is not at it: the others' time is
// not taken from its own, neither from all of it nor from what an outage may take.
func TestParking_DoesNotCountWhatItIsHeld(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(r *rig, awaited, waits int64) error{
		"the other completes": func(r *rig, _, _ int64) error { return nil },
		"nobody is told of it": func(r *rig, awaited, _ int64) error {
			r.exec(`UPDATE jobs SET state = 'completed', finished_at = now() WHERE id = $1`, awaited)
			r.reconcile()
			return nil
		},
		"paused as well": func(r *rig, awaited, waits int64) error {
			if err := r.db.Pause(context.Background(), waits); err != nil {
				return err
			}
			r.work(r.worker(r.effect), awaited)
			r.exec(`UPDATE jobs SET held_at = held_at - interval '9 days', started_at = started_at - interval '9 days' WHERE id = $1`, waits)
			_, err := r.db.Resume(context.Background(), waits)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, 2)
			awaited, waits := newJob("awaited", "a", 1), newJob("waits", "b", 1)
			awaited.Delay = time.Minute
			made := r.insertOnly(awaited, waits)
			runs := 0
			wait := func(_ context.Context, run *job.Run) (job.Outcome, error) {
				if runs++; runs == 1 {
					return job.Outcome{}, job.HoldFor("awaited")
				}
				return job.Outcome{}, job.Unavailable(run, errBroken)
			}
			r.work(r.worker(wait), made[1].ID)
			r.exec(`UPDATE jobs SET held_at = held_at - interval '9 days', started_at = started_at - interval '9 days' - interval '1 hour',
				created_at = created_at - interval '10 days' WHERE key = 'waits'`)
			r.later()
			if err := end(r, made[0].ID, made[1].ID); err != nil {
				t.Fatal(err)
			}
			r.work(r.worker(r.effect), made[0].ID)
			r.work(r.worker(wait), made[1].ID)
			if j := r.find("waits"); runs != 2 || j.State != job.Queued || j.Attempts != 0 || j.Age < time.Hour || j.Age > 2*time.Hour {
				t.Errorf("after %d runs it is %s with %d failures, at it for %s; want it to wait, an hour old", runs, j.State, j.Attempts, j.Age)
			}
		})
	}
}

func TestUnknownKindAndVersionWaitForTheRollout(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	newer, other := newJob("newer", "a", 1), newJob("other", "b", 1)
	newer.Version, other.Kind = 2, "other"
	made := r.insertOnly(newer, other)
	for _, in := range made {
		r.work(r.worker(nil), in.ID)
		if j := r.find(in.Key); j.State != job.Queued || j.Attempts != 0 {
			t.Errorf("job %s is %s after %d attempts", in.Key, j.State, j.Attempts)
		}
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	r := newRig(t, 4)
	ctx := context.Background()
	made := r.insertOnly(newJob("waiting", "a", 1), newJob("held", "b", 1), newJob("review", "c", 1), newJob("running", "d", 1))
	if err := r.db.Pause(ctx, made[1].ID); err != nil {
		t.Fatal(err)
	}
	r.work(r.worker(func(context.Context, *job.Run) (job.Outcome, error) { return job.Outcome{}, job.Review(errBroken) }), made[2].ID)
	for _, in := range made[:3] {
		if state, err := r.db.Cancel(ctx, in.ID, "person:1"); err != nil || state != job.Cancelled {
			t.Errorf("cancel %s: %s, %v", in.Key, state, err)
		}
	}
	called := 0
	r.work(r.worker(func(ctx context.Context, run *job.Run) (job.Outcome, error) {
		if err := run.Begin(ctx, "effect", nil); err != nil {
			return job.Outcome{}, err
		}
		called++
		if err := run.Done(ctx, "effect", "first"); err != nil {
			return job.Outcome{}, err
		}
		if state, err := r.db.Cancel(ctx, made[3].ID, "person:1"); err != nil || state != job.Running {
			t.Errorf("cancel running: %s, %v", state, err)
		}
		if err := run.Begin(ctx, "effect:2", nil); err != nil {
			return job.Outcome{}, err
		}
		called++
		return job.Outcome{}, nil
	}), made[3].ID)
	r.wantState("running", job.Cancelled)
	if j := r.find("running"); called != 1 || j.Stage != "done effect" {
		t.Errorf("%d calls, stage %q: what has happened must stay, nothing more may happen", called, j.Stage)
	}
}

func TestCancel_SeenByAFailureAndByARescue(t *testing.T) {
	t.Parallel()
	r := newRig(t, 4)
	ctx := context.Background()
	made := r.insertOnly(newJob("fails", "a", 1), newJob("dies", "b", 1))
	r.work(r.worker(func(ctx context.Context, run *job.Run) (job.Outcome, error) {
		_, err := r.db.Cancel(ctx, run.ID, "person:1")
		return job.Outcome{}, errors.Join(err, errBroken)
	}), made[0].ID)
	r.wantState("fails", job.Cancelled)
	if c, err := r.db.Claim(ctx, "tickets", made[1].ID, tokenOf(1)); err != nil || c.Job == nil {
		t.Fatalf("claim: %+v, %v", c, err)
	}
	if _, err := r.db.Cancel(ctx, made[1].ID, "person:1"); err != nil {
		t.Fatal(err)
	}
	r.later()
	r.reconcile()
	r.wantState("dies", job.Cancelled)
}

func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	ctx := context.Background()
	made := r.insertOnly(newJob("first", "lane", 1), newJob("second", "lane", 2))
	if err := r.db.Pause(ctx, made[0].ID); err != nil {
		t.Fatal(err)
	}
	r.work(r.worker(nil), made[1].ID)
	r.later()
	r.reconcile()
	r.settle(1, nil)
	if got := r.effects(); !slices.Equal(got, []string{"second"}) {
		t.Errorf("effects %v while the first is paused", got)
	}
	in, err := r.db.Resume(ctx, made[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	r.publisher().Publish(ctx, []job.Inserted{in})
	r.settle(1, nil)
	r.wantState("first", job.Completed)
}

func TestHoldFor(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		end  func(r *rig, id int64)
		want job.State
	}{
		{"lets go when it completes", func(r *rig, id int64) {
			in, err := r.db.Replay(context.Background(), id, "person:1")
			if err != nil {
				r.t.Fatal(err)
			}
			r.work(r.worker(nil), in.ID)
			r.settle(1, nil)
		}, job.Completed},
		{"goes to review when it is cancelled", func(r *rig, id int64) {
			if _, err := r.db.Cancel(context.Background(), id, "person:1"); err != nil {
				r.t.Fatal(err)
			}
		}, job.NeedsReview},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, 2)
			made := r.insert(newJob("create", "lane", 1), newJob("comment1", "lane", 2), newJob("comment2", "lane", 3))
			created := false
			r.settle(1, func(ctx context.Context, run *job.Run) (job.Outcome, error) {
				switch {
				case run.Key == "create":
					return job.Outcome{}, job.Review(errBroken)
				case !created:
					return job.Outcome{}, job.HoldFor("create")
				}
				return r.effect(ctx, run)
			})
			if got := r.effects(); len(got) != 0 {
				t.Fatalf("effects %v before the creation", got)
			}
			r.later()
			r.reconcile()
			if got := r.pub.take(); len(got) != 0 {
				t.Errorf("hints %v for held jobs", got)
			}
			created = true
			tc.end(r, made[0].ID)
			r.wantState("comment1", tc.want)
			r.wantState("comment2", tc.want)
		})
	}
}

func TestReview_IsToldOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	made := r.insert(newJob("k", "lane", 1))
	r.settle(1, func(context.Context, *job.Run) (job.Outcome, error) { return job.Outcome{}, job.Review(errBroken) })
	rec := r.reconciler()
	told := 0
	rec.Review = func(j job.Job) []job.New {
		told++
		return []job.New{newJob(fmt.Sprint("note:", j.ID), "notes", 1)}
	}
	for range 3 {
		if err := rec.Pass(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if told != 1 {
		t.Errorf("told %d times, want once", told)
	}
	r.settle(1, nil)
	r.wantState(fmt.Sprint("note:", made[0].ID), job.Completed)
}

func TestClean_KeepsWhatIsNeeded(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	r.insert(newJob("old", "a", 1), newJob("fresh", "b", 1))
	r.settle(1, nil)
	r.insertOnly(newJob("open", "c", 1))
	r.exec(`UPDATE jobs SET finished_at = finished_at - interval '31 days' WHERE key = 'old'`)
	r.exec(`UPDATE jobs SET created_at = created_at - interval '99 days'`)
	r.exec(`UPDATE lanes SET used_at = used_at - interval '2 days'`)
	r.reconcile()
	if j, _ := r.db.Find(context.Background(), "old"); j != nil {
		t.Error("a job that ended 31 days ago is still there")
	}
	r.wantState("fresh", job.Completed)
	r.wantState("open", job.Queued)
}

// More may be over than one statement deletes.
func TestClean_GoesOn(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	r.exec(`INSERT INTO jobs (queue, kind, key, lane, strict, payload, state, finished_at)
		SELECT 'tickets', 'test', 'k' || n, 'lane', true, '{}', 'completed', now() - interval '31 days' FROM generate_series(1, 1200) n`)
	r.reconcile()
	if j, err := r.db.Find(context.Background(), "k1200"); j != nil || err != nil {
		t.Errorf("%v: jobs that ended 31 days ago are still there", err)
	}
}

func TestWorker_PanicIsAFailure(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	made := r.insertOnly(newJob("k", "lane", 1))
	r.work(r.worker(func(context.Context, *job.Run) (job.Outcome, error) { panic("boom") }), made[0].ID)
	if j := r.find("k"); j.State != job.Queued || j.Attempts != 1 {
		t.Errorf("job is %s after %d attempts", j.State, j.Attempts)
	}
}

func TestRefused_RestoresTheStage(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	made := r.insertOnly(newJob("k", "lane", 1))
	r.work(r.worker(func(ctx context.Context, run *job.Run) (job.Outcome, error) {
		if err := run.Begin(ctx, "effect:1", nil); err != nil {
			return job.Outcome{}, err
		}
		if err := run.Done(ctx, "effect:1", 11); err != nil {
			return job.Outcome{}, err
		}
		if err := run.Begin(ctx, "effect:2", 11); err != nil {
			return job.Outcome{}, err
		}
		return job.Outcome{}, errors.Join(errBroken, run.Refused(ctx))
	}), made[0].ID)
	if j := r.find("k"); j.Stage != "done effect:1" || string(j.StageData) != "11" {
		t.Errorf("stage %q with %s, want the one before the refused call", j.Stage, j.StageData)
	}
}
