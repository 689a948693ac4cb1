package host_test

import (
	"context"
	"time"

	host "supportbot/.ci/host"
)

// feed calls a worker as its trigger does, as long as the test lasts. The channel
// has a value after calls that were made since it was last read.
func (w *world) feed(worker *host.Process, name string) (handled <-chan struct{}) {
	ctx, stop := context.WithCancel(w.ctx)
	done, some := make(chan struct{}), make(chan struct{}, 1)
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if err := w.batch(ctx, worker, name); err != nil && ctx.Err() == nil {
				w.t.Errorf("feed worker from %s: %v", name, err)
				return
			}
			select {
			case some <- struct{}{}:
			default:
			}
		}
	}()
	w.t.Cleanup(func() { stop(); <-done })
	return some
}

// batch takes messages off the queue once the worker has succeeded with them.
func (w *world) batch(ctx context.Context, worker *host.Process, name string) error {
	messages, err := w.queue.Receive(ctx, name, 10, 5*time.Second)
	if err != nil || len(messages) == 0 {
		return err
	}
	event, err := host.QueueEvent(name, messages...)
	if err != nil {
		return err
	}
	if err := worker.Trigger(event); err != nil {
		return err
	}
	for _, m := range messages {
		if err := w.queue.Delete(ctx, name, m.Receipt); err != nil {
			return err
		}
	}
	return nil
}

// completes waits until the only job of a kind is done by the worker that is fed.
func (w *world) completes(handled <-chan struct{}, kind string) {
	w.t.Helper()
	for patience := w.patience(); ; {
		j := w.theJob(kind)
		if j.State == "completed" {
			return
		}
		select {
		case <-handled:
		case <-patience.Done():
			w.t.Fatalf("job %+v was not completed", j)
		}
	}
}
