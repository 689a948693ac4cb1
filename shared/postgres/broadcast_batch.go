package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/broadcast"
	"supportbot/shared/job"
)

// Batch gives a batch with its counts as they are now; job.ErrNotFound when there is
// none.
func (db *DB) Batch(ctx context.Context, id int64) (broadcast.Batch, error) {
	b, err := scanBatch(db.pool.QueryRow(ctx, `
		SELECT b.id, b.broadcast, b.messenger, b.bot, b.number, b.size, c.sent, c.blocked, c.failed, c.uncertain, c.skipped
		FROM batches b CROSS JOIN LATERAL (SELECT `+outcomes+` FROM recipients r WHERE r.batch = b.id) c
		WHERE b.id = $1`, id))
	if errors.Is(err, pgx.ErrNoRows) {
		err = job.ErrNotFound
	}
	if err != nil {
		return broadcast.Batch{}, fmt.Errorf("read batch %d: %w", id, err)
	}
	return b, nil
}

// outcomes counts recipients.
const outcomes = `
	count(*) FILTER (WHERE r.outcome = 'sent')::int AS sent, count(*) FILTER (WHERE r.outcome = 'blocked')::int AS blocked,
	count(*) FILTER (WHERE r.outcome = 'failed')::int AS failed, count(*) FILTER (WHERE r.outcome = 'uncertain')::int AS uncertain,
	count(*) FILTER (WHERE r.outcome = 'skipped')::int AS skipped, count(*) FILTER (WHERE r.outcome IS NULL)::int AS left`

// recount stores what the recipients of batches $1 say; where they were deleted the
// counts stay. It follows lockBatches in the same transaction, as a statement of its
// own: so a count that began earlier cannot be written later.
const recount = `
UPDATE batches b SET sent = c.sent, blocked = c.blocked, failed = c.failed, uncertain = c.uncertain, skipped = c.skipped,
	done_at = CASE WHEN c.left = 0 THEN coalesce(b.done_at, clock_timestamp()) END
FROM (SELECT r.batch, ` + outcomes + ` FROM recipients r WHERE r.batch = ANY($1) GROUP BY r.batch) c
WHERE b.id = c.batch`

const lockBatches = ` FROM batches WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE`

// Count recounts a batch from its recipients and stores that. It need not reach the
// disk: what is lost is counted again.
func (db *DB) Count(ctx context.Context, id int64) (broadcast.Counts, error) {
	ids := []int64{id}
	var counted broadcast.Batch
	err := again(func() error {
		b := &pgx.Batch{}
		b.Queue(`SELECT `+notDurable+lockBatches, ids)
		b.Queue(recount+` RETURNING b.id, b.broadcast, b.messenger, b.bot, b.number, b.size, b.sent, b.blocked, b.failed, b.uncertain, b.skipped`, ids).
			QueryRow(func(row pgx.Row) (err error) {
				counted, err = scanBatch(row)
				return err
			})
		return db.pool.SendBatch(ctx, b).Close()
	})
	if errors.Is(err, pgx.ErrNoRows) {
		err = job.ErrNotFound
	}
	if err != nil {
		return broadcast.Counts{}, fmt.Errorf("count batch %d: %w", id, err)
	}
	return counted.Counts, nil
}

// Rest says how many of a batch have no outcome, and in how long the first of them
// may be tried: when its time comes, or when its claim is stale.
func (db *DB) Rest(ctx context.Context, batch int64) (open int, in time.Duration, err error) {
	var wait float64
	err = db.pool.QueryRow(ctx, `
		SELECT count(*), coalesce(extract(epoch FROM min(CASE WHEN claim IS NULL THEN coalesce(not_before, clock_timestamp())
			ELSE claimed_at + make_interval(secs => $2) END) - clock_timestamp()), 0)::float8
		FROM recipients WHERE batch = $1 AND outcome IS NULL`, batch, broadcast.StaleClaim.Seconds()).Scan(&open, &wait)
	if err != nil {
		return 0, 0, fmt.Errorf("look what is left of batch %d: %w", batch, err)
	}
	return open, max(seconds(wait), 0), nil
}

// Overtaken reports whether a due job of higher priority waits in the lane.
func (db *DB) Overtaken(ctx context.Context, lane string, priority int) (over bool, err error) {
	err = db.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM jobs
		WHERE lane = $1 AND open AND held_at IS NULL AND priority > $2 AND run_at <= clock_timestamp())`, lane, priority).Scan(&over)
	if err != nil {
		return false, fmt.Errorf("look for more urgent jobs: %w", err)
	}
	return over, nil
}
