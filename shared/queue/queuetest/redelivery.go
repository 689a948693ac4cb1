package queuetest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/queue"
)

func testHidden(t *testing.T, r *rig) {
	r.publish(t, queue.Hint{Job: 1})
	r.collect(t, 1)
	r.none(t)
}

func testRedelivery(t *testing.T, r *rig) {
	r.publish(t, queue.Hint{Job: 1})
	one, two := r.collect(t, 1)[0], r.collect(t, 1)[0]
	if one.ID != two.ID || one.Body != two.Body || one.Receipt == two.Receipt {
		t.Errorf("redelivery: got %+v after %+v, want the same message with another receipt", two, one)
	}
	r.remove(t, two.Receipt)
	if got := r.receive(t, 1, 2*time.Second); len(got) != 0 {
		t.Errorf("received %v after the delete", got)
	}
}

func testDeleted(t *testing.T, r *rig) {
	r.publish(t, queue.Hint{Job: 1}, queue.Hint{Job: 2})
	for _, m := range r.collect(t, 2) {
		if h, _ := queue.ParseHint(m.Body); h.Job == 1 {
			r.remove(t, m.Receipt)
		}
	}
	if got := jobs(t, r.collect(t, 1)); !slices.Equal(got, []int64{2}) {
		t.Errorf("jobs that come again: got %v, want [2]", got)
	}
}

func testDeleteMany(t *testing.T, r *rig) {
	r.remove(t)
	list, _ := hints(13)
	r.publish(t, list...)
	var receipts []string
	for _, m := range r.collect(t, 13) {
		receipts = append(receipts, m.Receipt)
	}
	r.remove(t, receipts...)
	if got := r.receive(t, 10, 2*time.Second); len(got) != 0 {
		t.Errorf("received %v after the delete", got)
	}
}

func testDead(t *testing.T, r *rig) {
	r.publish(t, queue.Hint{Job: 1})
	r.collect(t, 1)
	r.collect(t, 1)
	if got := r.receive(t, 10, 3*time.Second); len(got) != 0 {
		t.Errorf("received %v a third time", got)
	}
	dead := &rig{Rig: r.Rig}
	dead.Queue = r.Dead
	if got := jobs(t, dead.collect(t, 1)); !slices.Equal(got, []int64{1}) {
		t.Errorf("dead letters: got %v, want [1]", got)
	}
}

func testMissing(t *testing.T, r *rig) {
	ctx, name := context.Background(), "missing"
	if err := r.Publisher.Publish(ctx, name, queue.Hint{Job: 1}); !errors.Is(err, queue.ErrNotFound) {
		t.Errorf("Publish: got %v, want %v", err, queue.ErrNotFound)
	}
	if _, err := r.Source.Receive(ctx, name, 1, 0); !errors.Is(err, queue.ErrNotFound) {
		t.Errorf("Receive: got %v, want %v", err, queue.ErrNotFound)
	}
	if err := r.Source.Delete(ctx, name, "x"); !errors.Is(err, queue.ErrNotFound) {
		t.Errorf("Delete: got %v, want %v", err, queue.ErrNotFound)
	}
}

func testManyPolls(t *testing.T, r *rig) {
	const polls, total = 4, 40
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var mu sync.Mutex
	var got []queue.Message
	var all sync.WaitGroup
	for range polls {
		all.Add(1)
		go func() {
			defer all.Done()
			for ctx.Err() == nil {
				list, _ := r.Source.Receive(ctx, r.Queue, 3, longPoll)
				mu.Lock()
				if got = append(got, list...); len(got) >= total {
					cancel()
				}
				mu.Unlock()
			}
		}()
	}
	list, ids := hints(total)
	r.publish(t, list...)
	all.Wait()
	if diff := cmp.Diff(ids, jobs(t, got)); diff != "" {
		t.Errorf("jobs (-want +got):\n%s", diff)
	}
}

// A delay that is too long is cut, a negative one is none: neither is refused.
func testDelayClamped(t *testing.T, r *rig) {
	r.publish(t, queue.Hint{Job: 1, Delay: 48 * time.Hour}, queue.Hint{Job: 2, Delay: -time.Hour})
	if got := jobs(t, r.collect(t, 1)); !slices.Equal(got, []int64{2}) {
		t.Errorf("jobs: got %v, want [2]", got)
	}
	r.none(t)
}
