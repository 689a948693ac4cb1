// Command reconciler is the timer's function: it publishes forgotten jobs, rescues
// those of dead workers, completes conversations, polls Tracker and reads what a
// messenger did not bring.
package main

import (
	"context"

	"supportbot/functions/reconciler/wire"
	"supportbot/shared/reconcile"
	"supportbot/shared/redisdb"
	"supportbot/shared/wiring"
	"supportbot/shared/ycf"
)

var app = ycf.Lazy[*reconcile.Service]{Build: func() (*reconcile.Service, error) {
	rt := wiring.Cloud("reconciler")
	redisdb.LogTo(rt.Log)
	return wire.New(rt)
}}

// Handler is the entry point that the timer calls.
func Handler(ctx context.Context, ev *ycf.TimerEvent) error {
	s, err := app.Get(ctx)
	if err != nil {
		return err
	}
	return s.Handle(ctx, ev)
}

func main() {} // the runtime calls Handler
