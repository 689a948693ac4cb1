// Package queuetest is the suite that every adapter of the queue port passes. It
// runs in real time, because a real queue does: nothing sleeps, the long polls
// wait.
package queuetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/queue"
)

// Options are the settings of a queue that a test asks for.
type Options struct {
	Visibility  time.Duration // whole seconds
	MaxReceives int           // 0: there is no dead-letter queue
}

// Rig is a fresh, empty queue.
type Rig struct {
	Publisher queue.Publisher
	Source    queue.Source
	Queue     string
	Dead      string // its dead-letter queue, if MaxReceives was given
}

// Run runs the suite over the queues that open makes.
func Run(t *testing.T, open func(tb testing.TB, o Options) Rig) {
	t.Helper()
	tests := map[string]struct {
		Options
		run func(t *testing.T, r *rig)
	}{
		"hint arrives":                      {run: testArrives},
		"batches of any size":               {run: testBatches},
		"nothing to publish":                {run: testNothing},
		"receive takes at most ten":         {run: testAtMostTen},
		"empty receive returns":             {run: testEmpty},
		"poll wakes by a message":           {run: testPollWakesByMessage},
		"poll wakes by the end of a delay":  {run: testPollWakesByDelay},
		"poll wakes by visibility":          {Options: Options{Visibility: time.Second}, run: testPollWakesByVisibility},
		"poll ends with its context":        {run: testPollEnds},
		"received messages are hidden":      {run: testHidden},
		"redelivery has another receipt":    {Options: Options{Visibility: time.Second}, run: testRedelivery},
		"deleted is gone":                   {Options: Options{Visibility: time.Second}, run: testDeleted},
		"delete of many and of nothing":     {Options: Options{Visibility: time.Second}, run: testDeleteMany},
		"dead letter after N receives":      {Options: Options{Visibility: time.Second, MaxReceives: 2}, run: testDead},
		"missing queue":                     {run: testMissing},
		"each message to one of many polls": {run: testManyPolls},
		"delay is clamped":                  {run: testDelayClamped},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.Visibility == 0 {
				tc.Visibility = 30 * time.Second
			}
			tc.run(t, &rig{Rig: open(t, tc.Options)})
		})
	}
}

const (
	patience = 30 * time.Second // of a test for something that has to happen
	longPoll = 20 * time.Second
)

type rig struct{ Rig }

func (r *rig) publish(tb testing.TB, hints ...queue.Hint) {
	tb.Helper()
	if err := r.Publisher.Publish(context.Background(), r.Queue, hints...); err != nil {
		tb.Fatalf("Publish: %v", err)
	}
}

func (r *rig) receive(tb testing.TB, limit int, wait time.Duration) []queue.Message {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	got, err := r.Source.Receive(ctx, r.Queue, limit, wait)
	if err != nil {
		tb.Fatalf("Receive: %v", err)
	}
	return got
}

// collect receives until it has n messages.
func (r *rig) collect(tb testing.TB, n int) []queue.Message {
	tb.Helper()
	var got []queue.Message
	for start := time.Now(); len(got) < n; {
		if time.Since(start) > patience {
			tb.Fatalf("received %d messages in %s, want %d", len(got), patience, n)
		}
		got = append(got, r.receive(tb, 10, longPoll)...)
	}
	return got
}

// none asserts that there is nothing to receive now.
func (r *rig) none(tb testing.TB) {
	tb.Helper()
	if got := r.receive(tb, 10, 0); len(got) != 0 {
		tb.Errorf("received %v, want nothing", got)
	}
}

func (r *rig) remove(tb testing.TB, receipts ...string) {
	tb.Helper()
	if err := r.Source.Delete(context.Background(), r.Queue, receipts...); err != nil {
		tb.Fatalf("Delete: %v", err)
	}
}

func jobs(tb testing.TB, messages []queue.Message) []int64 {
	tb.Helper()
	var ids []int64
	for _, m := range messages {
		h, err := queue.ParseHint(m.Body)
		if err != nil {
			tb.Fatalf("message %q: %v", m.Body, err)
		}
		ids = append(ids, h.Job)
	}
	slices.Sort(ids)
	return ids
}

func hints(n int) (list []queue.Hint, ids []int64) {
	for i := range n {
		ids = append(ids, int64(i+1))
		list = append(list, queue.Hint{Job: int64(i + 1), CorrelationID: fmt.Sprintf("c-%d", i+1)})
	}
	return list, ids
}

func testArrives(t *testing.T, r *rig) {
	before := time.Now().Add(-2 * time.Second) // a queue's clock and its rounding
	want := queue.Hint{Job: 1<<62 + 1, CorrelationID: "telegram:77:<&\"'\\\x00\u2028😀"}
	r.publish(t, want)
	got := r.collect(t, 1)
	m := got[0]
	h, err := queue.ParseHint(m.Body)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, h); diff != "" || len(got) != 1 {
		t.Errorf("%d messages, hint (-want +got):\n%s", len(got), diff)
	}
	if m.ID == "" || m.Receipt == "" || m.Receives != 1 {
		t.Errorf("message: got %+v, want an id, a receipt and 1 receive", m)
	}
	if m.SentAt.Before(before) || m.SentAt.After(time.Now().Add(2*time.Second)) {
		t.Errorf("sent at: got %s, want now", m.SentAt)
	}
}

func testBatches(t *testing.T, r *rig) {
	list, ids := hints(23)
	r.publish(t, list...)
	if diff := cmp.Diff(ids, jobs(t, r.collect(t, 23))); diff != "" {
		t.Errorf("jobs (-want +got):\n%s", diff)
	}
	r.none(t)
}

func testNothing(t *testing.T, r *rig) {
	r.publish(t)
	r.none(t)
}

func testAtMostTen(t *testing.T, r *rig) {
	list, _ := hints(12)
	r.publish(t, list...)
	for _, limit := range []int{3, 100} {
		if got := len(r.receive(t, limit, longPoll)); got == 0 || got > min(limit, 10) {
			t.Errorf("receive %d: got %d messages", limit, got)
		}
	}
}

func testEmpty(t *testing.T, r *rig) {
	start := time.Now()
	r.none(t)
	if got := r.receive(t, 1, time.Second); len(got) != 0 {
		t.Errorf("received %v, want nothing", got)
	}
	if took := time.Since(start); took < 900*time.Millisecond {
		t.Errorf("a poll of one second took %s", took)
	}
}
