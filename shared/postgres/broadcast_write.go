package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/broadcast"
)

// writeResults writes results that come as arrays; a wait without an outcome gives
// the claim back. A token stays only with what is uncertain, for its owner to say
// more.
const writeResults = `
WITH v AS MATERIALIZED (
	SELECT $1::bigint AS batch, v.* FROM unnest($3::int[], $4::text[], $5::float8[], $6::text[], $7::text[]) AS v (n, outcome, wait, message, error)
)
UPDATE recipients r SET
	outcome = nullif(v.outcome, ''),
	claim = CASE WHEN v.outcome = 'uncertain' THEN r.claim END,
	claimed_at = CASE WHEN v.outcome = 'uncertain' THEN r.claimed_at END,
	not_before = CASE WHEN v.outcome <> '' THEN NULL WHEN v.wait > 0 THEN clock_timestamp() + make_interval(secs => v.wait) ELSE r.not_before END,
	message_id = nullif(v.message, ''),
	error = nullif(v.error, ''),
	done_at = CASE WHEN v.outcome <> '' THEN clock_timestamp() END
FROM v WHERE r.batch = v.batch AND r.n = v.n AND r.claim = $2 `

// Write writes outcomes of recipients that this claim holds, or that were turned
// uncertain while it held them; others are left alone.
func (db *DB) Write(ctx context.Context, batch int64, token string, rs []broadcast.Result) error {
	var written int64
	err := again(func() error {
		tag, err := db.pool.Exec(ctx, writeResults+`AND r.outcome IS NULL`, append([]any{batch, token}, columns(rs)...)...)
		written = tag.RowsAffected()
		return err
	})
	if err == nil && written < int64(len(rs)) {
		err = db.writeLate(ctx, batch, token, rs)
	}
	if err != nil {
		return fmt.Errorf("write outcomes: %w", err)
	}
	return nil
}

// writeLate is for recipients that were taken for uncertain, of whom their owner says
// now what it saw. Those who have got nothing are open again as long as the broadcast
// lives, and after it they have failed. Perhaps nobody works on the batch any more, so
// it is counted here.
func (db *DB) writeLate(ctx context.Context, batch int64, token string, rs []broadcast.Result) error {
	return db.inTx(ctx, func(tx pgx.Tx) error {
		var state broadcast.State
		err := tx.QueryRow(ctx, `SELECT s.state FROM batches b JOIN broadcasts s ON s.id = b.broadcast WHERE b.id = $1 FOR SHARE OF s`, batch).Scan(&state)
		if err != nil {
			return fmt.Errorf("find broadcast: %w", err)
		}
		late := slices.Clone(rs)
		if !slices.Contains([]broadcast.State{broadcast.Running, broadcast.Pausing, broadcast.Paused}, state) {
			for i := range late {
				if late[i].Outcome == "" {
					late[i].Outcome, late[i].NotBefore = broadcast.Failed, 0
				}
			}
		}
		one := []int64{batch}
		b := &pgx.Batch{}
		b.Queue(`SELECT`+lockBatches, one)
		b.Queue(writeResults+`AND r.outcome = 'uncertain'`, append([]any{batch, token}, columns(late)...)...)
		b.Queue(recount, one)
		return tx.SendBatch(ctx, b).Close()
	})
}

// columns gives results as arrays.
func columns(rs []broadcast.Result) []any {
	n := len(rs)
	ns, outcomes, waits, messages, problems := make([]int32, n), make([]string, n), make([]float64, n), make([]string, n), make([]string, n)
	for i, r := range rs {
		ns[i], outcomes[i], waits[i], messages[i], problems[i] = int32(r.N), string(r.Outcome), r.NotBefore.Seconds(), clean(r.MessageID), clean(r.Error)
	}
	return []any{ns, outcomes, waits, messages, problems}
}

// Recover ends claims of other runs that are older than broadcast.StaleClaim: given
// back if the messenger drops repetitions, else uncertain, with their token. wait is
// how long until the youngest of the others may be ended too; 0: there is none.
func (db *DB) Recover(ctx context.Context, batch int64, token string, idempotent bool) (wait time.Duration, err error) {
	var left float64
	stale := broadcast.StaleClaim.Seconds()
	err = again(func() error {
		b := &pgx.Batch{}
		b.Queue(endClaims+` AND claim <> $4`, batch, stale, idempotent, token)
		b.Queue(`SELECT coalesce(extract(epoch FROM max(claimed_at) - clock_timestamp()) + $2, 0)::float8
			FROM recipients WHERE batch = $1 AND outcome IS NULL AND claim <> $3`, batch, stale, token).
			QueryRow(func(row pgx.Row) error { return row.Scan(&left) })
		return db.pool.SendBatch(ctx, b).Close()
	})
	if err != nil {
		return 0, fmt.Errorf("recover recipients: %w", err)
	}
	return max(seconds(left), 0), nil
}

// endClaims ends the claims in batch $1 that are older than $2 seconds; $3: by giving
// them back.
const endClaims = `
UPDATE recipients SET
	outcome = CASE WHEN NOT $3 THEN 'uncertain' END,
	claim = CASE WHEN NOT $3 THEN claim END,
	claimed_at = CASE WHEN NOT $3 THEN claimed_at END,
	error = CASE WHEN NOT $3 THEN 'the run that was sending it has died' END,
	done_at = CASE WHEN NOT $3 THEN clock_timestamp() END
WHERE batch = $1 AND outcome IS NULL AND claim IS NOT NULL AND claimed_at <= clock_timestamp() - make_interval(secs => $2)`
