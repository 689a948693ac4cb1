package postgres

import (
	"context"
	"errors"
	"fmt"

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

// PurgeRecipients deletes the recipients of broadcasts that ended longer than
// broadcast.Keep ago, those of up to limit batches; the counts stay. It gives how
// many it deleted.
func (db *DB) PurgeRecipients(ctx context.Context, limit int) (deleted int64, err error) {
	for limit > 0 {
		old, err := ids(ctx, db.pool, `
			SELECT id FROM broadcasts WHERE finished_at < clock_timestamp() - make_interval(secs => $1) AND purged_at IS NULL
			ORDER BY finished_at LIMIT 1`, broadcast.Keep.Seconds())
		if err != nil {
			return deleted, fmt.Errorf("purge recipients: %w", err)
		}
		if len(old) == 0 {
			return deleted, nil
		}
		batches, err := ids(ctx, db.pool, `
			SELECT id FROM batches b WHERE broadcast = $1
				AND (SELECT r.n FROM recipients r WHERE r.batch = b.id ORDER BY r.n LIMIT 1) IS NOT NULL
			ORDER BY id LIMIT $2`, old[0], limit)
		if err != nil {
			return deleted, fmt.Errorf("purge recipients: %w", err)
		}
		if len(batches) == 0 {
			if _, err := db.pool.Exec(ctx, `UPDATE broadcasts SET purged_at = clock_timestamp() WHERE id = $1`, old[0]); err != nil {
				return deleted, fmt.Errorf("purge recipients: %w", err)
			}
		}
		for _, batch := range batches {
			tag, err := db.pool.Exec(ctx, `DELETE FROM recipients WHERE batch = $1`, batch)
			if err != nil {
				return deleted, fmt.Errorf("purge recipients: %w", err)
			}
			deleted += tag.RowsAffected()
		}
		limit -= len(batches)
	}
	return deleted, nil
}
