package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	smallRows     = 10_000
	growthWorkers = 16
	flatWorkers   = 4
)

// growth measures lives in a small and in a large table, both filled by the worker's
// own statements, with autovacuum as it is by default.
func growth(ctx context.Context, o options, r *report) error {
	s, err := newStage(ctx, o)
	if err != nil {
		return err
	}
	defer s.close()
	began := time.Now()
	if err := s.grown(ctx, "small", smallRows); err != nil {
		return err
	}
	if err := s.grown(ctx, "large", o.rows); err != nil {
		return err
	}
	r.note("growth: %d jobs lived and ended in %.0f s, accepted by %d at once, everything else as ever; then %d workers",
		smallRows+o.rows, time.Since(began).Seconds(), batch, flatWorkers)
	large, err := newLives(s.address("large"), flatWorkers)
	if err != nil {
		return err
	}
	defer large.close()
	large.serial.Store(int64(o.rows))
	rates, err := contest(ctx, o, s.postgres.URL(), s.fresh, large.warm)
	if err != nil {
		return err
	}
	rows, err := large.finished(ctx)
	if err != nil {
		return err
	}
	r.figure(fmt.Sprintf("jobs, %d finished in the table", smallRows), median(rates[0]), "lives/s")
	r.figure(fmt.Sprintf("jobs, %d finished in the table", o.rows), median(rates[1]), "lives/s")
	size, err := tableSize(ctx, s.address("large"))
	if err != nil {
		return err
	}
	r.figure("the large table in the end, rows", float64(rows), "")
	r.figure("the large table in the end, with its indexes", size, "MB")
	r.atMost(fmt.Sprintf("jobs, table of %d : table of %d", smallRows, o.rows), ratioOf(rates[0], rates[1]), 1.3, "")
	return nil
}

// grown makes a database in which so many jobs have ended. What is not measured need
// not wait for the disk.
func (s *stage) grown(ctx context.Context, name string, rows int) error {
	url, err := s.database(ctx, name, migrated)
	if err != nil {
		return err
	}
	l, err := newLives(url+"&options=-c%20synchronous_commit%3Doff", growthWorkers)
	if err != nil {
		return err
	}
	defer l.close()
	if err := l.grow(ctx, growthWorkers, rows); err != nil {
		return fmt.Errorf("fill table: %w", err)
	}
	_, err = l.finished(ctx)
	return err
}

// fresh measures a copy of the small table, so that it is small in each round.
func (s *stage) fresh(ctx context.Context, d time.Duration) (float64, error) {
	url, err := s.database(ctx, "fresh", "small")
	if err != nil {
		return 0, err
	}
	l, err := newLives(url, flatWorkers)
	if err != nil {
		return 0, err
	}
	l.serial.Store(smallRows)
	rate, err := l.warm(ctx, d)
	l.close()
	if err != nil {
		return 0, err
	}
	return rate, s.drop(ctx, "fresh")
}

// warmUp is before each round of both: connections and caches are new in one of them.
const warmUp = time.Second

func (l *lives) warm(ctx context.Context, d time.Duration) (float64, error) {
	if _, err := l.run(ctx, flatWorkers, warmUp); err != nil {
		return 0, err
	}
	return l.run(ctx, flatWorkers, d)
}

// tableSize gives megabytes.
func tableSize(ctx context.Context, url string) (mb float64, err error) {
	err = withConn(ctx, url, func(c *pgx.Conn) error {
		return c.QueryRow(ctx, `SELECT pg_total_relation_size('jobs') / 1048576.0`).Scan(&mb)
	})
	return mb, err
}
