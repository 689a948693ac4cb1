// Command migrate brings the databases to the newest schema. The deployment
// invokes it, because they can be reached only from inside the cloud's network.
package main

import (
	"context"
	"log/slog"
	"os"

	"supportbot/functions/migrate/wire"
	"supportbot/shared/env"
	"supportbot/shared/obs"
)

// Response is what the deployment reads.
type Response struct {
	OK bool `json:"ok"`
}

// Handler is the entry point of a direct call.
func Handler(ctx context.Context, _ []byte) (*Response, error) {
	log := obs.NewLogger(os.Stdout, "migrate", slog.LevelInfo)
	if err := wire.Migrate(ctx, env.NewReader(), log); err != nil {
		return nil, err
	}
	return &Response{OK: true}, nil
}

func main() {} // the runtime calls Handler
