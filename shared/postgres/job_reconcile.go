package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/job"
)

// openLanes names the lanes behind %s in which something is open and not held. It steps
// from lane to lane through the index of heads: a backlog within a lane costs nothing.
const openLanes = `names AS (
	(SELECT lane FROM jobs WHERE open AND held_at IS NULL AND lane > %s ORDER BY lane LIMIT 1)
	UNION ALL
	SELECT (SELECT j.lane FROM jobs j WHERE j.open AND j.held_at IS NULL AND j.lane > n.lane ORDER BY j.lane LIMIT 1)
	FROM names n WHERE n.lane IS NOT NULL
)`

// forgotten finds the heads of idle lanes that are due, or will be within $3 seconds,
// and for which no hint was sent for $1 seconds. Where a loose lane has nothing due, its
// head is what will be due first.
var forgotten = fmt.Sprintf(`
WITH RECURSIVE `+openLanes+`
SELECT h.id, h.queue, h.lane, h.state, extract(epoch FROM h.run_at - clock_timestamp())::float8
FROM names n
CROSS JOIN LATERAL (
	(SELECT * FROM jobs h
	WHERE h.lane = n.lane AND h.open AND h.held_at IS NULL AND (h.strict AND NOT h.replayed OR h.run_at <= clock_timestamp())
	ORDER BY h.priority DESC, h.sequence, h.id LIMIT 1)
	UNION ALL
	(SELECT * FROM jobs w
	WHERE w.lane = n.lane AND w.open AND w.held_at IS NULL AND w.run_at <= clock_timestamp() + make_interval(secs => $3)
	ORDER BY w.run_at, w.id LIMIT 1)
	LIMIT 1
) h
LEFT JOIN lanes l ON l.name = n.lane
WHERE h.run_at <= clock_timestamp() + make_interval(secs => $3) AND h.state <> 'running'
	AND (l.lease_until IS NULL OR l.lease_until <= clock_timestamp())
	AND (h.published_at IS NULL OR h.published_at <= clock_timestamp() - make_interval(secs => $1))
LIMIT $2`, "$4")

// Forgotten implements job.ReconcileStore.
func (db *DB) Forgotten(ctx context.Context, after string, limit int) ([]job.Inserted, error) {
	return collect(ctx, db.pool, "find forgotten jobs", func(row pgx.CollectableRow) (in job.Inserted, err error) {
		err = scanInserted(row, &in)
		return in, err
	}, forgotten, job.RepublishAfter.Seconds(), limit, job.PublishAhead.Seconds(), after)
}

// rescue takes back the jobs of lanes whose lease is over. The lane's row is
// locked and its token cleared first: a renewal that comes later fails. Somebody had it
// until the lease was over.
var rescue = `
WITH over AS (
	SELECT name FROM lanes
	WHERE lease_until <= clock_timestamp() AND EXISTS (
		SELECT FROM jobs j WHERE j.lane = lanes.name AND j.open AND j.held_at IS NULL AND j.state = 'running')
	ORDER BY name FOR UPDATE SKIP LOCKED LIMIT $2
), freed AS (
	UPDATE lanes SET lease_token = NULL, lease_until = NULL, used_at = lease_until FROM over WHERE lanes.name = over.name RETURNING lanes.name
)
UPDATE jobs SET
	state = CASE WHEN cancel_requested_at IS NOT NULL THEN 'cancelled'
		WHEN losses + 1 >= $1 THEN 'needs_review' ELSE 'queued' END,
	held_at = CASE WHEN cancel_requested_at IS NULL AND losses + 1 < $1 THEN pause_requested_at END,
	losses = losses + 1, lease_token = NULL, last_error = 'lease lost', published_at = NULL,
	failures = ` + failures("'lost'", "'lease lost'") + `,
	finished_at = CASE WHEN cancel_requested_at IS NOT NULL OR losses + 1 >= $1 THEN clock_timestamp() END
FROM freed WHERE jobs.lane = freed.name AND jobs.open AND jobs.held_at IS NULL AND jobs.state = 'running'
RETURNING jobs.id, jobs.queue, jobs.lane, jobs.state, 0::float8`

