// Package wire puts the migration together.
package wire

import (
	"context"
	"log/slog"

	"supportbot/shared/env"
	"supportbot/shared/postgres/schema"
)

// Migrate brings the database at DATABASE_URL to the newest schema. The address
// has to lead to the database itself and not to a transaction pooler.
func Migrate(ctx context.Context, e *env.Reader, log *slog.Logger) error {
	url := e.RequiredSecret("DATABASE_URL")
	if err := e.Err(); err != nil {
		return err
	}
	if err := schema.Migrate(ctx, url.Reveal()); err != nil {
		return err
	}
	log.InfoContext(ctx, "schema is up to date")
	return nil
}
