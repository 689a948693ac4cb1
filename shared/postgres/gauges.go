package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/gauge"
)

// measured are the gauges that one statement tells: name, two labels, value. What waits
// is counted through the index of heads, and no further than $1. An index can be asked
// for what is after now(), not for what is after the time by the clock.
const measured = `
WITH open AS MATERIALIZED (
	SELECT queue, state FROM jobs
	WHERE open AND held_at IS NULL AND (state = 'running' OR run_at <= clock_timestamp()) LIMIT $1
)
SELECT $2::text, queue, '', count(*)::float8 FROM open WHERE state <> 'running' GROUP BY queue
UNION ALL SELECT $3, queue, '', count(*) FROM open WHERE state = 'running' GROUP BY queue
UNION ALL SELECT $4, '', '', count(*) FROM (SELECT FROM jobs WHERE open AND held_at IS NOT NULL LIMIT $1) h
UNION ALL SELECT $5, '', '', coalesce(sum(losses), 0) FROM jobs WHERE open AND losses > 0
UNION ALL SELECT $6, queue, state, count(*) FROM jobs
	WHERE NOT open AND finished_at > now() - interval '1 minute' GROUP BY queue, state
UNION ALL SELECT $7, 'true', '', count(*) FROM dead_letters WHERE kept_at > clock_timestamp() - interval '1 day' AND job IS NOT NULL
UNION ALL SELECT $7, 'false', '', count(*) FROM dead_letters WHERE kept_at > clock_timestamp() - interval '1 day' AND job IS NULL
UNION ALL SELECT $8, name, '', extract(epoch FROM clock_timestamp() - done_at) FROM duties WHERE done_at IS NOT NULL
UNION ALL SELECT $9, name, '', extract(epoch FROM took) FROM duties WHERE took IS NOT NULL`

// countedMost is how far jobs are counted that wait.
const countedMost = 100_000

// labelled names the labels of the gauges above.
var labelled = map[string][2]string{
	gauge.Due: {"queue"}, gauge.Running: {"queue"}, gauge.Ended: {"queue", "state"}, gauge.Dead: {"hint"},
	gauge.DutyAge: {"duty"}, gauge.DutyTook: {"duty"},
}

// Measure implements gauge.Source.
func (db *DB) Measure(ctx context.Context) ([]gauge.Sample, error) {
	samples, err := collect(ctx, db.pool, "measure jobs", func(row pgx.CollectableRow) (s gauge.Sample, err error) {
		var first, second string
		err = row.Scan(&s.Name, &first, &second, &s.Value)
		names := labelled[s.Name]
		for i, value := range []string{first, second} {
			if names[i] == "" {
				continue
			}
			if s.Labels == nil {
				s.Labels = map[string]string{}
			}
			s.Labels[names[i]] = value
		}
		return s, err
	}, measured, countedMost, gauge.Due, gauge.Running, gauge.Held, gauge.Losses, gauge.Ended, gauge.Dead, gauge.DutyAge, gauge.DutyTook)
	if err != nil {
		return nil, err
	}
	h, err := db.Health(ctx)
	if err != nil {
		return samples, err
	}
	samples = append(samples, gauge.Sample{Name: gauge.Reviews, Value: float64(h.Reviews)}, gauge.Sample{Name: gauge.Oldest, Value: h.Late.Seconds()})
	if !h.Loaded.IsZero() {
		samples = append(samples, gauge.Sample{Name: gauge.Loaded, Value: h.Now.Sub(h.Loaded).Seconds()})
	}
	return samples, nil
}

// readingName is the one row of gauges.
const readingName = "last"

// PutGauges keeps a reading in place of the one before.
func (db *DB) PutGauges(ctx context.Context, samples []gauge.Sample) error {
	raw, err := json.Marshal(samples)
	if err == nil {
		_, err = db.pool.Exec(ctx, `INSERT INTO gauges (name, samples) VALUES ($1, $2)
			ON CONFLICT (name) DO UPDATE SET samples = excluded.samples, at = clock_timestamp()`, readingName, string(raw))
	}
	if err != nil {
		return fmt.Errorf("keep gauges: %w", err)
	}
	return nil
}

// Gauges gives the last reading, and the time by the clock that it was taken by.
func (db *DB) Gauges(ctx context.Context) (r gauge.Reading, now time.Time, err error) {
	var raw json.RawMessage
	err = db.pool.QueryRow(ctx, `SELECT at, samples, clock_timestamp() FROM gauges WHERE name = $1`, readingName).Scan(&r.At, &raw, &now)
	if errors.Is(err, pgx.ErrNoRows) {
		return r, now, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &r.Samples)
	}
	if err != nil {
		return r, now, fmt.Errorf("read gauges: %w", err)
	}
	return r, now, nil
}

// Backlog counts the due jobs of a queue that nobody has begun, no further than others are
// counted.
func (db *DB) Backlog(ctx context.Context, queue string) (n int, err error) {
	err = db.pool.QueryRow(ctx, `SELECT count(*) FROM (
		SELECT FROM jobs WHERE open AND held_at IS NULL AND state <> 'running' AND run_at <= clock_timestamp() AND queue = $1 LIMIT $2) b`,
		queue, countedMost).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count backlog: %w", err)
	}
	return n, nil
}
