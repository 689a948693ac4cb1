// Command tracker-worker works on the queue deliveries: Tracker's news for one customer.
package main

import (
	"context"
	"time"

	"supportbot/functions/tracker-worker/wire"
	"supportbot/shared/job"
	"supportbot/shared/wiring"
	"supportbot/shared/ycf"
)

var app = ycf.Lazy[*job.Worker]{Timeout: 5 * time.Second, Build: func(context.Context) (*job.Worker, error) {
	return wire.New(wiring.Cloud("tracker-worker"))
}}

// Handler is the entry point that the queue's trigger calls.
func Handler(ctx context.Context, ev *ycf.QueueEvent) error {
	w, err := app.Get(ctx)
	if err != nil {
		return err
	}
	return w.Handle(ctx, ev)
}

func main() {} // the runtime calls Handler
