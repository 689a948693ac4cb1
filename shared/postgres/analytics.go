package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/analytics"
	"supportbot/shared/job"
	"supportbot/shared/ticket"
)

// BeginLoad gives a load, which it begins if there is none of its name.
func (db *DB) BeginLoad(ctx context.Context, l analytics.Load) (analytics.Load, error) {
	_, err := db.pool.Exec(ctx, `
		INSERT INTO analytics_loads (name, since, until, reached, started_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (name) DO NOTHING`, l.Name, l.Since, orNull(l.Until), l.Reached, l.StartedAt)
	if err != nil {
		return l, fmt.Errorf("begin load: %w", err)
	}
	found, err := db.Load(ctx, l.Name)
	if err == nil && found == nil {
		err = fmt.Errorf("begin load: %q is gone", l.Name)
	}
	if err != nil {
		return l, err
	}
	return *found, nil
}

// Load gives a load; nil when there is none of this name.
func (db *DB) Load(ctx context.Context, name string) (*analytics.Load, error) {
	l := analytics.Load{Name: name}
	var until, finished *time.Time
	err := db.pool.QueryRow(ctx, `
		SELECT since, until, reached, tickets, coalesce(remaining, -1), started_at, finished_at
		FROM analytics_loads WHERE name = $1`, name).
		Scan(&l.Since, &until, &l.Reached, &l.Tickets, &l.Remaining, &l.StartedAt, &finished)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read load: %w", err)
	}
	l.Until, l.FinishedAt = orZero(until), orZero(finished)
	return &l, nil
}

// AdvanceLoad notes how far a load has come, once its rows are in. It never goes
// back: a run that was overtaken changes nothing.
func (db *DB) AdvanceLoad(ctx context.Context, a analytics.Advance) error {
	err := db.inTx(ctx, func(tx pgx.Tx) error {
		b := &pgx.Batch{}
		b.Queue(`
			UPDATE analytics_loads SET reached = greatest(reached, $2), tickets = tickets + $3,
				remaining = coalesce(nullif($4::bigint, -1), remaining), updated_at = clock_timestamp(),
				finished_at = CASE WHEN $5 THEN coalesce(finished_at, clock_timestamp()) ELSE finished_at END
			WHERE name = $1`, a.Name, a.Reached, a.Tickets, a.Remaining, a.Finished)
		b.Queue(`DELETE FROM analytics_owed WHERE issue = ANY($1)`, append([]string{}, a.Settled...))
		for _, o := range a.Owed {
			b.Queue(`
				INSERT INTO analytics_owed (issue, last_error) VALUES ($1, $2)
				ON CONFLICT (issue) DO UPDATE SET tries = analytics_owed.tries + 1, last_error = excluded.last_error`, o.Issue, o.Error)
		}
		return tx.SendBatch(ctx, b).Close()
	})
	if err != nil {
		return fmt.Errorf("advance load: %w", err)
	}
	return nil
}

// ForgetLoads forgets the loads that have loaded something, and the watermark counts.
func (db *DB) ForgetLoads(ctx context.Context, counts string) (forgotten bool, err error) {
	err = db.inTx(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `DELETE FROM analytics_loads WHERE tickets > 0`)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		forgotten = true
		_, err = tx.Exec(ctx, `DELETE FROM watermarks WHERE name = $1`, counts)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("forget loads: %w", err)
	}
	return forgotten, nil
}

// OwedTickets gives tickets that loads had to leave out, those that were tried least
// first.
func (db *DB) OwedTickets(ctx context.Context, limit int) ([]string, error) {
	rows, err := db.pool.Query(ctx, `SELECT issue FROM analytics_owed ORDER BY tries, owed_at LIMIT $1`, limit)
	if err != nil {
		return nil, fmt.Errorf("list owed tickets: %w", err)
	}
	issues, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("list owed tickets: %w", err)
	}
	return issues, nil
}

// messagesKept is how old a day may be of which all jobs are still there: they are
// kept at least so long after they were made.
const messagesKept = job.Keep - 24*time.Hour

// countMessages counts what came by when it came and what was sent by when it was
// sent. The lane names the messenger (ticket.InboundLane, OutboundLane).
const countMessages = `
SELECT (at AT TIME ZONE 'UTC')::date, split_part(lane, ':', 2), direction, kind, count(*)
FROM (
	SELECT lane, kind, CASE WHEN queue = $2 THEN 'in' ELSE 'out' END AS direction,
		CASE WHEN queue = $2 THEN created_at ELSE finished_at END AS at
	FROM jobs
	WHERE (queue = $2 AND kind = ANY($3) AND created_at >= $1)
		OR (queue = $4 AND kind = ANY($5) AND state = 'completed' AND finished_at >= $1)
) m
GROUP BY 1, 2, 3, 4
ORDER BY 1, 2, 3, 4`

// CountMessages counts the messages of each day (UTC) from that of since on, or from
// the oldest day that is still whole. A count only grows while its day is whole.
func (db *DB) CountMessages(ctx context.Context, since time.Time) ([]analytics.Messages, error) {
	var now time.Time
	if err := db.pool.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&now); err != nil {
		return nil, fmt.Errorf("count messages: %w", err)
	}
	if oldest := now.Add(-messagesKept); since.Before(oldest) {
		since = oldest.Add(24 * time.Hour)
	}
	rows, err := db.pool.Query(ctx, countMessages, since.UTC().Truncate(24*time.Hour),
		ticket.QueueTickets, []string{ticket.KindCreate, ticket.KindComment, ticket.KindReopen},
		ticket.QueueDeliveries, []string{ticket.KindAnswer, ticket.KindEdit, ticket.KindStatus, ticket.KindNotice})
	if err != nil {
		return nil, fmt.Errorf("count messages: %w", err)
	}
	counts, err := pgx.CollectRows(rows, pgx.RowToStructByPos[analytics.Messages])
	if err != nil {
		return nil, fmt.Errorf("count messages: %w", err)
	}
	return counts, nil
}

// CountBatches gives how the batches of broadcasts stand that were not over at
// since. They are kept when their recipients are deleted.
func (db *DB) CountBatches(ctx context.Context, since time.Time) ([]analytics.Batch, error) {
	rows, err := db.pool.Query(ctx, `
		SELECT b.broadcast, b.id, c.kind, coalesce(c.relation, ''), b.messenger, c.created_at, b.started_at, b.done_at,
			b.size, b.sent, b.blocked, b.failed, b.uncertain, b.skipped, clock_timestamp()
		FROM broadcasts c JOIN batches b ON b.broadcast = c.id
		WHERE (c.finished_at IS NULL OR c.finished_at >= $1) AND (b.done_at IS NULL OR b.done_at >= $1)
		ORDER BY b.id`, since)
	if err != nil {
		return nil, fmt.Errorf("count batches: %w", err)
	}
	batches, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (b analytics.Batch, err error) {
		var started, done *time.Time
		err = row.Scan(&b.Broadcast, &b.ID, &b.Kind, &b.Relation, &b.Messenger, &b.CreatedAt, &started, &done,
			&b.Size, &b.Sent, &b.Blocked, &b.Failed, &b.Uncertain, &b.Skipped, &b.ReadAt)
		b.StartedAt, b.DoneAt = orZero(started), orZero(done)
		return b, err
	})
	if err != nil {
		return nil, fmt.Errorf("count batches: %w", err)
	}
	return batches, nil
}

func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}
