// Command reconciler is the timer's function: it publishes forgotten jobs, rescues
// those of dead workers, completes conversations and polls Tracker.
package main

import (
	"context"
	"time"

	"supportbot/functions/reconciler/wire"
	"supportbot/shared/reconcile"
	"supportbot/shared/wiring"
	"supportbot/shared/ycf"
)

var app = ycf.Lazy[*reconcile.Service]{Timeout: 5 * time.Second, Build: func(context.Context) (*reconcile.Service, error) {
	return wire.New(wiring.Cloud("reconciler"))
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
