package trigger_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"supportbot/shared/obs"
	"supportbot/shared/queue"
	"supportbot/shared/queue/memqueue"
	"supportbot/shared/queue/trigger"
	"supportbot/shared/ycf"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const visibility = 30 * time.Second

var errAway = errors.New("store away")

// rig is a broker on a clock of its own and a trigger that runs until the test
// ends.
type rig struct {
	*memqueue.Broker
	clock *memqueue.ManualClock
	log   *lines
	stop  func() // ends the trigger and waits for it
}

func setup(t *testing.T, queues ...trigger.Queue) *rig {
	t.Helper()
	clock := memqueue.NewManualClock(time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC))
	made := []memqueue.Queue{{Name: "dead"}}
	for _, q := range queues {
		made = append(made, memqueue.Queue{Name: q.Name, Visibility: visibility, MaxReceives: 3, Dead: "dead"})
	}
	r := &rig{Broker: memqueue.New(clock, made...), clock: clock, log: newLines()}
	r.run(t, r.Broker, queues...)
	return r
}

func (r *rig) run(t *testing.T, source queue.Source, queues ...trigger.Queue) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		trigger.Run(ctx, obs.NewLogger(r.log, "local", slog.LevelInfo), source, queues...)
	}()
	r.stop = func() { cancel(); <-done }
	t.Cleanup(r.stop)
}

func (r *rig) publish(tb testing.TB, name string, jobs ...int64) {
	tb.Helper()
	for _, id := range jobs {
		if err := r.Publish(context.Background(), name, queue.Hint{Job: id, CorrelationID: "c"}); err != nil {
			tb.Fatal(err)
		}
	}
}

// lines is a log to wait on.
type lines struct {
	mu   sync.Mutex
	more *sync.Cond
	text string
}

func newLines() *lines {
	l := &lines{}
	l.more = sync.NewCond(&l.mu)
	return l
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text += string(b)
	l.more.Broadcast()
	return len(b), nil
}

// await returns when the log has the text n times.
func (l *lines) await(text string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for strings.Count(l.text, text) < n {
		l.more.Wait()
	}
}

func (l *lines) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text, text)
}

// jobs are the jobs that an event names.
func jobs(ev *ycf.QueueEvent) []int64 {
	var ids []int64
	for _, m := range ev.Messages {
		h, _ := queue.ParseHint(m.Body)
		ids = append(ids, h.Job)
	}
	return ids
}

// calls is a function whose calls the test sees and answers.
type calls struct {
	events  chan *ycf.QueueEvent
	answers chan error
}

func newCalls() *calls {
	return &calls{events: make(chan *ycf.QueueEvent), answers: make(chan error)}
}

func (c *calls) handle(_ context.Context, ev *ycf.QueueEvent) error {
	c.events <- ev
	return <-c.answers
}

func (c *calls) next(t *testing.T, answer error, want ...int64) *ycf.QueueEvent {
	t.Helper()
	ev := <-c.events
	if got := jobs(ev); !slices.Equal(got, want) {
		t.Errorf("call: got jobs %v, want %v", got, want)
	}
	c.answers <- answer
	return ev
}

