package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/job"
)

// findGather locks a gathered job, so that it cannot start meanwhile, and says
// whether it has this member already.
const findGather = `
SELECT id, queue, lane, state, extract(epoch FROM run_at - clock_timestamp())::float8,
	payload @> jsonb_build_array(jsonb_build_object('key', $2::text)),
	state IN ('accepted', 'queued') AND attempts = 0 AND stage = '' AND held_at IS NULL
FROM jobs WHERE key = $1 FOR UPDATE`

const joinGather = `
UPDATE jobs SET payload = payload || $2::jsonb,
	run_at = greatest(run_at, least(clock_timestamp() + make_interval(secs => $3), gather_until))
WHERE id = $1
RETURNING extract(epoch FROM run_at - clock_timestamp())::float8`

// join adds a part to a gathered job. When the job has started the part becomes a
// job of its own.
func join(ctx context.Context, tx session, j job.New, out *job.Inserted) error {
	var has, waiting bool
	err := scanInserted(tx.QueryRow(ctx, findGather, clean(j.Key), j.Gather.Member), out, &has, &waiting)
	switch {
	case err != nil && !errors.Is(err, pgx.ErrNoRows):
		return fmt.Errorf("find gathered job %s: %w", j.Kind, err)
	case has:
		return nil
	case !waiting:
		return insertLate(ctx, tx, j, out)
	}
	payload, err := json.Marshal(j.Payload)
	if err != nil {
		return fmt.Errorf("encode payload of %s: %w", j.Kind, err)
	}
	member, err := json.Marshal([]job.Member{{Key: j.Gather.Member, Payload: payload}})
	if err != nil {
		return fmt.Errorf("encode member of %s: %w", j.Kind, err)
	}
	var runIn float64
	if err := tx.QueryRow(ctx, joinGather, out.ID, cleanJSON(member), j.Gather.Wait.Seconds()).Scan(&runIn); err != nil {
		return fmt.Errorf("join gathered job %s: %w", j.Kind, err)
	}
	out.RunIn = seconds(runIn)
	return nil
}

// insertLate makes a part that came too late a job of its own, keyed by the part.
func insertLate(ctx context.Context, tx session, j job.New, out *job.Inserted) error {
	late := j
	late.Key = j.Gather.Member
	late.Gather = nil
	payload, err := json.Marshal(j.Payload)
	if err != nil {
		return fmt.Errorf("encode payload of %s: %w", j.Kind, err)
	}
	late.Payload = []job.Member{{Key: j.Gather.Member, Payload: payload}}
	made, err := insertJobs(ctx, tx, []job.New{late})
	if err != nil {
		return err
	}
	*out = made[0]
	return nil
}
