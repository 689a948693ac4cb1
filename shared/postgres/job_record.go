package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/job"
)

// failures is the column with one more of them, the oldest left out where there are
// twenty: what happened, and the error, are SQL.
func failures(what, err string) string {
	return `(CASE WHEN jsonb_array_length(failures) >= 20 THEN failures - 0 ELSE failures END) || ` + failure(what, err)
}

func failure(what, err string) string {
	return `jsonb_build_object('at', clock_timestamp(), 'what', ` + what + `::text, 'stage', stage, 'error', ` + err + `::text)`
}

const recordColumns = `id, queue, kind, key, lane, state, stage, attempts, losses, replays, failures, coalesce(last_error, ''), correlation_id,
	coalesce(held_for, ''), state = 'running' AND cancel_requested_at IS NOT NULL, coalesce(remark, ''), coalesce(settled_by, ''),
	created_at, run_at, started_at, finished_at`

func scanRecord(row pgx.CollectableRow) (r job.Record, err error) {
	var failures json.RawMessage
	var started, finished *time.Time
	err = row.Scan(&r.ID, &r.Queue, &r.Kind, &r.Key, &r.Lane, &r.State, &r.Stage, &r.Attempts, &r.Losses, &r.Replays, &failures, &r.LastError,
		&r.CorrelationID, &r.HeldFor, &r.Cancelling, &r.Remark, &r.SettledBy, &r.CreatedAt, &r.RunAt, &started, &finished)
	if err != nil {
		return r, err
	}
	r.StartedAt, r.FinishedAt = orZero(started), orZero(finished)
	return r, json.Unmarshal(failures, &r.Failures)
}

// chosen is what a job.Filter means; its parameters are those of filterArgs.
const chosen = `
	(cardinality($1::text[]) = 0 OR state = any($1)) AND ($2 = '' OR kind LIKE $2) AND ($3 = '' OR lane = $3)
	AND ($4 = '' OR correlation_id = $4) AND ($5 = '' OR strpos(last_error, $5) > 0) AND ($6::bigint = 0 OR id < $6)
	AND ($7::timestamptz IS NULL OR finished_at <= $7)`

func filterArgs(f job.Filter) []any {
	states := []string{}
	for _, s := range f.States {
		states = append(states, string(s))
	}
	kind := f.Kind
	if kind != "" {
		kind = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(kind)
		if strings.HasSuffix(kind, ".") {
			kind += "%"
		}
	}
	return []any{states, kind, f.Lane, f.CorrelationID, f.Error, f.Before, orNull(f.Until)}
}

// openJobs are the jobs that have not ended, by two indexes which have no others: somebody
// may look at what runs every few seconds, whatever is kept.
const openJobs = `(SELECT * FROM jobs WHERE open AND held_at IS NULL UNION ALL SELECT * FROM jobs WHERE open AND held_at IS NOT NULL) jobs`

// Jobs gives the chosen jobs, the newest first.
func (db *DB) Jobs(ctx context.Context, f job.Filter) ([]job.Record, error) {
	from := "jobs"
	if len(f.States) > 0 && !slices.ContainsFunc(f.States, job.State.Over) {
		from = openJobs
	}
	return collect(ctx, db.pool, "list jobs", scanRecord,
		`SELECT `+recordColumns+` FROM `+from+` WHERE `+chosen+` ORDER BY id DESC LIMIT $8`, append(filterArgs(f), f.Limit)...)
}

// JobRecord gives one job; none is job.ErrNotFound.
func (db *DB) JobRecord(ctx context.Context, id int64) (job.Record, error) {
	found, err := collect(ctx, db.pool, "find job", scanRecord, `SELECT `+recordColumns+` FROM jobs WHERE id = $1`, id)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("find job %d: %w", id, job.ErrNotFound)
	}
	if err != nil {
		return job.Record{}, err
	}
	return found[0], nil
}

// SettleReview ends a job in review by hand: somebody has done by other means what
// was left, and says so. Jobs that wait for it go to review.
func (db *DB) SettleReview(ctx context.Context, id int64, by, remark string) error {
	return db.inTx(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockLane, id); err != nil {
			return fmt.Errorf("settle job %d: %w", id, err)
		}
		tag, err := tx.Exec(ctx, `UPDATE jobs SET state = 'cancelled', finished_at = clock_timestamp(), remark = $2, settled_by = $3, told_at = coalesce(told_at, clock_timestamp())
			WHERE id = $1 AND state = 'needs_review'`, id, clean(remark), clean(by))
		if err == nil && tag.RowsAffected() == 0 {
			err = job.ErrNotFound
		}
		if err == nil {
			_, err = tx.Exec(ctx, orphan, id)
		}
		if err != nil {
			return fmt.Errorf("settle job %d: %w", id, err)
		}
		return nil
	})
}
