// Command analytics-loader is the timer's function that loads tickets, messages and
// broadcasts into ClickHouse; called with {"since": "2025-01-01"} it loads the
// history since then, as much of it as one call can.
package main

import (
	"context"
	"log/slog"
	"os"

	"supportbot/functions/analytics-loader/wire"
	"supportbot/shared/analytics/loader"
	"supportbot/shared/env"
	"supportbot/shared/obs"
	"supportbot/shared/redisdb"
	"supportbot/shared/ycf"
)

var app = ycf.Lazy[*wire.Function]{Build: func() (*wire.Function, error) {
	log := obs.NewLogger(os.Stdout, "analytics-loader", slog.LevelInfo)
	redisdb.LogTo(log)
	return wire.New(env.NewReader(), log, nil)
}}

// Handler is the entry point of the timer and of a direct call.
func Handler(ctx context.Context, event []byte) (*loader.Report, error) {
	f, err := app.Get(ctx)
	if err != nil {
		return nil, err
	}
	report, err := f.Handle(ctx, event)
	return &report, err
}

func main() {} // the runtime calls Handler
