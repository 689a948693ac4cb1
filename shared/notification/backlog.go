package notification

import (
	"context"
	"net/http"
)

// DefaultBacklog is how many due jobs of a queue may wait for somebody to begin them. More
// is what a crowd of customers makes at its worst, or workers that do not work; then
// nobody adds to it but the customers.
const DefaultBacklog = 10_000

// backlogWait is when a refused caller may come again, in seconds.
const backlogWait = "60"

// admitWork refuses a call that would make work for queues of which too much waits.
// Webhooks do not ask: what a customer wrote is always taken.
func (a *API) admitWork(ctx context.Context, c *call, queues ...string) error {
	for _, queue := range queues {
		n, err := a.d.Store.Backlog(ctx, queue)
		if err != nil {
			return err
		}
		if n > a.d.BacklogMost {
			c.header.Set("Retry-After", backlogWait)
			return refuse(http.StatusTooManyRequests, "too much work waits: nothing was done, repeat the call later with the same Idempotency-Key")
		}
	}
	return nil
}
