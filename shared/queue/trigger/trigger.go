// Package trigger stands for the cloud's triggers in the local run and the tests:
// it takes messages from a queue, calls the function with the event that a
// Message Queue trigger would send, and deletes them if it succeeds. A job
// reaches a worker only by this way, here as in the cloud.
package trigger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"supportbot/shared/obs"
	"supportbot/shared/queue"
	"supportbot/shared/ycf"
)

// Queue is a queue and the function that its trigger calls.
type Queue struct {
	Name   string
	Handle func(ctx context.Context, ev *ycf.QueueEvent) error
	// Batch is how many messages a call has at most; 0: 1, as in the cloud.
	Batch int
	// Cutoff is how long a call waits for its batch to fill, from its first
	// message on; 0: not at all.
	Cutoff time.Duration
	// Timeout is the function's time-out; 0: one minute. The queue's visibility
	// time-out has to be longer.
	Timeout time.Duration
	// Parallel is how many calls run at once; 0: 10, the cloud's default quota.
	Parallel int
}

const (
	defaultTimeout  = time.Minute
	defaultParallel = 10
	poll            = 20 * time.Second
	deleteTime      = 10 * time.Second
	pauseAfterError = time.Second
)

// errTimeout is the outcome of a call that was not over in its time.
var errTimeout = errors.New("the function's time is over")

// Run serves the queues until ctx ends; then it takes nothing more and returns
// when the calls under way are over, whose contexts have ended too. Messages of a
// call that fails, panics or runs out of time are left to come again after the
// visibility time-out, the whole batch.
func Run(ctx context.Context, log *slog.Logger, source queue.Source, queues ...Queue) {
	var all sync.WaitGroup
	for _, q := range queues {
		all.Add(1)
		go func() {
			defer all.Done()
			t := newTrigger(log, source, q)
			t.run(obs.With(ctx, slog.String("queue", q.Name)))
		}()
	}
	all.Wait()
}

type trigger struct {
	Queue
	log    *slog.Logger
	source queue.Source
	slots  chan struct{} // one per call that runs
}

func newTrigger(log *slog.Logger, source queue.Source, q Queue) *trigger {
	q.Batch = max(q.Batch, 1)
	if q.Timeout <= 0 {
		q.Timeout = defaultTimeout
	}
	if q.Parallel <= 0 {
		q.Parallel = defaultParallel
	}
	return &trigger{Queue: q, log: log, source: source, slots: make(chan struct{}, q.Parallel)}
}

// run takes a slot before it takes messages: what waits should wait in the queue.
func (t *trigger) run(ctx context.Context) {
	var calls sync.WaitGroup
	defer calls.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case t.slots <- struct{}{}:
		}
		batch := t.gather(ctx)
		if len(batch) == 0 {
			<-t.slots
			continue
		}
		calls.Add(1)
		go func() {
			defer func() { <-t.slots; calls.Done() }()
			t.serve(ctx, batch)
		}()
	}
}

// gather waits for a first message and then, for the cutoff, for the rest of a
// batch.
func (t *trigger) gather(ctx context.Context) []queue.Message {
	batch := t.receive(ctx, t.Batch, poll)
	if len(batch) == 0 || t.Cutoff <= 0 {
		return batch
	}
	for end := time.Now().Add(t.Cutoff); len(batch) < t.Batch; {
		rest := time.Until(end)
		more := t.receive(ctx, t.Batch-len(batch), max(rest, 0))
		batch = append(batch, more...)
		if ctx.Err() != nil || rest <= 0 {
			break
		}
	}
	return batch
}

// receive logs what goes wrong, and waits a little before it is tried again.
func (t *trigger) receive(ctx context.Context, limit int, wait time.Duration) []queue.Message {
	messages, err := t.source.Receive(ctx, t.Name, limit, wait)
	if err == nil || ctx.Err() != nil {
		return messages
	}
	t.log.WarnContext(ctx, "queue not read", slog.Any(obs.Error, err))
	select {
	case <-ctx.Done():
	case <-time.After(pauseAfterError):
	}
	return nil
}

// serve calls the function with a batch and deletes it on success.
func (t *trigger) serve(ctx context.Context, batch []queue.Message) {
	ctx = ycf.WithRequestID(ctx, ycf.NewRequestID())
	if err := t.call(ctx, batch); err != nil {
		t.log.WarnContext(ctx, "call failed, its messages come again",
			slog.Int("messages", len(batch)), slog.Any(obs.Error, err))
		return
	}
	receipts := make([]string, len(batch))
	for i := range batch {
		receipts[i] = batch[i].Receipt
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteTime)
	defer cancel()
	if err := t.source.Delete(ctx, t.Name, receipts...); err != nil {
		t.log.WarnContext(ctx, "messages not deleted, they come again", slog.Any(obs.Error, err))
	}
}

// call gives up on a function that does not return in its time, as the cloud
// does. When ctx ends the function is told, and may use the rest of its time.
func (t *trigger) call(ctx context.Context, batch []queue.Message) error {
	ev, err := event(t.Name, batch)
	if err != nil {
		return err
	}
	overdue, stop := context.WithTimeoutCause(context.WithoutCancel(ctx), t.Timeout, errTimeout)
	defer stop()
	ctx, cancel := context.WithTimeoutCause(ctx, t.Timeout, errTimeout)
	done := make(chan error, 1)
	go func() {
		defer cancel()
		done <- ycf.Guard(func() error { return t.Handle(ctx, ev) })
	}()
	select {
	case err = <-done:
	case <-overdue.Done():
	}
	// A result that came too late counts for nothing, by whichever of the two.
	if overdue.Err() != nil || errors.Is(context.Cause(ctx), errTimeout) {
		return errTimeout
	}
	return err
}

// event goes through the trigger's JSON, so that a function sees what it would
// see in the cloud.
func event(name string, batch []queue.Message) (*ycf.QueueEvent, error) {
	out := ycf.QueueEvent{Messages: make([]ycf.QueueMessage, len(batch))}
	for i, m := range batch {
		out.Messages[i] = ycf.QueueMessage{
			Event:      ycf.Metadata{ID: m.ID, CreatedAt: m.SentAt, CloudID: localID, FolderID: localID},
			Queue:      "yrn:yc:ymq:ru-central1:" + localID + ":" + name,
			ID:         m.ID,
			Body:       m.Body,
			Receives:   m.Receives,
			SentAt:     m.SentAt,
			Attributes: m.Attributes,
		}
	}
	data, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("encode event: %w", err)
	}
	var ev ycf.QueueEvent
	if err := json.Unmarshal(data, &ev); err != nil {
		return nil, fmt.Errorf("decode event: %w", err)
	}
	return &ev, nil
}

// localID is where a cloud or folder would be named.
const localID = "local"
