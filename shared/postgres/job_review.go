package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/job"
)

// lockLane locks the row of job $1's lane, so that no worker can claim, and none
// can end a claim's transaction, while a person changes a job of the lane.
const lockLane = `
INSERT INTO lanes (name) SELECT lane FROM jobs WHERE id = $1
ON CONFLICT (name) DO UPDATE SET used_at = clock_timestamp()`

// change runs one statement on job $1 with its lane locked. No row changed gives
// job.ErrNotFound.
func (db *DB) change(ctx context.Context, what string, id int64, sql string, more ...any) (out job.Inserted, err error) {
	err = db.inTx(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockLane, id); err != nil {
			return fmt.Errorf("lock lane: %w", err)
		}
		err := scanInserted(tx.QueryRow(ctx, sql+`
			RETURNING id, queue, lane, state, extract(epoch FROM run_at - clock_timestamp())::float8`, append([]any{id}, more...)...), &out)
		if errors.Is(err, pgx.ErrNoRows) {
			return job.ErrNotFound
		}
		if err != nil || out.State != job.Cancelled {
			return err
		}
		_, err = tx.Exec(ctx, orphan, id)
		return err
	})
	if err != nil {
		return job.Inserted{}, fmt.Errorf("%s job %d: %w", what, id, err)
	}
	return out, nil
}

// orphan gives the jobs that wait for the cancelled job $1 to a person.
const orphan = `
UPDATE jobs SET held_at = NULL, held_for = NULL, state = 'needs_review', finished_at = clock_timestamp(),
	last_error = 'the job that it waited for was cancelled'
WHERE held_for = (SELECT key FROM jobs WHERE id = $1) AND open`

// cancelJob ends a job that does not run, and asks one that runs to end.
const cancelJob = `cancel_requested_at = coalesce(cancel_requested_at, clock_timestamp()),
	state = CASE WHEN state = 'running' THEN state ELSE 'cancelled' END,
	held_at = CASE WHEN state = 'running' THEN held_at END,
	held_for = CASE WHEN state = 'running' THEN held_for END,
	finished_at = CASE WHEN state = 'running' THEN NULL ELSE clock_timestamp() END`

// Cancel ends a job that is not running at once, held and review too; a running
// one ends at its next checkpoint. What has ended stays as it is
// (job.ErrNotFound). Who asked first stands among what happened to it.
func (db *DB) Cancel(ctx context.Context, id int64, by string) (job.State, error) {
	out, err := db.change(ctx, "cancel", id, `
		UPDATE jobs SET `+cancelJob+`, failures = CASE WHEN cancel_requested_at IS NULL THEN `+failures("'"+job.FailureCancelled+"'", "$2")+` ELSE failures END
		WHERE id = $1 AND state NOT IN ('completed', 'cancelled')`, clean(by))
	return out.State, err
}

// pauseJob marks a job as paused and holds it if it does not run; a running one is
// held when its run ends without completing it.
const pauseJob = `pause_requested_at = coalesce(pause_requested_at, clock_timestamp()),
	held_at = CASE WHEN state IN ('accepted', 'queued') THEN coalesce(held_at, clock_timestamp()) END`

// resumeJob lets a paused job go, at once; not one that waits for another.
var resumeJob = `pause_requested_at = NULL, held_at = CASE WHEN held_for IS NOT NULL THEN held_at END,
	started_at = CASE WHEN held_for IS NULL THEN ` + notHeld + ` ELSE started_at END,
	run_at = least(run_at, clock_timestamp()), published_at = NULL`

// Pause takes a job out of its lane until Resume; a running one when its run ends.
func (db *DB) Pause(ctx context.Context, id int64) error {
	_, err := db.change(ctx, "pause", id, `UPDATE jobs SET `+pauseJob+` WHERE id = $1 AND open`)
	return err
}

// Resume puts a paused job back into its lane and says where to send a hint.
func (db *DB) Resume(ctx context.Context, id int64) (job.Inserted, error) {
	return db.change(ctx, "resume", id, `UPDATE jobs SET `+resumeJob+` WHERE id = $1 AND pause_requested_at IS NOT NULL AND open`)
}

// Replay gives a job in review new attempts and new time, and one more send where the outcome
// of the last is unknown. It counts in its lane only while it is due, and a paused
// one stays held. Who decided it stands among what happened to it.
func (db *DB) Replay(ctx context.Context, id int64, by string) (job.Inserted, error) {
	return db.ReplayUntil(ctx, id, by, time.Time{})
}

// ReplayUntil replays a job only if the review is the one that was there at until: who agreed
// to replay what they saw has not agreed to what it came to afterwards.
func (db *DB) ReplayUntil(ctx context.Context, id int64, by string, until time.Time) (job.Inserted, error) {
	return db.change(ctx, "replay", id, `
		UPDATE jobs SET state = 'accepted', attempts = 0, losses = 0, replayed = true, replays = replays + 1, run_at = clock_timestamp(),
			published_at = NULL, started_at = NULL, finished_at = NULL, told_at = NULL, cancel_requested_at = NULL, held_at = pause_requested_at,
			failures = `+failures("'"+job.FailureReplayed+"'", "$2")+`
		WHERE id = $1 AND state = 'needs_review' AND ($3::timestamptz IS NULL OR finished_at <= $3)`, clean(by), orNull(until))
}

// Find gives a job by its key; nil when there is none.
func (db *DB) Find(ctx context.Context, key string) (*job.Job, error) {
	j, err := scanJob(db.pool.QueryRow(ctx, `SELECT `+jobColumns+` FROM jobs WHERE key = $1`, key))
	if err != nil {
		return nil, fmt.Errorf("find job: %w", err)
	}
	return j, nil
}
