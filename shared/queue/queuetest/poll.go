package queuetest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"supportbot/shared/queue"
)

// polling receives in the background; the channel gets what came.
func (r *rig) polling(tb testing.TB, ctx context.Context) <-chan []queue.Message {
	tb.Helper()
	out := make(chan []queue.Message, 1)
	go func() {
		got, err := r.Source.Receive(ctx, r.Queue, 10, longPoll)
		if err != nil {
			tb.Errorf("Receive: %v", err)
		}
		out <- got
	}()
	return out
}

func testPollWakesByMessage(t *testing.T, r *rig) {
	start := time.Now()
	out := r.polling(t, context.Background())
	r.publish(t, queue.Hint{Job: 1})
	if got := jobs(t, <-out); !slices.Equal(got, []int64{1}) {
		t.Errorf("jobs: got %v, want [1]", got)
	}
	if took := time.Since(start); took > longPoll/2 {
		t.Errorf("the poll woke after %s", took)
	}
}

func testPollWakesByDelay(t *testing.T, r *rig) {
	start := time.Now()
	r.publish(t, queue.Hint{Job: 1, Delay: 1500 * time.Millisecond}, queue.Hint{Job: 2})
	if got := jobs(t, r.collect(t, 1)); !slices.Equal(got, []int64{2}) {
		t.Fatalf("jobs before the delay: got %v, want [2]", got)
	}
	if got := jobs(t, r.collect(t, 1)); !slices.Equal(got, []int64{1}) {
		t.Errorf("jobs after the delay: got %v, want [1]", got)
	}
	if took := time.Since(start); took < 1400*time.Millisecond || took > longPoll/2 {
		t.Errorf("a delay of 1.5 s took %s", took)
	}
}

func testPollWakesByVisibility(t *testing.T, r *rig) {
	r.publish(t, queue.Hint{Job: 1})
	start := time.Now()
	r.collect(t, 1)
	if again := r.collect(t, 1); again[0].Receives != 2 {
		t.Errorf("receives: got %d, want 2", again[0].Receives)
	}
	if took := time.Since(start); took < 900*time.Millisecond || took > longPoll/2 {
		t.Errorf("a visibility time-out of 1 s took %s", took)
	}
}

func testPollEnds(t *testing.T, r *rig) {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := r.Source.Receive(ctx, r.Queue, 10, longPoll)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Receive: got %v, want %v", err, context.DeadlineExceeded)
	}
	if took := time.Since(start); took > longPoll/2 {
		t.Errorf("Receive ended after %s", took)
	}
	if err := r.Publisher.Publish(ctx, r.Queue, queue.Hint{Job: 1}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Publish: got %v, want %v", err, context.DeadlineExceeded)
	}
	if err := r.Source.Delete(ctx, r.Queue, "x"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Delete: got %v, want %v", err, context.DeadlineExceeded)
	}
}