// Rescue implements job.ReconcileStore.
func (db *DB) Rescue(ctx context.Context, limit int) (jobs []job.Inserted, err error) {
	err = again(func() (err error) {
		jobs, err = collect(ctx, db.pool, "rescue jobs", func(row pgx.CollectableRow) (in job.Inserted, err error) {
			err = scanInserted(row, &in)
			return in, err
		}, rescue, job.MaxLosses, limit)
		return err
	})
	return jobs, err
}

// SweepHeld implements job.ReconcileStore: jobs whose awaited job has ended
// without telling them (a rescue that cancelled it, a crash between).
func (db *DB) SweepHeld(ctx context.Context) (int64, error) {
	swept, err := db.changeMany(ctx, `
		UPDATE jobs SET held_for = NULL, run_at = clock_timestamp(), started_at = `+notHeld+`,
			held_at = CASE WHEN t.state = 'completed' THEN `+pausedYet+` END,
			state = CASE WHEN t.state = 'completed' THEN jobs.state ELSE 'needs_review' END,
			finished_at = CASE WHEN t.state = 'completed' THEN NULL ELSE clock_timestamp() END,
			last_error = CASE WHEN t.state = 'completed' THEN NULL ELSE 'the job that it waited for was cancelled' END
		FROM jobs t
		WHERE jobs.held_for = t.key AND jobs.open AND t.state IN ('completed', 'cancelled')`)
	if err != nil {
		return 0, fmt.Errorf("sweep held jobs: %w", err)
	}
	return swept, nil
}

// Clean implements job.ReconcileStore: rows that ended longer ago than job.Keep,
// and lanes that nobody uses. now(), and not the time by the clock, is what an index can be
// asked for.
func (db *DB) Clean(ctx context.Context, limit int) (int64, error) {
	jobs, err := db.changeMany(ctx, `
		DELETE FROM jobs WHERE id IN (
			SELECT id FROM jobs WHERE NOT open AND state <> 'needs_review'
				AND finished_at < now() - make_interval(secs => $1)
			ORDER BY finished_at LIMIT $2)`, job.Keep.Seconds(), limit)
	if err != nil {
		return 0, fmt.Errorf("clean jobs: %w", err)
	}
	lanes, err := db.changeMany(ctx, `
		DELETE FROM lanes WHERE name IN (
			SELECT name FROM lanes l WHERE lease_token IS NULL AND used_at < clock_timestamp() - interval '1 day'
				AND NOT EXISTS (SELECT FROM jobs j WHERE j.lane = l.name AND j.open)
			LIMIT $1 FOR UPDATE SKIP LOCKED)`, limit)
	if err != nil {
		return 0, fmt.Errorf("clean lanes: %w", err)
	}
	return jobs + lanes, nil
}

// Untold implements job.ReconcileStore.
func (db *DB) Untold(ctx context.Context, limit int) ([]job.Job, error) {
	return collect(ctx, db.pool, "find reviews", func(row pgx.CollectableRow) (job.Job, error) {
		j, err := scanJob(row)
		if err != nil {
			return job.Job{}, err
		}
		return *j, nil
	}, `SELECT `+jobColumns+`
		FROM jobs WHERE state = 'needs_review' AND told_at IS NULL ORDER BY id LIMIT $1`, limit)
}

// Told implements job.ReconcileStore: the notices and the mark are one
// transaction.
func (db *DB) Told(ctx context.Context, id int64, notices []job.New) (out []job.Inserted, err error) {
	err = db.inTx(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `UPDATE jobs SET told_at = clock_timestamp()
			WHERE id = $1 AND state = 'needs_review' AND told_at IS NULL`, id)
		if err != nil || tag.RowsAffected() == 0 || len(notices) == 0 {
			return err
		}
		out, err = insertJobs(ctx, tx, notices)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("tell of review %d: %w", id, err)
	}
	return out, nil
}
