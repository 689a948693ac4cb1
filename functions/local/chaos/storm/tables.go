package storm

import (
	"context"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/queue"
)

// admitted reads what our own tables say of differences.
func (b *Books) admitted(ctx context.Context, w *world) (err error) {
	b.Jobs, err = rows[Listed](ctx, w, `
		SELECT key, state = 'needs_review' AS review, coalesce((result ->> 'resent')::int, 0) > 0 AS resent
		FROM jobs WHERE kind LIKE 'deliver.%' AND (state = 'needs_review' OR (result ->> 'resent')::int > 0)`)
	if err != nil {
		return err
	}
	b.Reviews, err = rows[Review](ctx, w, `
		SELECT id, kind, lane, coalesce(last_error, '') AS error, attempts, losses, coalesce((stage_data ->> 'resent')::int, 0) AS resent
		FROM jobs WHERE state = 'needs_review'`)
	if err != nil {
		return err
	}
	// Who waits for another waits for a person only if the other one does.
	b.Held, err = texts(ctx, w, `SELECT payload::text AS text FROM jobs
		WHERE state = 'needs_review' OR held_for IN (SELECT key FROM jobs WHERE state = 'needs_review')`)
	if err != nil {
		return err
	}
	for _, sql := range []string{
		`SELECT concat_ws(' ', 'the error of job', id, kind, last_error, failures) AS text FROM jobs WHERE last_error ~ $1 OR failures::text ~ $1`,
		`SELECT concat_ws(' ', 'dead letter', id, body) AS text FROM dead_letters WHERE body ~ $1`,
	} {
		spilled, err := texts(ctx, w, sql, w.log.spill.String())
		if err != nil {
			return err
		}
		b.Spilled = append(b.Spilled, spilled...)
	}
	b.Copies, err = rows[Copy](ctx, w, `
		SELECT split_part(s.content -> 'texts' ->> 'ru', ' ', 1) AS token, i.messenger || ':' || i.chat AS chat, coalesce(r.outcome, '') AS outcome
		FROM recipients r JOIN batches b ON b.id = r.batch JOIN broadcasts s ON s.id = b.broadcast JOIN identities i ON i.id = r.identity`)
	if err != nil {
		return err
	}
	return b.given(ctx, w)
}

// given reads what became of the messages that the queue gave up. What waits in a queue
// of dead letters is one of them, whichever.
func (b *Books) given(ctx context.Context, w *world) error {
	type row struct {
		Kept  int
		State string
	}
	waiting, taken := map[string]int{}, map[int64]int{}
	for _, one := range w.queue.buried() {
		found, err := rows[row](ctx, w, `SELECT (SELECT count(*) FROM dead_letters WHERE job = $1) AS kept,
			coalesce((SELECT state FROM jobs WHERE id = $1), '') AS state`, one.job)
		if err != nil {
			return err
		}
		if _, known := waiting[one.queue]; !known {
			depth := w.queue.broker.Depth(queue.Dead(one.queue))
			waiting[one.queue] = depth.Visible + depth.Hidden
		}
		l := Letter{Queue: one.queue, Job: one.job, Waits: waiting[one.queue] > 0}
		if len(found) == 1 {
			l.Kept, l.State = found[0].Kept > taken[one.job], found[0].State
		}
		if taken[one.job]++; l.Waits {
			waiting[one.queue]--
		}
		b.Letters = append(b.Letters, l)
	}
	return nil
}

func texts(ctx context.Context, w *world, sql string, args ...any) (all []string, err error) {
	type text struct{ Text string }
	found, err := rows[text](ctx, w, sql, args...)
	for _, one := range found {
		all = append(all, one.Text)
	}
	return all, err
}

func rows[T any](ctx context.Context, w *world, sql string, args ...any) ([]T, error) {
	found, err := w.db.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, pgx.RowToStructByName[T])
}
