package bench

import (
	"context"
	_ "embed" // the statements of a year
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"supportbot/migrations"
	"supportbot/shared/clickhouse"
	"supportbot/shared/metric"
)

//go:embed sql/year.sql
var yearSQL string

const (
	eventsEach = 10   // of a ticket
	metricMost = 1000 // ms, for 95 of 100 answers
	// metricRounds are asked at least: of fewer answers the 95th of 100 is the slowest.
	metricRounds = 10
)

// metrics measures every metric's query over a year of tickets that ClickHouse makes
// up by itself.
func (s *stage) metrics(ctx context.Context, o options, r *report) error {
	if err := s.house(ctx); err != nil {
		return err
	}
	all, err := metric.New(metric.Files)
	if err != nil {
		return err
	}
	_, db, err := s.analytics(ctx, "year", all.Views()...)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	end := time.Now().UTC().Truncate(24 * time.Hour)
	if err := makeYear(ctx, db, o.events/eventsEach, end); err != nil {
		return err
	}
	if err := settled(ctx, db); err != nil {
		return err
	}
	asked, rounds := questions(end), max(o.rounds, metricRounds)
	r.note("metrics: a year of %d tickets with %d events, made up by ClickHouse; each metric asked %d times, one query at a time:", o.events/eventsEach, o.events, len(asked)*rounds)
	r.note("of the last 30 days, of 90 days, of the year, and of the year in one messenger; ClickHouse on this machine, after its merges")
	for _, m := range all.All() {
		if err := measureMetric(ctx, r, db, m, asked, rounds); err != nil {
			return err
		}
	}
	if err := chartsPage(ctx, o, r, all, db); err != nil {
		return err
	}
	return s.sizeOnDisk(ctx, r, db, "metrics")
}

func measureMetric(ctx context.Context, r *report, db *clickhouse.DB, m *metric.Metric, asked []metric.Query, rounds int) error {
	var took []time.Duration
	rows := 0
	for range rounds {
		for _, q := range asked {
			began := time.Now()
			res, err := m.Run(ctx, db, q)
			if err != nil {
				return err
			}
			took = append(took, time.Since(began))
			rows = max(rows, len(res.Rows))
		}
	}
	if rows == 0 {
		return fmt.Errorf("metric %s has no rows", m.Name)
	}
	r.figure("metric "+m.Name+": p50", percentile(took, 0.5), "ms")
	r.atMost("metric "+m.Name+": p95", percentile(took, 0.95), metricMost, "ms")
	return nil
}

// questions are what analysts ask.
func questions(end time.Time) (asked []metric.Query) {
	for _, days := range []int{30, 90, 365} {
		asked = append(asked, metric.Query{From: end.AddDate(0, 0, -days), To: end, Zone: moscow(), Now: end})
	}
	one := asked[2]
	one.Messenger = "vk"
	return append(asked, one)
}

// moscow needs no time zones on this machine; ClickHouse has its own.
func moscow() *time.Location { return time.FixedZone("Europe/Moscow", 3*60*60) }

// makeYear fills a database.
func makeYear(ctx context.Context, db *clickhouse.DB, tickets int, end time.Time) error {
	derived, err := derivations()
	if err != nil {
		return err
	}
	filled := strings.NewReplacer("{tickets}", strconv.Itoa(tickets), "{end}", end.Format(time.DateTime))
	for _, statement := range append(clickhouse.Statements(yearSQL), derived...) {
		if err := db.Exec(ctx, filled.Replace(statement)); err != nil {
			return fmt.Errorf("make up a year: %w", err)
		}
	}
	return nil
}

// derivations are the statements by which the schema's own files make rows of others.
func derivations() (all []string, err error) {
	names, err := fs.Glob(migrations.ClickHouse, "clickhouse/*.sql")
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	for _, name := range names {
		text, err := migrations.ClickHouse.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read migration: %w", err)
		}
		for _, statement := range clickhouse.Statements(string(text)) {
			if strings.HasPrefix(statement, "INSERT") {
				all = append(all, statement)
			}
		}
	}
	return all, nil
}
