package memqueue_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"supportbot/shared/queue"
	"supportbot/shared/queue/memqueue"
	"supportbot/shared/queue/queuetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	t.Parallel()
	queuetest.Run(t, func(_ testing.TB, o queuetest.Options) queuetest.Rig {
		q := memqueue.Queue{Name: "q", Visibility: o.Visibility, MaxReceives: o.MaxReceives}
		if o.MaxReceives > 0 {
			q.Dead = "dead"
		}
		b := memqueue.New(nil, q, memqueue.Queue{Name: "dead"})
		return queuetest.Rig{Publisher: b, Source: b, Queue: "q", Dead: q.Dead}
	})
}

type rig struct {
	*memqueue.Broker
	clock *memqueue.ManualClock
}

func setup(queues ...memqueue.Queue) *rig {
	clock := memqueue.NewManualClock(time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC))
	if queues == nil {
		queues = []memqueue.Queue{{Name: "q"}}
	}
	return &rig{memqueue.New(clock, queues...), clock}
}

func (r *rig) publish(tb testing.TB, hints ...queue.Hint) {
	tb.Helper()
	if err := r.Publish(context.Background(), "q", hints...); err != nil {
		tb.Fatal(err)
	}
}

// take receives what is there now.
func (r *rig) take(tb testing.TB, name string) []queue.Message {
	tb.Helper()
	got, err := r.Receive(context.Background(), name, 10, 0)
	if err != nil {
		tb.Fatal(err)
	}
	return got
}

func jobs(messages []queue.Message) []int64 {
	var ids []int64
	for _, m := range messages {
		h, _ := queue.ParseHint(m.Body)
		ids = append(ids, h.Job)
	}
	return ids
}

func (r *rig) want(tb testing.TB, name string, want ...int64) {
	tb.Helper()
	if got := jobs(r.take(tb, name)); !slices.Equal(got, want) {
		tb.Errorf("received from %s: got %v, want %v", name, got, want)
	}
}

func TestDelayAndVisibility_ToTheInstant(t *testing.T) {
	t.Parallel()
	r := setup()
	r.publish(t, queue.Hint{Job: 1, Delay: 10 * time.Second})
	r.clock.Advance(10*time.Second - 1)
	r.want(t, "q")
	r.clock.Advance(1)
	r.want(t, "q", 1)
	r.clock.Advance(30*time.Second - 1)
	r.want(t, "q")
	r.clock.Advance(1)
	r.want(t, "q", 1)
}

func TestDelay_AtMost900Seconds(t *testing.T) {
	t.Parallel()
	r := setup()
	r.publish(t, queue.Hint{Job: 1, Delay: 24 * time.Hour})
	r.clock.Advance(queue.MaxDelay)
	r.want(t, "q", 1)
}

func TestDelete_OldReceiptDeletesNothing(t *testing.T) {
	t.Parallel()
	r := setup()
	r.publish(t, queue.Hint{Job: 1})
	old := r.take(t, "q")[0]
	r.clock.Advance(30 * time.Second)
	newest := r.take(t, "q")[0]
	del := func(receipt string) {
		if err := r.Delete(context.Background(), "q", receipt); err != nil {
			t.Fatal(err)
		}
	}
	del(old.Receipt)
	if got, want := r.Depth("q"), (memqueue.Depth{Hidden: 1}); got != want {
		t.Errorf("depth after the old receipt: got %+v, want %+v", got, want)
	}
	r.clock.Advance(30 * time.Second)
	del(newest.Receipt) // its visibility is over, but nobody else has it
	if got, want := r.Depth("q"), (memqueue.Depth{}); got != want {
		t.Errorf("depth after the newest receipt: got %+v, want %+v", got, want)
	}
}

func TestDeadLetter_KeepsTheMessage(t *testing.T) {
	t.Parallel()
	r := setup(memqueue.Queue{Name: "q", MaxReceives: 3, Dead: "dead", Visibility: time.Second}, memqueue.Queue{Name: "dead"})
	r.publish(t, queue.Hint{Job: 1, CorrelationID: "c"})
	var last queue.Message
	for n := 1; n <= 3; n++ {
		last = r.take(t, "q")[0]
		if last.Receives != n {
			t.Errorf("receives: got %d, want %d", last.Receives, n)
		}
		r.clock.Advance(time.Second)
	}
	r.want(t, "q")
	dead := r.take(t, "dead")
	if len(dead) != 1 || dead[0].ID != last.ID || dead[0].Body != last.Body || !dead[0].SentAt.Equal(last.SentAt) {
		t.Errorf("dead letters: got %+v, want %+v", dead, last)
	}
}

