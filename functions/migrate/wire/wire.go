// Package wire puts the migration together.
package wire

import (
	"context"
	"log/slog"

	"supportbot/shared/clickhouse"
	"supportbot/shared/env"
	"supportbot/shared/metric"
	"supportbot/shared/postgres/schema"
	"supportbot/shared/postgres/staff"
)

// Migrate brings the database at DATABASE_URL to the newest schema, and that of
// analytics at CLICKHOUSE_URL; without that variable there are no analytics. The
// address of the first has to lead to the database itself and not to a transaction
// pooler.
func Migrate(ctx context.Context, e *env.Reader, log *slog.Logger) error {
	url := e.RequiredSecret("DATABASE_URL")
	counts := e.String("CLICKHOUSE_URL", "") != ""
	var cfg clickhouse.Config
	if counts {
		cfg = clickhouse.ConfigFrom(e)
	}
	if err := e.Err(); err != nil {
		return err
	}
	if err := schema.Migrate(ctx, url.Reveal()); err != nil {
		return err
	}
	log.InfoContext(ctx, "schema is up to date")
	if !counts {
		log.WarnContext(ctx, "CLICKHOUSE_URL is unset: there are no analytics")
		return nil
	}
	if err := Analytics(ctx, cfg); err != nil {
		return err
	}
	log.InfoContext(ctx, "schema of analytics is up to date")
	return nil
}

// Admit lets in whom the deployment declares, at the DATABASE_URL of Migrate.
func Admit(ctx context.Context, e *env.Reader, log *slog.Logger, declared staff.Declared) error {
	url := e.RequiredSecret("DATABASE_URL")
	if err := e.Err(); err != nil {
		return err
	}
	if err := staff.Apply(ctx, url.Reveal(), declared); err != nil {
		return err
	}
	log.InfoContext(ctx, "staff is as declared", slog.Int("people", len(declared.People)), slog.Int("keys", len(declared.Keys)))
	return nil
}

// Analytics brings ClickHouse to the newest schema and to the views of the metrics.
func Analytics(ctx context.Context, cfg clickhouse.Config) error {
	db, err := clickhouse.Open(cfg)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	metrics, err := metric.New(metric.Files)
	if err != nil {
		return err
	}
	return db.Migrate(ctx, metrics.Views()...)
}
