package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/broadcast"
	"supportbot/shared/job"
)

// settleTime is how long whoever pauses or cancels waits for the second phase; after
// it the rest is the reconciler's.
const settleTime = 3 * time.Second

// move is a change of state that a person asks for.
type move struct {
	what  string
	from  []broadcast.State // where it may begin
	to    broadcast.State
	been  []broadcast.State // where it has happened already: nothing changes
	after func(ctx context.Context, tx pgx.Tx, id int64) error
}

// lockBroadcast locks a broadcast's row against changes of its state and gives it;
// claims wait meanwhile.
func lockBroadcast(ctx context.Context, tx pgx.Tx, id int64) (broadcast.Broadcast, error) {
	if _, err := tx.Exec(ctx, `SELECT FROM broadcasts WHERE id = $1 FOR NO KEY UPDATE`, id); err != nil {
		return broadcast.Broadcast{}, fmt.Errorf("lock broadcast: %w", err)
	}
	return scanBroadcast(tx.QueryRow(ctx, readBroadcast+`WHERE s.id = $1`, id))
}

// move makes a change and gives the broadcast as it is then, and its first jobs.
// job.ErrNotFound: there is none, or its state does not allow this.
func (db *DB) move(ctx context.Context, id int64, m move) (b broadcast.Broadcast, jobs []job.Inserted, err error) {
	err = db.inTx(ctx, func(tx pgx.Tx) error {
		if b, err = lockBroadcast(ctx, tx, id); err != nil || slices.Contains(m.been, b.State) {
			return err
		}
		if !slices.Contains(m.from, b.State) {
			return job.ErrNotFound
		}
		if _, err := become(ctx, tx, b, m.to, "true"); err != nil {
			return err
		}
		if err := m.after(ctx, tx, id); err != nil {
			return err
		}
		if jobs, err = firstJobs(ctx, tx, id); err != nil {
			return err
		}
		b, err = scanBroadcast(tx.QueryRow(ctx, readBroadcast+`WHERE s.id = $1`, id))
		return err
	})
	if err != nil {
		return broadcast.Broadcast{}, nil, fmt.Errorf("%s broadcast %d: %w", m.what, id, err)
	}
	return b, jobs, nil
}

// settled is what a change is answered with: the second phase, if it can be had soon.
func (db *DB) settled(ctx context.Context, b broadcast.Broadcast, err error) (broadcast.Broadcast, error) {
	if err != nil {
		return b, err
	}
	soon, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	if _, err := db.Settle(soon, b.ID); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return b, err
	}
	return db.Broadcast(ctx, b.ID)
}

// PauseBroadcast stops a running broadcast: no claim begins any more, and it is paused
// when no call is under way.
func (db *DB) PauseBroadcast(ctx context.Context, id int64) (broadcast.Broadcast, error) {
	b, _, err := db.move(ctx, id, move{
		what: "pause", from: []broadcast.State{broadcast.Running}, to: broadcast.Pausing,
		been:  []broadcast.State{broadcast.Pausing, broadcast.Paused},
		after: func(ctx context.Context, tx pgx.Tx, id int64) error { return changeJobs(ctx, tx, id, pauseJob) },
	})
	return db.settled(ctx, b, err)
}

// ResumeBroadcast goes on with a paused broadcast, or takes a pause back that has not
// come to its end. It gives the jobs to be published.
func (db *DB) ResumeBroadcast(ctx context.Context, id int64) (broadcast.Broadcast, []job.Inserted, error) {
	return db.move(ctx, id, move{
		what: "resume", from: []broadcast.State{broadcast.Pausing, broadcast.Paused}, to: broadcast.Running,
		been:  []broadcast.State{broadcast.Running},
		after: func(ctx context.Context, tx pgx.Tx, id int64) error { return changeJobs(ctx, tx, id, resumeJob) },
	})
}

