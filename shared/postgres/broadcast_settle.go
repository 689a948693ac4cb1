package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/broadcast"
)

// left is true of a broadcast $1 that has recipients without an outcome. It looks in
// batches that are not known to be done, one after the other, and stops at the first
// recipient: a subquery with a limit is no join that could be done the other way
// round.
const left = `EXISTS (SELECT FROM batches b WHERE b.broadcast = $1 AND b.done_at IS NULL AND
	(SELECT r.n FROM recipients r WHERE r.batch = b.id AND r.outcome IS NULL ORDER BY r.n LIMIT 1) IS NOT NULL)`

// flying is true of a broadcast $1 of which a call may be under way. A claim older
// than $2 seconds is none: its run has died, and the next one deals with it.
const flying = `EXISTS (SELECT FROM batches b WHERE b.broadcast = $1 AND b.done_at IS NULL AND b.started_at IS NOT NULL AND
	(SELECT r.n FROM recipients r WHERE r.batch = b.id AND r.outcome IS NULL AND r.claim IS NOT NULL
		AND r.claimed_at > clock_timestamp() - make_interval(secs => $2) ORDER BY r.n LIMIT 1) IS NOT NULL)`

// Settle does what a state waits for, if it can be done, and gives the state that
// holds then: a pause or a cancellation ends when no call is under way, a running
// broadcast when nobody is without an outcome. It may be called at any time, by
// anybody.
func (db *DB) Settle(ctx context.Context, id int64) (state broadcast.State, err error) {
	var rest bool
	err = db.pool.QueryRow(ctx, `
		SELECT state, CASE WHEN state = 'running' THEN `+left+` WHEN state = 'pausing' THEN `+flying+`
			WHEN state IN ('scheduled', 'planning') THEN NOT EXISTS (SELECT FROM jobs WHERE key = $3 AND state = 'cancelled') ELSE false END
		FROM broadcasts WHERE id = $1`, id, broadcast.StaleClaim.Seconds(), broadcast.PlanKey(id)).Scan(&state, &rest)
	if err != nil {
		return "", fmt.Errorf("settle broadcast %d: %w", id, notFound(err))
	}
	if rest {
		return state, nil
	}
	switch state {
	case broadcast.Scheduled, broadcast.Planning, broadcast.Running, broadcast.Pausing:
	case broadcast.Cancelling:
		err = db.skipRest(ctx, id)
	default:
		return state, nil
	}
	if err == nil {
		err = db.inTx(ctx, func(tx pgx.Tx) error {
			state, err = settle(ctx, tx, id)
			return err
		})
	}
	if err != nil {
		return "", fmt.Errorf("settle broadcast %d: %w", id, err)
	}
	return state, nil
}

// settle changes the state with the broadcast's row locked: no claim can begin
// meanwhile, and those that began are seen by the statements after the lock.
func settle(ctx context.Context, tx pgx.Tx, id int64) (broadcast.State, error) {
	b, err := lockBroadcast(ctx, tx, id)
	if err != nil {
		return "", err
	}
	switch b.State {
	case broadcast.Running:
		if err := recountRest(ctx, tx, id, ""); err != nil {
			return "", err
		}
		return become(ctx, tx, b, broadcast.Finished, `NOT EXISTS (SELECT FROM batches b WHERE b.broadcast = $1 AND b.done_at IS NULL)`)
	case broadcast.Cancelling:
		state, err := become(ctx, tx, b, broadcast.Cancelled, `NOT EXISTS (SELECT FROM batches b WHERE b.broadcast = $1 AND b.done_at IS NULL)`)
		if err == nil && state == broadcast.Cancelled {
			err = changeJobs(ctx, tx, id, cancelJob)
		}
		return state, err
	case broadcast.Pausing:
		state, err := become(ctx, tx, b, broadcast.Paused, `NOT `+flying, broadcast.StaleClaim.Seconds())
		if err == nil && state == broadcast.Paused { // the counts of a worker come once a second
			err = recountRest(ctx, tx, id, `AND started_at IS NOT NULL`)
		}
		return state, err
	case broadcast.Scheduled, broadcast.Planning: // somebody has cancelled the job that plans it
		return become(ctx, tx, b, broadcast.Cancelled, `EXISTS (SELECT FROM jobs WHERE key = $2 AND state = 'cancelled')`, broadcast.PlanKey(id))
	}
	return b.State, nil
}

// become changes the state of a locked broadcast if the condition holds, whose first
// argument is the id; it gives the state that holds then.
func become(ctx context.Context, tx pgx.Tx, b broadcast.Broadcast, to broadcast.State, condition string, args ...any) (broadcast.State, error) {
	ends := to == broadcast.Cancelled || to == broadcast.Finished
	args = append([]any{b.ID}, args...)
	n := len(args)
	tag, err := tx.Exec(ctx, fmt.Sprintf(`UPDATE broadcasts SET state = $%d, finished_at = CASE WHEN $%d THEN clock_timestamp() END
		WHERE id = $1 AND `+condition, n+1, n+2), append(args, string(to), ends)...)
	if err != nil {
		return "", fmt.Errorf("change state: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return b.State, nil
	}
	return to, nil
}

// recountRest recounts the batches that are not known to be done; and is a further
// condition.
func recountRest(ctx context.Context, tx pgx.Tx, id int64, and string) error {
	ids, err := openBatches(ctx, tx, id, and)
	if err != nil || len(ids) == 0 {
		return err
	}
	b := &pgx.Batch{}
	b.Queue(`SELECT`+lockBatches, ids)
	b.Queue(recount, ids)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return fmt.Errorf("recount batches: %w", err)
	}
	return nil
}

func openBatches(ctx context.Context, q reader, id int64, and string) ([]int64, error) {
	return ids(ctx, q, `SELECT id FROM batches WHERE broadcast = $1 AND done_at IS NULL `+and+` ORDER BY id`, id)
}

// ids reads a list of ids.
func ids(ctx context.Context, q reader, sql string, args ...any) ([]int64, error) {
	return collect(ctx, q, "read ids", pgx.RowTo[int64], sql, args...)
}

// skipRest gives those whom a cancelled broadcast will not reach their outcome, a
// batch at a time: a million are no single transaction. No claim begins any more;
// a call under way keeps its claim, and one whose run has died is uncertain.
func (db *DB) skipRest(ctx context.Context, id int64) error {
	batches, err := openBatches(ctx, db.pool, id, "")
	if err != nil {
		return err
	}
	for _, batch := range batches {
		one := []int64{batch}
		err := again(func() error {
			b := &pgx.Batch{}
			b.Queue(`SELECT`+lockBatches, one)
			b.Queue(endClaims, batch, broadcast.StaleClaim.Seconds(), false)
			b.Queue(`UPDATE recipients SET outcome = 'skipped', error = 'cancelled', not_before = NULL, done_at = clock_timestamp()
				WHERE batch = $1 AND outcome IS NULL AND claim IS NULL`, batch)
			b.Queue(recount, one)
			return db.pool.SendBatch(ctx, b).Close()
		})
		if err != nil {
			return fmt.Errorf("skip rest of batch %d: %w", batch, err)
		}
	}
	return nil
}
