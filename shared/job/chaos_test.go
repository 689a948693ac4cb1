package job_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"supportbot/shared/job"
)

// TestChaos_EveryJobIsDoneInOrder lets hints get lost and doubled, workers die
// and fail, and time jump, and asks only that in the end every job of a lane has
// had its effect, in order, and that a job whose worker did not die had it once.
func TestChaos_EveryJobIsDoneInOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t, 10)
	const lanes, perLane = 12, 10
	var mu sync.Mutex
	died := map[string]int{}
	handle := func(ctx context.Context, run *job.Run) (job.Outcome, error) {
		switch dice := rand.IntN(10); {
		case dice == 0:
			return job.Outcome{}, errBroken
		case dice == 1:
			return job.Outcome{}, job.Later(0, errBroken)
		case dice == 2 && run.Losses < job.MaxLosses-2:
			// The worker dies after the effect: nothing more is written.
			mu.Lock()
			died[run.Key]++
			mu.Unlock()
			_, _ = r.effect(ctx, run)
			return job.Outcome{}, job.ErrLost
		}
		return r.effect(ctx, run)
	}
	var wg sync.WaitGroup
	for l := range lanes {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range perLane {
				made, err := r.db.Insert(context.Background(), []job.New{newJob(fmt.Sprintf("%02d/%02d", l, i), fmt.Sprint("lane", l), int64(i))})
				if err != nil {
					t.Error(err)
					return
				}
				if rand.IntN(3) > 0 {
					r.publisher().Publish(context.Background(), made)
				}
			}
		}()
	}
	for round := 0; ; round++ {
		if round == 1 {
			wg.Wait()
		}
		r.settle(6, handle)
		r.later()
		r.reconcile()
		if round > 1 && r.open() == 0 {
			break
		}
		if round > 2000 {
			t.Fatalf("%d jobs still open", r.open())
		}
	}
	r.checkOrder(t, lanes, perLane, died)
}

func (r *rig) open() (n int) {
	r.t.Helper()
	for l := range 12 {
		for i := range 10 {
			j, err := r.db.Find(context.Background(), fmt.Sprintf("%02d/%02d", l, i))
			if err != nil {
				r.t.Fatal(err)
			}
			if j != nil && j.State != job.Completed && j.State != job.NeedsReview {
				n++
			}
		}
	}
	return n
}

func (r *rig) checkOrder(t *testing.T, lanes, perLane int, died map[string]int) {
	t.Helper()
	if r.overlap {
		t.Error("two jobs of one lane ran at the same time")
	}
	byLane := map[string][]string{}
	count := map[string]int{}
	for _, key := range r.effects() {
		count[key]++
		if count[key] == 1 {
			byLane[key[:2]] = append(byLane[key[:2]], key)
		}
	}
	for lane, keys := range byLane {
		if !slices.IsSorted(keys) {
			t.Errorf("lane %s: first effects in the order %v", lane, keys)
		}
	}
	for l := range lanes {
		for i := range perLane {
			key := fmt.Sprintf("%02d/%02d", l, i)
			if r.find(key).State != job.Completed {
				continue // used up its attempts
			}
			if count[key] != died[key]+1 {
				t.Errorf("%s had its effect %d times with %d dead workers", key, count[key], died[key])
			}
		}
	}
}
