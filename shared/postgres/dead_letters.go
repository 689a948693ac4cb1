package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/job"
)

// keepDead keeps a letter of queue $1 with the id $2 once. A job that has not ended
// well is told of it; of one that has, the letter is only counted. A hint whose job is
// gone may be of somebody who was erased: it says nothing, and nobody is erased while it is
// kept. Letters come by the dozen, and
// only the latest of some in a row stands among the job's failures.
var keepDead = `
WITH j AS (
	SELECT id, state, stage, attempts FROM jobs WHERE id = $3::bigint FOR NO KEY UPDATE
), kept AS (
	INSERT INTO dead_letters (queue, message, job, state, stage, attempts, correlation_id, body, sent_at, receives)
	SELECT $1, $2, j.id, coalesce(j.state, ''), coalesce(j.stage, ''), coalesce(j.attempts, 0),
		CASE WHEN j.id IS NOT NULL THEN $4 ELSE '' END, CASE WHEN hint.id = 0 THEN $5 ELSE '' END, $6::timestamptz, $9
	FROM (VALUES ($3::bigint)) hint (id) LEFT JOIN j ON j.id = hint.id
	ON CONFLICT (queue, message) DO NOTHING
	RETURNING job
), told AS (
	UPDATE jobs SET failures = CASE WHEN failures -> -1 ->> 'what' = $7 THEN (failures - -1) || ` + failure("$7", "$8") + `
		ELSE ` + failures("$7", "$8") + ` END
	FROM kept WHERE jobs.id = kept.job AND state NOT IN ('completed', 'cancelled')
)
SELECT count(*) FROM kept`

// KeepDead keeps dead letters and gives how many of them are new. Each is a statement
// of its own, which locks one job at most.
func (db *DB) KeepDead(ctx context.Context, letters []job.DeadLetter) (kept int, err error) {
	for _, l := range letters {
		var n int
		why := "no call that got a hint of it ended well; message " + clean(l.Message) + " of " + l.Queue
		err := db.pool.QueryRow(ctx, keepDead, l.Queue, clean(l.Message), l.Job, clean(l.CorrelationID), cut(clean(l.Body), job.DeadBody),
			orNull(l.SentAt), job.FailureDead, why, l.Receives).Scan(&n)
		if err != nil {
			return kept, fmt.Errorf("keep dead letter of %s: %w", l.Queue, err)
		}
		kept += n
	}
	return kept, nil
}

// cut leaves at most so many bytes of a text, whole characters.
func cut(s string, most int) string {
	return strings.ToValidUTF8(s[:min(len(s), most)], "")
}

// DeadLetters gives those below an id, the newest first.
func (db *DB) DeadLetters(ctx context.Context, before int64, limit int) ([]job.DeadLetter, error) {
	return collect(ctx, db.pool, "list dead letters", func(row pgx.CollectableRow) (l job.DeadLetter, err error) {
		var sent *time.Time
		err = row.Scan(&l.ID, &l.Queue, &l.Message, &l.Job, &l.State, &l.Stage, &l.Attempts, &l.Receives, &l.CorrelationID, &l.Body, &sent, &l.KeptAt)
		l.SentAt = orZero(sent)
		return l, err
	}, `SELECT id, queue, message, coalesce(job, 0), state, stage, attempts, receives, correlation_id, body, sent_at, kept_at
		FROM dead_letters WHERE id < $1 ORDER BY id DESC LIMIT $2`, before, limit)
}