// A poll has to wake by whatever makes a message visible, and by nothing else
// than its own end.
func TestReceive_Wakes(t *testing.T) {
	t.Parallel()
	tests := map[string]func(r *rig){
		"message":    func(r *rig) { _ = r.Publish(context.Background(), "q", queue.Hint{Job: 1}) },
		"delay":      func(r *rig) { r.clock.Advance(5 * time.Second) },
		"visibility": func(r *rig) { r.clock.Advance(15 * time.Second) },
	}
	for name, wake := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := setup(memqueue.Queue{Name: "q", Visibility: 15 * time.Second})
			switch name {
			case "delay":
				r.publish(t, queue.Hint{Job: 1, Delay: 5 * time.Second})
			case "visibility":
				r.publish(t, queue.Hint{Job: 1})
				r.want(t, "q", 1)
			}
			got := make(chan []queue.Message)
			go func() {
				list, _ := r.Receive(context.Background(), "q", 1, 20*time.Second)
				got <- list
			}()
			r.clock.Await(1)
			wake(r)
			if list := <-got; !slices.Equal(jobs(list), []int64{1}) {
				t.Errorf("got %v, want job 1", list)
			}
		})
	}
	t.Run("end", func(t *testing.T) {
		t.Parallel()
		r := setup()
		got := make(chan []queue.Message)
		go func() {
			list, _ := r.Receive(context.Background(), "q", 1, time.Hour) // cut to 20 s
			got <- list
		}()
		r.clock.Await(1)
		r.clock.Advance(20 * time.Second)
		if list := <-got; len(list) != 0 {
			t.Errorf("got %v, want nothing", list)
		}
	})
}

func TestFaults(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		faults memqueue.Faults
		want   []int64
	}{
		"none": {memqueue.Faults{}, []int64{1, 2, 3}},
		"lost": {memqueue.Faults{Fate: func(_ string, h queue.Hint) memqueue.Fate {
			if h.Job == 2 {
				return memqueue.Fate{}
			}
			return memqueue.Fate{Copies: 1}
		}}, []int64{1, 3}},
		"doubled":   {memqueue.Faults{Fate: func(string, queue.Hint) memqueue.Fate { return memqueue.Fate{Copies: 2} }}, []int64{1, 1, 2, 2, 3, 3}},
		"reordered": {memqueue.Faults{Pick: func(n int) int { return n - 1 }}, []int64{3, 2, 1}},
		"delayed": {memqueue.Faults{Fate: func(_ string, h queue.Hint) memqueue.Fate {
			return memqueue.Fate{Copies: 1, Delay: time.Duration(h.Job-1) * time.Second}
		}}, []int64{1}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := setup()
			r.SetFaults(tc.faults)
			r.publish(t, queue.Hint{Job: 1}, queue.Hint{Job: 2}, queue.Hint{Job: 3})
			r.want(t, "q", tc.want...)
		})
	}
}

func TestFaults_Cut(t *testing.T) {
	t.Parallel()
	r := setup()
	r.SetFaults(memqueue.Faults{Cut: true})
	if err := r.Publish(context.Background(), "q", queue.Hint{Job: 1}); !errors.Is(err, memqueue.ErrCut) {
		t.Errorf("Publish: got %v, want %v", err, memqueue.ErrCut)
	}
	r.SetFaults(memqueue.Faults{})
	r.publish(t, queue.Hint{Job: 2})
	r.want(t, "q", 2)
}

// Whatever the order and the doubling, each hint is received until it is deleted.
func TestFaults_NothingIsForgotten(t *testing.T) {
	t.Parallel()
	r := setup()
	rnd := rand.New(rand.NewPCG(1, 2))
	r.SetFaults(memqueue.Faults{
		Pick: rnd.IntN,
		Fate: func(string, queue.Hint) memqueue.Fate {
			return memqueue.Fate{Copies: 1 + rnd.IntN(2), Delay: time.Duration(rnd.IntN(60)) * time.Second}
		},
	})
	for id := range int64(200) {
		r.publish(t, queue.Hint{Job: id + 1})
	}
	seen := map[int64]bool{}
	for r.Depth("q") != (memqueue.Depth{}) {
		for _, m := range r.take(t, "q") {
			h, _ := queue.ParseHint(m.Body)
			if m.Receives > 1 || rnd.IntN(2) == 0 {
				seen[h.Job] = true
				_ = r.Delete(context.Background(), "q", m.Receipt)
			}
		}
		r.clock.Advance(time.Second)
	}
	if len(seen) != 200 {
		t.Errorf("received %d of 200 hints", len(seen))
	}
}

func TestNew_DeadQueueMissing(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("New did not panic")
		}
	}()
	memqueue.New(nil, memqueue.Queue{Name: "q", Dead: "nowhere", MaxReceives: 1})
}
