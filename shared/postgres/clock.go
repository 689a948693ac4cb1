package postgres

import (
	"context"
	"fmt"
	"time"
)

// Now gives the time by the database's clock, which is the same for all functions.
func (db *DB) Now(ctx context.Context) (now time.Time, err error) {
	if err := db.pool.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&now); err != nil {
		return time.Time{}, fmt.Errorf("read clock: %w", err)
	}
	return now, nil
}
