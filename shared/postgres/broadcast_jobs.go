package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/broadcast"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/obs"
)

// Whoever changes a broadcast locks in this order: broadcasts, batches, recipients,
// lanes, jobs.

// part is a batch as its job is made of it.
type part struct {
	id        int64
	messenger messenger.Name
	bot       string
	size      int
	round     int
}

// makeJobs makes a job for each of the batches.
func makeJobs(ctx context.Context, tx pgx.Tx, b broadcast.Broadcast, parts []part) error {
	if len(parts) == 0 {
		return nil
	}
	jobs := make([]job.New, len(parts))
	for i, p := range parts {
		jobs[i] = job.New{
			Queue: broadcast.Queue, Kind: broadcast.KindBatch, Key: broadcast.BatchKey(p.id, p.round),
			Lane: broadcast.Lane(p.messenger, p.bot), Priority: broadcast.Priority(b.Kind, b.Urgency), Sequence: p.id,
			Payload: broadcast.BatchJob{Broadcast: b.ID, Batch: p.id}, CorrelationID: obs.Correlation(ctx),
		}
	}
	made, err := insertJobs(ctx, tx, jobs)
	if err != nil {
		return err
	}
	batches, ids := make([]int64, len(parts)), make([]int64, len(parts))
	for i := range parts {
		batches[i], ids[i] = parts[i].id, made[i].ID
	}
	_, err = tx.Exec(ctx, `UPDATE batches SET job = made.job FROM unnest($1::bigint[], $2::bigint[]) AS made (batch, job) WHERE id = made.batch`,
		batches, ids)
	if err != nil {
		return fmt.Errorf("note jobs of batches: %w", err)
	}
	return nil
}

// remakeJobs gives batches a new job each.
func remakeJobs(ctx context.Context, tx pgx.Tx, b broadcast.Broadcast, batches []int64) error {
	parts, err := collect(ctx, tx, "begin new round", func(row pgx.CollectableRow) (p part, err error) {
		err = row.Scan(&p.id, &p.messenger, &p.bot, &p.size, &p.round)
		return p, err
	}, `
		UPDATE batches SET round = round + 1, done_at = NULL WHERE id = ANY($1) RETURNING id, messenger, bot, size, round`, batches)
	if err != nil {
		return err
	}
	return makeJobs(ctx, tx, b, parts)
}

// firstJobs gives the first job of a broadcast in each lane: a hint for more than one
// of a lane would only find it held.
func firstJobs(ctx context.Context, tx pgx.Tx, id int64) ([]job.Inserted, error) {
	return collect(ctx, tx, "find first jobs", func(row pgx.CollectableRow) (in job.Inserted, err error) {
		err = scanInserted(row, &in, &in.Key)
		return in, err
	}, `
		SELECT DISTINCT ON (j.lane) j.id, j.queue, j.lane, j.state, extract(epoch FROM j.run_at - clock_timestamp())::float8, j.key
		FROM batches b JOIN jobs j ON j.id = b.job
		WHERE b.broadcast = $1 AND j.open AND j.held_at IS NULL
		ORDER BY j.lane, j.priority DESC, j.sequence, j.id`, id)
}

// jobsOf are the jobs of broadcast $1 that have not ended: its batches' and that
// which plans it, whose key is $2.
const jobsOf = `id IN (SELECT job FROM batches WHERE broadcast = $1 UNION ALL SELECT id FROM jobs WHERE key = $2)
	AND state NOT IN ('completed', 'cancelled')`

// changeJobs changes the jobs of a broadcast with their lanes locked, so that none
// starts or ends meanwhile.
func changeJobs(ctx context.Context, tx pgx.Tx, id int64, set string) error {
	b := &pgx.Batch{}
	b.Queue(`INSERT INTO lanes (name) SELECT DISTINCT lane FROM jobs WHERE `+jobsOf+` ORDER BY lane
		ON CONFLICT (name) DO UPDATE SET used_at = clock_timestamp()`, id, broadcast.PlanKey(id))
	b.Queue(`UPDATE jobs SET `+set+` WHERE `+jobsOf, id, broadcast.PlanKey(id))
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return fmt.Errorf("change jobs of broadcast: %w", err)
	}
	return nil
}