func TestRun_EventAsInTheCloud(t *testing.T) {
	t.Parallel()
	c := newCalls()
	r := setup(t, trigger.Queue{Name: "tickets", Handle: c.handle})
	r.publish(t, "tickets", 7)
	ev := c.next(t, nil, 7)
	r.stop()

	sent := r.clock.Now()
	want := ycf.QueueMessage{
		Event: ycf.Metadata{ID: "m-1", Type: "yandex.cloud.events.messagequeue.QueueMessage", CreatedAt: sent, CloudID: "local", FolderID: "local"},
		Queue: "yrn:yc:ymq:ru-central1:local:tickets", ID: "m-1", Body: `{"job":7,"correlation_id":"c"}`, Receives: 1, SentAt: sent,
	}
	if diff := cmp.Diff([]ycf.QueueMessage{want}, ev.Messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if got := r.Depth("tickets"); got != (memqueue.Depth{}) {
		t.Errorf("depth after success: got %+v, want nothing", got)
	}
}

func TestRun_WholeBatchComesAgain(t *testing.T) {
	t.Parallel()
	late := func(ctx context.Context) error { <-ctx.Done(); return nil }
	tests := map[string]struct {
		fail func(ctx context.Context) error
		log  string
	}{
		"error":                     {func(context.Context) error { return errAway }, "store away"},
		"panic":                     {func(context.Context) error { panic("canary") }, "panicked at"},
		"time-out":                  {func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, "time is over"},
		"success after the time":    {late, "time is over"},
		"never returns in its life": {nil, "time is over"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hang := make(chan struct{})
			t.Cleanup(func() { close(hang) })
			if tc.fail == nil {
				tc.fail = func(context.Context) error { <-hang; return nil }
			}
			again := make(chan *ycf.QueueEvent, 1)
			var failed atomic.Bool
			r := setup(t, trigger.Queue{Name: "q", Batch: 2, Cutoff: time.Minute, Parallel: 1, Timeout: 100 * time.Millisecond,
				Handle: func(ctx context.Context, ev *ycf.QueueEvent) error {
					if !failed.Swap(true) {
						return tc.fail(ctx)
					}
					again <- ev
					return nil
				}})
			r.publish(t, "q", 1, 2)
			r.log.await(tc.log, 1)
			if got, want := r.Depth("q"), (memqueue.Depth{Hidden: 2}); got != want {
				t.Errorf("depth after the failure: got %+v, want %+v", got, want)
			}
			r.clock.Advance(visibility)
			ev := <-again
			if got := jobs(ev); !slices.Equal(got, []int64{1, 2}) || ev.Messages[0].Receives != 2 {
				t.Errorf("second call: got jobs %v, %d receives, want 1 and 2 for the second time", got, ev.Messages[0].Receives)
			}
			if r.log.has("canary") {
				t.Error("the log tells what the panic carried")
			}
		})
	}
}

func TestRun_DeadLetter(t *testing.T) {
	t.Parallel()
	c := newCalls()
	r := setup(t, trigger.Queue{Name: "q", Handle: c.handle})
	r.publish(t, "q", 1)
	for n := 1; n <= 3; n++ {
		c.next(t, errAway, 1)
		r.log.await("store away", n)
		r.clock.Advance(visibility)
	}
	got, err := r.Receive(context.Background(), "dead", 1, 20*time.Second)
	if err != nil || len(got) != 1 {
		t.Errorf("dead letters: got %v, %v, want one", got, err)
	}
}

func TestRun_BatchSize(t *testing.T) {
	t.Parallel()
	c := newCalls()
	r := setup(t, trigger.Queue{Name: "one", Handle: c.handle, Parallel: 1})
	r.publish(t, "one", 1, 2)
	c.next(t, nil, 1)
	c.next(t, nil, 2)

	many := newCalls()
	r = setup(t, trigger.Queue{Name: "many", Handle: many.handle, Batch: 25, Cutoff: time.Minute})
	var want []int64
	for id := range int64(25) {
		want = append(want, id+1)
	}
	r.publish(t, "many", want...)
	many.next(t, nil, want...)
}

func TestRun_ParallelCallsAreLimited(t *testing.T) {
	t.Parallel()
	c := newCalls()
	r := setup(t, trigger.Queue{Name: "q", Handle: c.handle, Parallel: 2})
	r.publish(t, "q", 1, 2, 3)
	one, two := <-c.events, <-c.events
	if got := append(jobs(one), jobs(two)...); len(got) != 2 {
		t.Errorf("calls at once: got %v", got)
	}
	// The third message has not been taken: it waits where others could take it.
	if got, want := r.Depth("q"), (memqueue.Depth{Visible: 1, Hidden: 2}); got != want {
		t.Errorf("depth: got %+v, want %+v", got, want)
	}
	c.answers <- nil
	c.answers <- nil
	c.next(t, nil, 3)
}

