package job_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/job"
	"supportbot/shared/postgres/schema"
)

func TestLane_TwentyWorkersKeepTheOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t, 20)
	twentyWorkers(t, r)
}

func TestLane_ThroughATransactionPooler(t *testing.T) {
	t.Parallel()
	url := backendtest.Postgres(t, schema.Migrate)
	twentyWorkers(t, rigOn(t, url, backendtest.PgBouncer(t, url), 20))
}

func twentyWorkers(t *testing.T, r *rig) {
	var want []string
	var jobs []job.New
	for i := range 120 {
		want = append(want, fmt.Sprintf("k%03d", i))
		jobs = append(jobs, newJob(want[i], "lane", int64(i)))
	}
	r.insert(jobs...)
	r.settle(20, nil)
	if got := r.effects(); !slices.Equal(got, want) {
		t.Errorf("effects %v, want %v", got, want)
	}
	if r.overlap {
		t.Error("two jobs of one lane ran at the same time")
	}
}

func TestLane_AThousandLanesNoneStarved(t *testing.T) {
	t.Parallel()
	r := newRig(t, 20)
	var jobs []job.New
	for i := range 1000 {
		jobs = append(jobs, newJob(fmt.Sprint(i), fmt.Sprintf("lane%d", i), 0))
	}
	// One lane has a backlog that must not hold up the others.
	for i := range 100 {
		jobs = append(jobs, newJob(fmt.Sprint("big", i), "big", int64(i)))
	}
	r.insert(jobs...)
	r.settle(20, nil)
	if got := len(r.effects()); got != len(jobs) {
		t.Errorf("%d effects, want %d", got, len(jobs))
	}
}

func TestClaim_TwoJobsOfOneLaneAtTheSameInstant(t *testing.T) {
	t.Parallel()
	r := newRig(t, 8)
	for round := range 50 {
		lane := fmt.Sprint("lane", round)
		made := r.insertOnly(newJob(lane+"a", lane, 1), newJob(lane+"b", lane, 2))
		claims := make([]job.Claim, 2)
		start := make(chan struct{})
		var wg sync.WaitGroup
		for i := range claims {
			wg.Add(1)
			go func() {
				defer wg.Done()
				<-start
				c, err := r.db.Claim(context.Background(), "tickets", made[i].ID, fmt.Sprintf("00000000-0000-0000-0000-00000000000%d", i))
				if err != nil {
					t.Error(err)
				}
				claims[i] = c
			}()
		}
		close(start)
		wg.Wait()
		var got []string
		for _, c := range claims {
			if c.Job != nil {
				got = append(got, c.Job.Key)
			}
		}
		if len(got) != 1 || got[0] != lane+"a" {
			t.Fatalf("round %d: claimed %v, want the head alone", round, got)
		}
	}
}

func TestLane_StrictWaitsForItsHead(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	first, second := newJob("first", "lane", 1), newJob("second", "lane", 2)
	first.Delay = time.Minute
	r.insert(first, second)
	r.settle1()
	if got := r.effects(); len(got) != 0 {
		t.Errorf("effects %v before the head's time", got)
	}
	r.later()
	r.reconcile()
	r.settle(1, nil)
	if got, want := r.effects(), []string{"first", "second"}; !slices.Equal(got, want) {
		t.Errorf("effects %v, want %v", got, want)
	}
}

func TestLane_LooseTakesTheFirstThatIsDue(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	jobs := []job.New{newJob("later", "lane", 1), newJob("low", "lane", 2), newJob("high", "lane", 3)}
	for i := range jobs {
		jobs[i].Lane.Loose = true
	}
	jobs[0].Delay, jobs[2].Priority = time.Minute, 5
	r.insert(jobs...)
	r.settle1()
	if got, want := r.effects(), []string{"high", "low"}; !slices.Equal(got, want) {
		t.Errorf("effects %v, want %v", got, want)
	}
	r.later()
	r.reconcile()
	r.settle1()
	r.wantState("later", job.Completed)
}

// settle1 delivers the hints that are there, once, to one worker: delayed hints
// of the worker's own stay where they are.
func (r *rig) settle1() {
	r.t.Helper()
	for _, h := range r.pub.take() {
		r.work(r.worker(nil), h.Job)
	}
}

func TestLane_AJobInsertedWhileTheLaneIsHeldIsNotForgotten(t *testing.T) {
	t.Parallel()
	r := newRig(t, 4)
	made := r.insertOnly(newJob("first", "lane", 1))
	handle := func(ctx context.Context, run *job.Run) (job.Outcome, error) {
		if run.Key == "first" {
			// Its hint arrives while the lane is held, and is dropped.
			second := r.insertOnly(newJob("second", "lane", 2))
			r.work(r.worker(nil), second[0].ID)
		}
		return r.effect(ctx, run)
	}
	r.work(r.worker(handle), made[0].ID)
	r.settle(1, nil)
	if got, want := r.effects(), []string{"first", "second"}; !slices.Equal(got, want) {
		t.Errorf("effects %v, want %v", got, want)
	}
}

// A hint that comes at any moment of another job's end is either dropped, and then
// the lane's holder sees its job, or finds the lane free.
func TestLane_NoHintIsLostAtTheEndOfADrain(t *testing.T) {
	t.Parallel()
	r := newRig(t, 4)
	for round := range 60 {
		lane := fmt.Sprint("lane", round)
		first := r.insertOnly(newJob(lane+" first", lane, 1))
		var wg sync.WaitGroup
		ended := make(chan struct{})
		wg.Add(2)
		go func() {
			defer wg.Done()
			r.work(r.worker(func(ctx context.Context, run *job.Run) (job.Outcome, error) {
				if run.Sequence == 1 {
					close(ended)
				}
				return r.effect(ctx, run)
			}), first[0].ID)
		}()
		go func() {
			defer wg.Done()
			<-ended
			second := r.insertOnly(newJob(lane+" second", lane, 2))
			r.work(r.worker(nil), second[0].ID)
		}()
		wg.Wait()
		r.settle(1, nil)
		r.wantState(lane+" second", job.Completed)
	}
}

func TestWorker_LooksForAHeadOnlyWhereJobsAreLeft(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	store := &countingHead{Store: r.db}
	w := r.worker(nil)
	w.Store = store
	later := newJob("later", "waits", 1)
	later.Delay = time.Minute
	made := r.insertOnly(newJob("a", "lane", 1), newJob("b", "lane", 2), later)
	r.work(w, made[0].ID)
	if store.heads != 0 {
		t.Errorf("asked %d times for the head of an empty lane", store.heads)
	}
	r.work(w, made[2].ID)
	if store.heads != 1 {
		t.Errorf("asked %d times for a head that waits, want once", store.heads)
	}
}

type countingHead struct {
	job.Store
	heads int
}

func (c *countingHead) Head(ctx context.Context, lane string) (job.Inserted, bool, error) {
	c.heads++
	return c.Store.Head(ctx, lane)
}

func TestLane_DrainIsBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	var jobs []job.New
	for i := range 25 {
		jobs = append(jobs, newJob(fmt.Sprint(i), "lane", int64(i)))
	}
	made := r.insertOnly(jobs...)
	r.work(r.worker(nil), made[0].ID)
	if got := len(r.effects()); got != 20 {
		t.Errorf("one drain did %d jobs, want 20", got)
	}
	if got := r.pub.take(); len(got) != 1 || got[0].Job != made[20].ID {
		t.Errorf("after the drain hints %v, want one for job %d", got, made[20].ID)
	}
}
