package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/job"
)

// Claims, renewals, releases and marks of publication need not reach the disk
// before the answer: what is lost with a crashed server is only the right to
// work, and the next durable write (a stage before each effect, the finish) finds
// the token gone. Inserts, stages and finishes are durable. As part of what a
// statement returns it costs no statement of its own.
const notDurable = `set_config('synchronous_commit', 'off', true)`

// The lane that a transaction holds and runs nothing in travels through it as a
// setting, which ends with it: the statements after the one that took the lane need
// not look for it again, which was most of the cost of planning them. idleLane is null
// where there is none, so whoever holds nothing changes and locks nothing.
const (
	holdLane = `set_config('job.lane', l.name, true)`
	busyLane = `set_config('job.lane', '', true)`
	idleLane = `nullif(current_setting('job.lane', true), '')`
)

// takeLane takes the lane of job $1 when its lease is free or over.
const takeLane = `
INSERT INTO lanes AS l (name, lease_token, lease_until)
SELECT j.lane, $2, clock_timestamp() + make_interval(secs => $3) FROM jobs j WHERE j.id = $1 AND j.open AND j.queue = $4
ON CONFLICT (name) DO UPDATE
SET lease_token = excluded.lease_token, lease_until = clock_timestamp() + make_interval(secs => $3), used_at = clock_timestamp()
WHERE l.lease_until IS NULL OR l.lease_until <= clock_timestamp()
RETURNING ` + holdLane + `, ` + notDurable

// rescueLane: whatever still runs in a lane that was just taken by token $1 has
// lost its lease.
var rescueLane = `
UPDATE jobs SET
	state = CASE WHEN cancel_requested_at IS NOT NULL THEN 'cancelled'
		WHEN losses + 1 >= $2 THEN 'needs_review' ELSE 'queued' END,
	held_at = CASE WHEN cancel_requested_at IS NULL AND losses + 1 < $2 THEN pause_requested_at END,
	losses = losses + 1, lease_token = NULL, last_error = 'lease lost', failures = ` + failures("'lost'", "'lease lost'") + `,
	finished_at = CASE WHEN cancel_requested_at IS NOT NULL OR losses + 1 >= $2 THEN clock_timestamp() END
WHERE lane = ` + idleLane + ` AND open AND held_at IS NULL AND state = 'running' AND lease_token <> $1
RETURNING id, state`

const jobColumns = `id, queue, kind, payload_version, key, lane, strict, priority, sequence, state, stage, stage_data,
	attempts, losses, replays, payload, result, correlation_id, created_at,
	coalesce(extract(epoch FROM clock_timestamp() - stage_at), 0)::float8,
	coalesce(extract(epoch FROM clock_timestamp() - started_at), 0)::float8`

// headOf is the lane's head: in a strict lane the first by order whatever its
// time, in a loose one (and for replayed jobs) the first that is due.
const headOf = `
	SELECT h.id FROM jobs h
	WHERE h.lane = %s AND h.open AND h.held_at IS NULL AND (h.strict AND NOT h.replayed OR h.run_at <= clock_timestamp())
	ORDER BY h.priority DESC, h.sequence, h.id LIMIT 1`

// startHead starts the head of the held lane if it is due, for the lane's holder $1.
// It is a statement of its own: it sees what was committed before the lane was taken.
var startHead = fmt.Sprintf(`
UPDATE jobs SET state = 'running', lease_token = $1, started_at = coalesce(started_at, clock_timestamp())
WHERE id = (`+headOf+` FOR UPDATE)
	AND state IN ('accepted', 'queued') AND run_at <= clock_timestamp()
RETURNING `+jobColumns+`, `+busyLane, idleLane)

// releaseIdle gives the held lane back unless something was started there, and says
// whether it leaves jobs. Nothing escapes it: the lane's row was locked before,
// and whoever dropped a hint because of the lease had locked it earlier, so the
// hint's job is seen here; whoever comes later waits and finds the lane free.
const releaseIdle = `
UPDATE lanes SET lease_token = NULL, lease_until = NULL, used_at = clock_timestamp()
WHERE name = ` + idleLane + `
RETURNING EXISTS (SELECT FROM jobs j WHERE j.lane = ` + idleLane + ` AND j.open AND j.held_at IS NULL)`