func TestRun_SeveralQueues(t *testing.T) {
	t.Parallel()
	a, b := newCalls(), newCalls()
	r := setup(t, trigger.Queue{Name: "a", Handle: a.handle}, trigger.Queue{Name: "b", Handle: b.handle})
	r.publish(t, "b", 2)
	r.publish(t, "a", 1)
	b.next(t, nil, 2)
	a.next(t, nil, 1)
}

func TestRun_StopTellsCallsAndWaitsForThem(t *testing.T) {
	t.Parallel()
	began, ended := make(chan string), false
	r := setup(t, trigger.Queue{Name: "q", Handle: func(ctx context.Context, _ *ycf.QueueEvent) error {
		began <- ycf.RequestID(ctx)
		<-ctx.Done()
		ended = true
		return nil
	}})
	r.publish(t, "q", 1)
	if id := <-began; len(id) != 36 {
		t.Errorf("request id: got %q, want a UUID", id)
	}
	r.stop()
	if !ended {
		t.Error("Run returned before the call did")
	}
	if got := r.Depth("q"); got != (memqueue.Depth{}) {
		t.Errorf("depth after a call that wound up well: got %+v, want nothing", got)
	}
}

// away is a source that fails at first.
type away struct {
	queue.Source
	left int
}

func (a *away) Receive(ctx context.Context, name string, limit int, wait time.Duration) ([]queue.Message, error) {
	if a.left--; a.left >= 0 {
		return nil, fmt.Errorf("receive: %w", io.ErrUnexpectedEOF)
	}
	return a.Source.Receive(ctx, name, limit, wait)
}

func TestRun_SourceAwayForAWhile(t *testing.T) {
	t.Parallel()
	c := newCalls()
	r := setup(t)
	broker := memqueue.New(nil, memqueue.Queue{Name: "q"})
	if err := broker.Publish(context.Background(), "q", queue.Hint{Job: 1}); err != nil {
		t.Fatal(err)
	}
	r.run(t, &away{broker, 1}, trigger.Queue{Name: "q", Handle: c.handle})
	c.next(t, nil, 1)
	r.log.await("queue not read", 1)
}

func TestTimer(t *testing.T) {
	t.Parallel()
	log, ticks := newLines(), make(chan time.Time)
	events := make(chan *ycf.TimerEvent)
	n := 0
	timer := trigger.Timer{
		Name: "reconciler", Payload: "all", Ticks: ticks, Log: obs.NewLogger(log, "local", slog.LevelInfo),
		Handle: func(_ context.Context, ev *ycf.TimerEvent) error {
			events <- ev
			switch n++; n {
			case 2:
				return errAway
			case 3:
				panic("canary")
			}
			return nil
		},
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); timer.Run(ctx) }()

	if ev := <-events; ev.Payload() != "all" { // at once
		t.Errorf("payload: got %q, want all", ev.Payload())
	}
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for range 3 { // neither an error nor a panic ends it
		ticks <- now
		if ev := <-events; !ev.Messages[0].Event.CreatedAt.Equal(now) {
			t.Errorf("created at: got %s, want %s", ev.Messages[0].Event.CreatedAt, now)
		}
	}
	cancel()
	<-done
	log.await("store away", 1)
	log.await("panicked at", 1)
}

func TestTimer_TimeoutAndStop(t *testing.T) {
	t.Parallel()
	log := newLines()
	began := make(chan struct{}, 1)
	timer := trigger.Timer{
		Every: time.Hour, Timeout: time.Millisecond, Log: obs.NewLogger(log, "local", slog.LevelInfo),
		Handle: func(ctx context.Context, _ *ycf.TimerEvent) error {
			began <- struct{}{}
			<-ctx.Done()
			return nil
		},
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); timer.Run(ctx) }()
	<-began
	log.await("time is over", 1)
	cancel()
	<-done
}
