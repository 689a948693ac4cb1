package bench

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// jobs measures whole lives of jobs at 1, 4 and 16 workers.
func jobs(ctx context.Context, o options, r *report) error {
	s, err := newStage(ctx, o)
	if err != nil {
		return err
	}
	defer s.close()
	specimen, err := s.database(ctx, "specimen", migrated)
	if err != nil {
		return err
	}
	same, flights, err := lifeScript(ctx, specimen)
	if err != nil {
		return err
	}
	r.note("jobs: one life is %d statements in %d round trips; a worker inserts a job, publishes it to a queue that", statements(flights), len(flights))
	r.note("counts, gets its hint as a trigger's event and does nothing; as many connections as workers")
	for _, workers := range []int{1, 4, 16} {
		if err := s.lives(ctx, o, r, workers, same); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) lives(ctx context.Context, o options, r *report, workers int, same script) error {
	name := fmt.Sprintf("jobs%d", workers)
	url, err := s.database(ctx, name, migrated)
	if err != nil {
		return err
	}
	l, err := newLives(url, workers)
	if err != nil {
		return err
	}
	defer l.close()
	bench, err := newPgbench(ctx, s.dir, url, &s.runs)
	if err != nil {
		return err
	}
	program := func(sc script) contender {
		return func(ctx context.Context, d time.Duration) (float64, error) { return bench.run(ctx, sc, workers, d) }
	}
	ours := func(ctx context.Context, d time.Duration) (float64, error) { return l.run(ctx, workers, d) }
	stop, err := o.profiled(name)
	if err != nil {
		return err
	}
	rates, err := contest(ctx, o, url, ours, program(same), program(leastLife()))
	stop()
	if err != nil {
		return err
	}
	label := fmt.Sprintf("jobs, %d workers", workers)
	r.figure(label, median(rates[0]), "lives/s")
	r.figure(label+": pgbench, the same statements", median(rates[1]), "lives/s")
	r.figure(label+": pgbench, the least statements", median(rates[2]), "lives/s")
	r.plain(label+" : pgbench, the same statements", ratioOf(rates[0], rates[1]))
	r.plain(label+" : pgbench, the least statements", ratioOf(rates[0], rates[2]))
	_, err = l.finished(ctx)
	return err
}

// specimenID is where the ids of a specimen's database begin: found in no other
// parameter.
const specimenID = 8_700_000_000_001

// lifeScript records one job's life, in a lane that was used before, on an empty
// database.
func lifeScript(ctx context.Context, url string) (script, []flight, error) {
	if err := execute(ctx, url, "ALTER TABLE jobs ALTER id RESTART "+strconv.Itoa(specimenID)); err != nil {
		return script{}, nil, err
	}
	t, err := newTap(url)
	if err != nil {
		return script{}, nil, err
	}
	defer t.close()
	l, err := newLives(t.url, 1)
	if err != nil {
		return script{}, nil, err
	}
	defer l.close()
	const serial, lane = 7_600_000_000_001, "in:specimen"
	if _, err := l.one(ctx, lane, serial-1); err != nil {
		return script{}, nil, err
	}
	if _, err := t.take(); err != nil {
		return script{}, nil, err
	}
	id, err := l.one(ctx, lane, serial)
	if err != nil {
		return script{}, nil, err
	}
	flights, err := t.take()
	if err != nil {
		return script{}, nil, err
	}
	sc, err := transcribe(ctx, url, flights, lifeHead, strconv.FormatInt(id, 10),
		vary{strconv.Itoa(serial), `(:serial)::text`},
		vary{lane, `'pgbench-' || (:client_id)::text || '-' || (:lane)::text`})
	return sc, flights, err
}

// lifeHead numbers the jobs of a client and walks through its lanes.
var lifeHead = fmt.Sprintf(`\set n :n + 1
\set lane :n %% %d
\set serial (:client_id + 1) * 1000000000000 + :start + :n
`, lanes)

// leastLife is a job's life as one would write it without lanes, leases or hints: an
// insert, a mark, a start, an end. Those that are durable here are durable there.
func leastLife() script {
	return script{text: lifeHead + `INSERT INTO jobs (queue, kind, key, lane, strict, sequence, payload, correlation_id)
	VALUES ('tickets', 'bench', 'least' || (:serial)::text, 'least', true, (:serial)::bigint, (:payload)::jsonb, 'least') RETURNING id \gset
\startpipeline
SELECT set_config('synchronous_commit', 'off', true);
UPDATE jobs SET state = 'queued', published_at = clock_timestamp() WHERE id = (:id)::bigint AND state = 'accepted';
\endpipeline
\startpipeline
SELECT set_config('synchronous_commit', 'off', true);
UPDATE jobs SET state = 'running', lease_token = (:token)::uuid, started_at = clock_timestamp()
	WHERE id = (:id)::bigint AND state = 'queued' RETURNING id, payload;
\endpipeline
UPDATE jobs SET state = 'completed', lease_token = NULL, finished_at = clock_timestamp()
	WHERE id = (:id)::bigint AND lease_token = (:token)::uuid RETURNING state;
`, variables: []string{"payload=" + text(payload), "token=00000000-0000-0000-0000-00000000000a"}}
}
