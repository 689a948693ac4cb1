package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Alarms gives the names of what operators were told of and is not over.
func (db *DB) Alarms(ctx context.Context) (map[string]bool, error) {
	names, err := collect(ctx, db.pool, "read alarms", pgx.RowTo[string], `SELECT name FROM alarms`)
	raised := map[string]bool{}
	for _, n := range names {
		raised[n] = true
	}
	return raised, err
}

// SetAlarm notes that operators were told that something began, or is over.
func (db *DB) SetAlarm(ctx context.Context, name string, raised bool) error {
	sql := `DELETE FROM alarms WHERE name = $1`
	if raised {
		sql = `INSERT INTO alarms (name) VALUES ($1) ON CONFLICT DO NOTHING`
	}
	if _, err := db.pool.Exec(ctx, sql, name); err != nil {
		return fmt.Errorf("note alarm: %w", err)
	}
	return nil
}
