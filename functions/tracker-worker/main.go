// Command tracker-worker works on the queue deliveries: Tracker's news for one customer.
package main

import (
	"context"

	"supportbot/functions/tracker-worker/wire"
	"supportbot/shared/job"
	"supportbot/shared/redisdb"
	"supportbot/shared/wiring"
	"supportbot/shared/ycf"
)

var app = ycf.Lazy[*job.Worker]{Build: func() (*job.Worker, error) {
	rt := wiring.Cloud("tracker-worker")
	redisdb.LogTo(rt.Log)
	return wire.New(rt)
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
