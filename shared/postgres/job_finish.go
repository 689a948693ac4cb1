package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/job"
)

// endState is the state in which verdict $3 leaves a job: it never reads anything
// but the row itself, so that it holds for the row's newest version. A job whose
// cancellation was asked for and that has not completed is cancelled.
const endState = `CASE
		WHEN $3 = 'completed' THEN 'completed'
		WHEN $3 = 'cancelled' OR cancel_requested_at IS NOT NULL THEN 'cancelled'
		WHEN $3 = 'review' OR $3 = 'failed' AND attempts + 1 >= $4 OR $3 = 'stopped' AND losses + 1 >= $5 THEN 'needs_review'
		ELSE 'queued' END`

// notHeld is a job's beginning moved on by the time in which it was held: a job that waits
// for a person, or for another one, is not at it. pausedYet holds a job on, from now, that
// somebody has paused as well.
const (
	notHeld   = `jobs.started_at + coalesce(clock_timestamp() - jobs.held_at, '0')`
	pausedYet = `CASE WHEN jobs.pause_requested_at IS NOT NULL THEN clock_timestamp() END`
)

// finishJob ends the run of job $1 by token $2. Completion lets the jobs go that
// wait for this one, cancellation gives them to a person. What was paused meanwhile
// is held from now on.
var finishJob = `
WITH done AS (
	UPDATE jobs SET
		state = ` + endState + `,
		attempts = attempts + ($3 = 'failed')::int,
		losses = losses + ($3 = 'stopped')::int,
		run_at = CASE WHEN ` + endState + ` = 'queued' THEN clock_timestamp() + make_interval(secs => $6) ELSE run_at END,
		last_error = nullif($7, ''),
		failures = CASE WHEN $3 IN ('failed', 'review', 'stopped') THEN ` + failures("CASE WHEN $3 = 'stopped' THEN 'lost' ELSE $3 END", "$7") + ` ELSE failures END,
		result = coalesce($8::jsonb, result),
		lease_token = NULL,
		held_at = CASE WHEN ` + endState + ` = 'queued' THEN coalesce(held_at, pause_requested_at) END,
		finished_at = CASE WHEN ` + endState + ` <> 'queued' THEN clock_timestamp() END
	WHERE id = $1 AND lease_token = $2 AND state = 'running'
	RETURNING state, key
), told AS (
	UPDATE jobs SET held_for = NULL, started_at = ` + notHeld + `,
		held_at = CASE WHEN (SELECT state FROM done) = 'completed' THEN ` + pausedYet + ` END,
		state = CASE WHEN (SELECT state FROM done) = 'completed' THEN state ELSE 'needs_review' END,
		run_at = clock_timestamp(),
		finished_at = CASE WHEN (SELECT state FROM done) <> 'completed' THEN clock_timestamp() END,
		last_error = CASE WHEN (SELECT state FROM done) <> 'completed' THEN 'the job that it waited for was cancelled' END
	WHERE held_for = (SELECT key FROM done WHERE done.state IN ('completed', 'cancelled')) AND open -- planned sooner than a join
)
SELECT state FROM done`

// keepLane locks the row of lane $1 and extends the lease of its holder $2. Lanes
// are always locked before jobs.
const keepLane = `
UPDATE lanes l SET lease_until = clock_timestamp() + make_interval(secs => $3), used_at = clock_timestamp()
WHERE name = $1 AND lease_token = $2
RETURNING ` + holdLane

// Finish implements job.Store: one round trip unless jobs follow.
func (db *DB) Finish(ctx context.Context, f job.Finish) (done job.Finished, err error) {
	switch {
	case f.Verdict == job.VerdictHeld:
		err = db.inTx(ctx, func(tx pgx.Tx) error {
			done, err = db.hold(ctx, tx, f)
			return err
		})
	case f.Verdict == job.VerdictCompleted && len(f.Insert) > 0:
		err = db.inTx(ctx, func(tx pgx.Tx) error {
			if done, err = db.endRun(ctx, tx, f); err != nil {
				return err
			}
			done.Inserted, err = insertJobs(ctx, tx, f.Insert)
			return err
		})
	default:
		err = again(func() error {
			done, err = db.endRun(ctx, db.pool, f)
			return err
		})
	}
	if err != nil {
		return job.Finished{}, fmt.Errorf("finish job: %w", err)
	}
	return done, nil
}

