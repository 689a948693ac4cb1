// Command migrate brings the databases to the newest schema and lets in whom the
// deployment declares. The deployment invokes it, because the databases can be reached
// only from inside the cloud's network.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"

	"supportbot/functions/migrate/wire"
	"supportbot/shared/env"
	"supportbot/shared/obs"
	"supportbot/shared/postgres/staff"
)

// Response is what the deployment reads. Archive is the hash of what the function was
// made of: where a new version cannot be built, the cloud leaves the one of before in
// place, which would say that all is well.
type Response struct {
	OK      bool   `json:"ok"`
	Archive string `json:"archive"`
}

// Handler is the entry point of a direct call, whose body is what is declared; {} or
// nothing declares nothing.
func Handler(ctx context.Context, body []byte) (*Response, error) {
	var declared staff.Declared
	if len(body) > 0 {
		if err := json.Unmarshal(body, &declared); err != nil {
			return nil, fmt.Errorf("read what is declared: %w", err)
		}
	}
	e := env.NewReader()
	log := obs.NewLogger(os.Stdout, "migrate", slog.LevelInfo)
	if err := wire.Migrate(ctx, e, log); err != nil {
		return nil, err
	}
	if err := wire.Admit(ctx, e, log, declared); err != nil {
		return nil, err
	}
	return &Response{OK: true, Archive: e.String("ARCHIVE_SHA256", "")}, nil
}

func main() {} // the runtime calls Handler
