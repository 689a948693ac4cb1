package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/job"
)

// insertJob inserts a job; no row comes back when its key exists.
const insertJob = `
INSERT INTO jobs (queue, kind, payload_version, key, fingerprint, lane, strict, priority, sequence,
	run_at, gather_until, payload, correlation_id)
VALUES ($1, $2, $3, $4, nullif($5, ''), $6, $7, $8, $9,
	clock_timestamp() + make_interval(secs => $10),
	CASE WHEN $11::float8 > 0 THEN clock_timestamp() + make_interval(secs => $11) END,
	$12, $13)
ON CONFLICT (key) DO NOTHING
RETURNING id, queue, lane, state, extract(epoch FROM run_at - clock_timestamp())::float8`

const findJob = `
SELECT id, queue, lane, state, extract(epoch FROM run_at - clock_timestamp())::float8, coalesce(fingerprint, '')
FROM jobs WHERE key = $1`

// Insert inserts jobs in one transaction and says where each can be found, in the
// same order. A key that exists stays as it is; with another fingerprint it is
// job.ErrMismatch and nothing is inserted.
func (db *DB) Insert(ctx context.Context, jobs []job.New) ([]job.Inserted, error) {
	if len(jobs) == 0 {
		return nil, nil
	}
	var out []job.Inserted
	insert := func(s session) (err error) {
		out, err = insertJobs(ctx, s, jobs)
		return err
	}
	var err error
	if plain(jobs) { // a batch is a transaction
		err = again(func() error { return insert(db.pool) })
	} else {
		err = db.inTx(ctx, func(tx pgx.Tx) error { return insert(tx) })
	}
	if err != nil {
		return nil, fmt.Errorf("insert jobs: %w", err)
	}
	return out, nil
}

// plain: nothing depends on what is found under a key that exists.
func plain(jobs []job.New) bool {
	return !slices.ContainsFunc(jobs, func(j job.New) bool { return j.Gather != nil || j.Fingerprint != "" })
}

// insertJobs inserts within a transaction: one round trip when no key exists. Plain
// jobs need none around it.
func insertJobs(ctx context.Context, s session, jobs []job.New) ([]job.Inserted, error) {
	b := &pgx.Batch{}
	out, err := queueInserts(b, jobs)
	if err != nil {
		return nil, err
	}
	if err := s.SendBatch(ctx, b).Close(); err != nil {
		return nil, err
	}
	return out, findExisting(ctx, s, jobs, out)
}

// queueInserts queues an insert for each job. Those that are New when the batch is
// done were inserted; the others' keys exist.
func queueInserts(b *pgx.Batch, jobs []job.New) ([]job.Inserted, error) {
	out := make([]job.Inserted, len(jobs))
	for i, j := range jobs {
		args, err := insertArgs(j)
		if err != nil {
			return nil, err
		}
		out[i].Key = j.Key
		b.Queue(insertJob, args...).QueryRow(func(row pgx.Row) error {
			err := scanInserted(row, &out[i])
			out[i].New = err == nil
			if err != nil && !errors.Is(err, pgx.ErrNoRows) {
				return fmt.Errorf("insert job %s: %w", j.Kind, err)
			}
			return nil
		})
	}
	return out, nil
}

// findExisting deals with the keys that were there already.
func findExisting(ctx context.Context, s session, jobs []job.New, out []job.Inserted) error {
	for i, j := range jobs {
		if out[i].New {
			continue
		}
		if err := existing(ctx, s, j, &out[i]); err != nil {
			return err
		}
	}
	return nil
}

func existing(ctx context.Context, s session, j job.New, out *job.Inserted) error {
	if j.Gather != nil {
		return join(ctx, s, j, out)
	}
	var fingerprint string
	if err := scanInserted(s.QueryRow(ctx, findJob, clean(j.Key)), out, &fingerprint); err != nil {
		return fmt.Errorf("find job %s: %w", j.Kind, err)
	}
	if j.Fingerprint != "" && fingerprint != j.Fingerprint {
		return job.ErrMismatch
	}
	return nil
}

func scanInserted(row pgx.Row, out *job.Inserted, more ...any) error {
	var runIn float64
	dest := append([]any{&out.ID, &out.Queue, &out.Lane, &out.State, &runIn}, more...)
	if err := row.Scan(dest...); err != nil {
		return err
	}
	out.RunIn = seconds(runIn)
	return nil
}

func insertArgs(j job.New) ([]any, error) {
	payload, err := json.Marshal(j.Payload)
	if err != nil {
		return nil, fmt.Errorf("encode payload of %s: %w", j.Kind, err)
	}
	delay, gather := j.Delay, time.Duration(0)
	if j.Gather != nil {
		member, err := json.Marshal([]job.Member{{Key: j.Gather.Member, Payload: payload}})
		if err != nil {
			return nil, fmt.Errorf("encode member of %s: %w", j.Kind, err)
		}
		payload, delay, gather = member, max(j.Gather.Wait, j.Delay), j.Gather.Cap
	}
	return []any{
		j.Queue, j.Kind, max(j.Version, 1), clean(j.Key), j.Fingerprint, clean(j.Lane.Name), !j.Lane.Loose, j.Priority, j.Sequence,
		delay.Seconds(), gather.Seconds(), cleanJSON(payload), clean(j.CorrelationID),
	}, nil
}

// clean drops what a text column cannot hold.
func clean(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\uFFFD")
}

// cleanJSON replaces the escape \u0000, which jsonb refuses, by the replacement
// character: a customer's message must not be lost for it. The rest of the text
// is made by encoding/json and so is well-formed.
func cleanJSON(raw []byte) string {
	nul := []byte(`\u0000`)
	if !bytes.Contains(raw, nul) {
		return string(raw)
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		switch {
		case raw[i] != '\\':
			out = append(out, raw[i])
		case bytes.HasPrefix(raw[i:], nul):
			out = append(out, `\ufffd`...)
			i += len(nul) - 1
		default: // an escaped character, perhaps a backslash: both bytes stay
			out = append(out, raw[i], raw[i+1])
			i++
		}
	}
	return string(out)
}