// endRun writes the verdict, then starts the lane's next due job or gives the
// lane back. When the token is no longer good every statement does nothing: the lane is
// found by its token alone, so one that somebody else has taken is neither held (holdLane)
// nor given back. It is repeated only where the database has undone it (again): after a
// commit whose answer was lost, a repetition would give back the lane of the next job,
// which runs under the same token.
func (db *DB) endRun(ctx context.Context, q session, f job.Finish) (done job.Finished, err error) {
	b := &pgx.Batch{}
	b.Queue(keepLane, f.Job.Lane.Name, f.Token, db.lease.Seconds())
	b.Queue(finishJob, f.Job.ID, f.Token, string(f.Verdict), job.Attempts, job.MaxLosses,
		f.Delay.Seconds(), clean(f.Error), jsonArg(f.Result))
	if f.Next {
		b.Queue(startHead, f.Token)
	}
	b.Queue(releaseIdle)
	res := q.SendBatch(ctx, b)
	done, err = readEnd(res, f.Next)
	if cerr := res.Close(); err == nil {
		err = cerr
	}
	return done, err
}

func readEnd(res pgx.BatchResults, next bool) (done job.Finished, err error) {
	if _, err := res.Exec(); err != nil {
		return done, err
	}
	if err := res.QueryRow().Scan(&done.State); errors.Is(err, pgx.ErrNoRows) {
		return done, job.ErrLost
	} else if err != nil {
		return done, err
	}
	if next {
		if done.Next, err = scanJob(res.QueryRow(), nil); err != nil {
			return done, err
		}
	}
	done.Left, err = readLeft(res)
	return done, err
}

// hold makes a running job wait for another, whose row it locks meanwhile: the
// other cannot end unseen.
func (db *DB) hold(ctx context.Context, tx pgx.Tx, f job.Finish) (job.Finished, error) {
	if _, err := tx.Exec(ctx, keepLane, f.Job.Lane.Name, f.Token, db.lease.Seconds()); err != nil {
		return job.Finished{}, fmt.Errorf("lock lane: %w", err)
	}
	var target job.State
	err := tx.QueryRow(ctx, `SELECT state FROM jobs WHERE key = $1 FOR SHARE`, f.HeldFor).Scan(&target)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return job.Finished{}, fmt.Errorf("find awaited job: %w", err)
	}
	f.Verdict = job.VerdictParked
	if err != nil || target == job.Cancelled {
		f.Verdict, f.Error = job.VerdictReview, "the job that it waits for was cancelled or is unknown"
	}
	if f.Verdict == job.VerdictParked && target != job.Completed {
		tag, err := tx.Exec(ctx, `UPDATE jobs SET held_at = clock_timestamp(), held_for = $3 WHERE id = $1 AND lease_token = $2`,
			f.Job.ID, f.Token, f.HeldFor)
		if err != nil {
			return job.Finished{}, fmt.Errorf("hold job: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return job.Finished{}, job.ErrLost
		}
	}
	return db.endRun(ctx, tx, f)
}

// Head implements job.Store. It is called after the lane was released, in a
// transaction of its own. When no job is the head yet (a loose lane, replayed
// jobs), it is the one that will be due first.
func (db *DB) Head(ctx context.Context, lane string) (head job.Inserted, ok bool, err error) {
	err = scanInserted(db.pool.QueryRow(ctx, fmt.Sprintf(`
		SELECT h.id, h.queue, h.lane, h.state, extract(epoch FROM h.run_at - clock_timestamp())::float8
		FROM ((`+headOf+`) UNION ALL
			(SELECT w.id FROM jobs w WHERE w.lane = $1 AND w.open AND w.held_at IS NULL ORDER BY w.run_at, w.id LIMIT 1)
			LIMIT 1) first
		JOIN jobs h USING (id)
		WHERE NOT EXISTS (SELECT FROM lanes l WHERE l.name = $1 AND l.lease_until > clock_timestamp())`, "$1"), lane), &head)
	if errors.Is(err, pgx.ErrNoRows) {
		return head, false, nil
	}
	if err != nil {
		return head, false, fmt.Errorf("find head: %w", err)
	}
	return head, true, nil
}

// Published implements job.Store. A row that somebody works on needs no mark.
func (db *DB) Published(ctx context.Context, ids []int64) error {
	_, err := db.pool.Exec(ctx, `UPDATE jobs SET published_at = clock_timestamp(),
			state = CASE WHEN state = 'accepted' THEN 'queued' ELSE state END
		WHERE id = any(ARRAY(SELECT id FROM jobs WHERE id = any($1) AND open FOR NO KEY UPDATE SKIP LOCKED))
		RETURNING `+notDurable, ids)
	if err != nil {
		return fmt.Errorf("record publication: %w", err)
	}
	return nil
}
