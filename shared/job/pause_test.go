package job_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"supportbot/shared/job"
)

// A job that is paused while it runs is held as soon as it does not, however its run
// ends, unless it is over.
func TestPause_WhileItRuns(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		end  func(r *rig, run *job.Run) error
		want job.State
	}{
		{"completed", func(*rig, *job.Run) error { return nil }, job.Completed},
		{"parked", func(*rig, *job.Run) error { return job.Later(0, errBroken) }, job.Queued},
		{"failed", func(*rig, *job.Run) error { return errBroken }, job.Queued},
		{"cancelled too", func(r *rig, run *job.Run) error {
			_, err := r.db.Cancel(context.Background(), run.ID, "person:1")
			return errors.Join(err, errBroken)
		}, job.Cancelled},
		{"its worker died", func(*rig, *job.Run) error { return job.ErrLost }, job.Queued},
		{"it waits for another", func(*rig, *job.Run) error { return job.HoldFor("other") }, job.Queued},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, 2)
			ctx := context.Background()
			later := newJob("other", "elsewhere", 1)
			later.Delay = time.Hour
			made := r.insertOnly(newJob("k", "lane", 1), newJob("next", "lane", 2), later)
			runs := 0
			handle := func(ctx context.Context, run *job.Run) (job.Outcome, error) {
				if run.Key != "k" {
					return r.effect(ctx, run)
				}
				if runs++; runs > 1 {
					return r.effect(ctx, run)
				}
				if err := r.db.Pause(ctx, run.ID); err != nil {
					t.Error(err)
				}
				return job.Outcome{}, tc.end(r, run)
			}
			r.work(r.worker(handle), made[0].ID)
			r.later()
			r.reconcile()
			r.settle(2, handle)
			r.wantState("k", tc.want)
			r.wantState("next", job.Completed)
			if runs != 1 {
				t.Fatalf("it ran %d times though it is paused", runs)
			}
			if tc.want != job.Queued {
				if _, err := r.db.Resume(ctx, made[0].ID); !errors.Is(err, job.ErrNotFound) {
					t.Errorf("resume: %v, want ErrNotFound", err)
				}
				return
			}
			in, err := r.db.Resume(ctx, made[0].ID)
			if err != nil || in.RunIn > 0 {
				t.Fatalf("resume: %+v, %v", in, err)
			}
			r.publisher().Publish(ctx, []job.Inserted{in})
			r.settle(1, handle)
			r.wantState("k", job.Completed)
		})
	}
}

// A pause outlasts what the job waits for, a review and a replay.
func TestPause_Outlasts(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	ctx := context.Background()
	made := r.insertOnly(newJob("awaited", "a", 1), newJob("waits", "b", 1), newJob("review", "c", 1))
	first := map[string]bool{}
	handle := func(ctx context.Context, run *job.Run) (job.Outcome, error) {
		again := first[run.Key]
		first[run.Key] = true
		switch {
		case run.Key == "waits" && !again:
			return job.Outcome{}, errors.Join(r.db.Pause(ctx, run.ID), job.HoldFor("awaited"))
		case run.Key == "review" && !again:
			return job.Outcome{}, errors.Join(r.db.Pause(ctx, run.ID), job.Review(errBroken))
		}
		return r.effect(ctx, run)
	}
	for _, i := range []int{1, 2, 0} {
		r.work(r.worker(handle), made[i].ID)
	}
	if _, err := r.db.Replay(ctx, made[2].ID, "person:1"); err != nil {
		t.Fatal(err)
	}
	r.later()
	r.reconcile()
	r.settle(1, handle)
	if got := r.effects(); !slices.Equal(got, []string{"awaited"}) {
		t.Errorf("effects %v of jobs that are paused", got)
	}
	for _, i := range []int{1, 2} {
		in, err := r.db.Resume(ctx, made[i].ID)
		if err != nil {
			t.Fatal(err)
		}
		r.publisher().Publish(ctx, []job.Inserted{in})
	}
	r.settle(1, handle)
	r.wantState("waits", job.Completed)
	r.wantState("review", job.Completed)
}

// Heads get a hint before their time, in either kind of lane; what is due goes before
// what will be.
func TestReconciler_HintsAheadOfTime(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		loose bool
		in    []time.Duration // jobs of one lane, the first has the highest priority
		want  int             // index of the job that is hinted at, -1: none
	}{
		{"strict, soon", false, []time.Duration{30 * time.Second}, 0},
		{"loose, soon", true, []time.Duration{30 * time.Second}, 0},
		{"strict, not so soon", false, []time.Duration{2 * time.Minute}, -1},
		{"loose, not so soon", true, []time.Duration{2 * time.Minute}, -1},
		{"strict: nothing overtakes the head", false, []time.Duration{2 * time.Minute, 0}, -1},
		{"loose: what is due goes first", true, []time.Duration{30 * time.Second, 0}, 1},
		{"loose: then what will be first", true, []time.Duration{2 * time.Minute, 50 * time.Second, 20 * time.Second}, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, 2)
			var jobs []job.New
			for i, d := range tc.in {
				j := newJob(string(rune('a'+i)), "lane", int64(i))
				j.Lane.Loose, j.Delay = tc.loose, d
				jobs = append(jobs, j)
			}
			made := r.insertOnly(jobs...)
			r.reconcile()
			got := r.pub.take()
			if tc.want < 0 {
				if len(got) != 0 {
					t.Errorf("hints %+v, want none", got)
				}
				return
			}
			d := tc.in[tc.want]
			if len(got) != 1 || got[0].Job != made[tc.want].ID || got[0].Delay > d || got[0].Delay < d-20*time.Second {
				t.Fatalf("hints %+v, want one for job %d in %s", got, made[tc.want].ID, d)
			}
			r.reconcile()
			if got := r.pub.take(); len(got) != 0 {
				t.Errorf("hints %+v for a head that has a fresh one", got)
			}
		})
	}
}