// CancelBroadcast ends a broadcast: at once if nothing of it was sent, else when no
// call is under way and the rest is skipped.
func (db *DB) CancelBroadcast(ctx context.Context, id int64) (broadcast.Broadcast, error) {
	end := func(ctx context.Context, tx pgx.Tx, id int64) error { return changeJobs(ctx, tx, id, cancelJob) }
	b, _, err := db.move(ctx, id, move{
		what: "cancel", from: []broadcast.State{broadcast.Draft, broadcast.Scheduled, broadcast.Planning}, to: broadcast.Cancelled,
		been: []broadcast.State{broadcast.Running, broadcast.Pausing, broadcast.Paused, broadcast.Cancelling, broadcast.Cancelled}, after: end,
	})
	if err == nil && b.State != broadcast.Cancelled {
		b, _, err = db.move(ctx, id, move{
			what: "cancel", from: []broadcast.State{broadcast.Running, broadcast.Pausing, broadcast.Paused}, to: broadcast.Cancelling,
			been: []broadcast.State{broadcast.Cancelling, broadcast.Cancelled}, after: end,
		})
	}
	return db.settled(ctx, b, err)
}

// SetBroadcastRate changes how many messages a second go out in each messenger; 0 is
// the limit of broadcasts.
func (db *DB) SetBroadcastRate(ctx context.Context, id int64, perSecond float64) (broadcast.Broadcast, error) {
	tag, err := db.pool.Exec(ctx, `UPDATE broadcasts SET rate = nullif($2::float8, 0)
		WHERE id = $1 AND state NOT IN ('cancelling', 'cancelled', 'finished')`, id, perSecond)
	if err == nil && tag.RowsAffected() == 0 {
		err = job.ErrNotFound
	}
	if err != nil {
		return broadcast.Broadcast{}, fmt.Errorf("set rate of broadcast %d: %w", id, err)
	}
	return db.Broadcast(ctx, id)
}

// ResendUncertain gives recipients whose outcome nobody knows back to be sent to
// again, on their own: n of them, in new jobs. A finished broadcast runs again; a
// paused one stays paused. Who still had a claim may write nothing more.
func (db *DB) ResendUncertain(ctx context.Context, id int64) (n int, jobs []job.Inserted, err error) {
	err = db.inTx(ctx, func(tx pgx.Tx) error {
		b, err := lockBroadcast(ctx, tx, id)
		if err != nil {
			return err
		}
		if !slices.Contains([]broadcast.State{broadcast.Running, broadcast.Paused, broadcast.Finished}, b.State) || expired(b) {
			return job.ErrNotFound
		}
		back, err := ids(ctx, tx, `
			UPDATE recipients r SET outcome = NULL, claim = NULL, claimed_at = NULL, not_before = clock_timestamp(), error = NULL, done_at = NULL
			FROM batches b WHERE b.broadcast = $1 AND r.batch = b.id AND r.odd = 'uncertain'
			RETURNING r.batch`, id)
		if n = len(back); err != nil || n == 0 {
			return err
		}
		return reopen(ctx, tx, b, back, &jobs)
	})
	if err != nil {
		return 0, nil, fmt.Errorf("resend uncertain of broadcast %d: %w", id, err)
	}
	return n, jobs, nil
}

// expired reports whether a broadcast ended so long ago that its recipients are
// deleted, or will be.
func expired(b broadcast.Broadcast) bool {
	return b.FinishedAt != nil && time.Since(*b.FinishedAt) > broadcast.Keep-time.Hour
}

// reopen makes what is needed to send to batches again in which recipients are open.
func reopen(ctx context.Context, tx pgx.Tx, b broadcast.Broadcast, batches []int64, jobs *[]job.Inserted) error {
	slices.Sort(batches)
	batches = slices.Compact(batches)
	lock := &pgx.Batch{}
	lock.Queue(`SELECT`+lockBatches, batches)
	lock.Queue(recount, batches)
	if err := tx.SendBatch(ctx, lock).Close(); err != nil {
		return fmt.Errorf("recount batches: %w", err)
	}
	batches, err := ids(ctx, tx, orphaned, b.ID) // others are sent by the job that they have
	if err != nil {
		return err
	}
	if err := remakeJobs(ctx, tx, b, batches); err != nil {
		return err
	}
	if b.State == broadcast.Paused {
		return changeJobs(ctx, tx, b.ID, pauseJob)
	}
	if _, err := become(ctx, tx, b, broadcast.Running, "true"); err != nil {
		return err
	}
	*jobs, err = firstJobs(ctx, tx, b.ID)
	return err
}
