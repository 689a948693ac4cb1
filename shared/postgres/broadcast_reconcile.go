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

// SettleAll settles every broadcast that is on its way, and gives a batch whose job
// has vanished or ended before its time a new one. One that cannot be settled keeps
// no other back. It gives the jobs to be published and how many broadcasts have
// changed.
func (db *DB) SettleAll(ctx context.Context) (jobs []job.Inserted, changed int, err error) {
	active, err := collect(ctx, db.pool, "find active broadcasts", func(row pgx.CollectableRow) (b broadcast.Broadcast, err error) {
		err = row.Scan(&b.ID, &b.State)
		return b, err
	}, `SELECT id, state FROM broadcasts WHERE state NOT IN ('draft', 'cancelled', 'finished') ORDER BY id`)
	if err != nil {
		return nil, 0, err
	}
	var problems []error
	for _, b := range active {
		made, state, err := db.tend(ctx, b.ID)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		jobs = append(jobs, made...)
		if len(made) > 0 || state != b.State {
			changed++
		}
	}
	return jobs, changed, errors.Join(problems...)
}

// tend settles a broadcast and gives its orphaned batches new jobs.
func (db *DB) tend(ctx context.Context, id int64) (jobs []job.Inserted, state broadcast.State, err error) {
	if state, err = db.Settle(ctx, id); err != nil || state != broadcast.Running {
		return nil, state, err
	}
	if jobs, err = db.revive(ctx, id); err != nil {
		return nil, state, fmt.Errorf("revive broadcast %d: %w", id, err)
	}
	return jobs, state, nil
}

// orphaned are the batches of broadcast $1 that have recipients without an outcome
// and no job that will ever send to them. One in review is a person's to decide.
const orphaned = `
SELECT b.id FROM batches b LEFT JOIN jobs j ON j.id = b.job
WHERE b.broadcast = $1 AND b.done_at IS NULL AND (j.id IS NULL OR j.state IN ('completed', 'cancelled'))
	AND (SELECT r.n FROM recipients r WHERE r.batch = b.id AND r.outcome IS NULL ORDER BY r.n LIMIT 1) IS NOT NULL
ORDER BY b.id`

// revive gives orphaned batches new jobs.
func (db *DB) revive(ctx context.Context, id int64) (jobs []job.Inserted, err error) {
	batches, err := ids(ctx, db.pool, orphaned, id)
	if err != nil || len(batches) == 0 {
		return nil, err
	}
	err = db.inTx(ctx, func(tx pgx.Tx) error {
		b, err := lockBroadcast(ctx, tx, id)
		if err != nil || b.State != broadcast.Running {
			return err
		}
		if batches, err = ids(ctx, tx, orphaned, id); err != nil {
			return err
		}
		if err := remakeJobs(ctx, tx, b, batches); err != nil {
			return err
		}
		jobs, err = firstJobs(ctx, tx, id)
		return err
	})
	return jobs, err
}

// purgeable are broadcasts that ended longer than $1 seconds ago and whose recipients are
// not gone, the oldest first.
const purgeable = `
	SELECT id FROM broadcasts WHERE finished_at < now() - make_interval(secs => $1) AND purged_at IS NULL
	ORDER BY finished_at LIMIT $2`

// purgeRecipients deletes recipients by where they lie: they are found through their
// batches, and nothing changes them any more.
const purgeRecipients = `
DELETE FROM recipients WHERE ctid = any(ARRAY(
	SELECT r.ctid FROM (` + purgeable + `) old
	JOIN batches b ON b.broadcast = old.id
	JOIN recipients r ON r.batch = b.id
	LIMIT $2))`

const markPurged = `
UPDATE broadcasts SET purged_at = clock_timestamp()
FROM (` + purgeable + `) old
WHERE broadcasts.id = old.id AND NOT EXISTS (
	SELECT FROM batches b WHERE b.broadcast = old.id
		AND (SELECT r.n FROM recipients r WHERE r.batch = b.id ORDER BY r.n LIMIT 1) IS NOT NULL)`

// PurgeRecipients deletes the recipients of broadcasts that ended longer than
// broadcast.Keep ago; the counts stay. It deletes so many at a time, as long as there are
// as many, and begins no more after until. It gives how many are gone.
func (db *DB) PurgeRecipients(ctx context.Context, limit int, until time.Time) (deleted int64, err error) {
	return repeated(limit, until, func() (int64, error) {
		gone, err := db.changeMany(ctx, purgeRecipients, broadcast.Keep.Seconds(), limit)
		if err == nil {
			_, err = db.changeMany(ctx, markPurged, broadcast.Keep.Seconds(), limit)
		}
		if err != nil {
			return gone, fmt.Errorf("purge recipients: %w", err)
		}
		return gone, nil
	})
}