// Claim implements job.Store: one round trip, one transaction.
func (db *DB) Claim(ctx context.Context, queue string, id int64, token string) (job.Claim, error) {
	b := &pgx.Batch{}
	b.Queue(takeLane, id, token, db.lease.Seconds(), queue)
	b.Queue(rescueLane, token, job.MaxLosses)
	b.Queue(startHead, token)
	b.Queue(releaseIdle)
	var claim job.Claim
	err := again(func() (err error) {
		res := db.pool.SendBatch(ctx, b)
		claim, err = readClaim(res)
		if cerr := res.Close(); err == nil {
			err = cerr
		}
		return err
	})
	if err != nil {
		return job.Claim{}, fmt.Errorf("claim lane: %w", err)
	}
	return claim, nil
}

func readClaim(res pgx.BatchResults) (c job.Claim, err error) {
	err = res.QueryRow().Scan(&c.Lane, nil)
	if errors.Is(err, pgx.ErrNoRows) {
		return job.Claim{}, nil
	}
	if err != nil {
		return c, err
	}
	if c.Review, err = readRescued(res); err != nil {
		return c, err
	}
	if c.Job, err = scanJob(res.QueryRow(), nil); err != nil {
		return c, err
	}
	c.Left, err = readLeft(res)
	return c, err
}

// readLeft reads what releaseIdle says; a lane that was not given back leaves nothing.
func readLeft(res pgx.BatchResults) (left bool, err error) {
	err = res.QueryRow().Scan(&left)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return left, err
}

// readRescued gives the ids that rescueLane sent to review.
func readRescued(res pgx.BatchResults) ([]int64, error) {
	rows, err := res.Query()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var review []int64
	for rows.Next() {
		var (
			id    int64
			state job.State
		)
		if err := rows.Scan(&id, &state); err != nil {
			return nil, err
		}
		if state == job.NeedsReview {
			review = append(review, id)
		}
	}
	return review, rows.Err()
}

// scanJob reads jobColumns and what comes after them; no row gives nil.
func scanJob(row pgx.Row, more ...any) (*job.Job, error) {
	var (
		j      job.Job
		strict bool
		stage  float64
		age    float64
	)
	err := row.Scan(append([]any{
		&j.ID, &j.Queue, &j.Kind, &j.Version, &j.Key, &j.Lane.Name, &strict, &j.Priority, &j.Sequence, &j.State,
		&j.Stage, &j.StageData, &j.Attempts, &j.Losses, &j.Replays, &j.Payload, &j.Result, &j.CorrelationID, &j.CreatedAt, &stage, &age,
	}, more...)...)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	j.Lane.Loose, j.StageAge, j.Age = !strict, seconds(stage), seconds(age)
	return &j, nil
}

// Renew implements job.Store.
func (db *DB) Renew(ctx context.Context, lane, token string) error {
	tag, err := db.pool.Exec(ctx, `
		UPDATE lanes SET lease_until = clock_timestamp() + make_interval(secs => $3)
		WHERE name = $1 AND lease_token = $2 RETURNING `+notDurable, lane, token, db.lease.Seconds())
	if err != nil {
		return fmt.Errorf("renew lease: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return job.ErrLost
	}
	return nil
}

// Stage implements job.Store.
func (db *DB) Stage(ctx context.Context, id int64, token, stage string, data json.RawMessage) (cancel bool, err error) {
	err = db.pool.QueryRow(ctx, `
		UPDATE jobs SET stage = $3, stage_data = $4, stage_at = clock_timestamp(),
			losses = CASE WHEN stage = $3 THEN losses ELSE 0 END
		WHERE id = $1 AND lease_token = $2 AND state = 'running'
		RETURNING cancel_requested_at IS NOT NULL`, id, token, stage, jsonArg(data)).Scan(&cancel)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, job.ErrLost
	}
	if err != nil {
		return false, fmt.Errorf("write stage: %w", err)
	}
	return cancel, nil
}

func jsonArg(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	return cleanJSON(raw)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
