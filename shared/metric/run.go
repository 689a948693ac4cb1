package metric

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"supportbot/shared/analytics"
)

// Store runs a query. In it {name:Type} stands for a parameter. An error that has a
// method Timeout, which is true, is of a query that took too long.
type Store interface {
	Select(ctx context.Context, query string, params map[string]string) (analytics.Result, error)
}

// ErrSlow is a query that was ended because it took too long.
var ErrSlow = errors.New("the query took too long")

// MostTime is how long a query may take.
const MostTime = 20 * time.Second

// mostRows is how many rows a metric may have; a chart has some hundred.
const mostRows = 20_000

// limits end a query that would hold up others. All rows of a ticket lie in one
// partition, so that FINAL need not look into others.
var limits = "\nSETTINGS max_execution_time = " + strconv.Itoa(int(MostTime.Seconds())) +
	", max_result_rows = " + strconv.Itoa(mostRows) + ", result_overflow_mode = 'throw'" +
	", do_not_merge_across_partitions_select_final = 1"

// Result is a metric's rows, each with a value for each of the metric's columns.
type Result struct {
	Step Step // of its times, where it has any
	Rows [][]json.RawMessage
}

// Run asks for the metric. Rows are in the order of the SQL; over time they are in the
// order of time and series, with a row for each bucket that has begun: of things there
// are none where the store has no row, other values are null.
func (m *Metric) Run(ctx context.Context, store Store, q Query) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, MostTime+time.Second)
	defer cancel()
	got, err := store.Select(ctx, m.query+limits, q.parameters())
	if err != nil {
		var slow interface{ Timeout() bool }
		if errors.As(err, &slow) && slow.Timeout() {
			err = fmt.Errorf("%w: %w", ErrSlow, err)
		}
		return Result{}, fmt.Errorf("ask for %s: %w", m.Name, err)
	}
	if !slices.EqualFunc(got.Columns, m.Columns, func(c analytics.Column, want Column) bool { return c.Name == want.Name }) {
		return Result{}, fmt.Errorf("ask for %s: it has other columns than its head says", m.Name)
	}
	if m.Columns[0].Role != Time {
		return Result{Rows: got.Rows}, nil
	}
	return Result{Step: q.Step(), Rows: m.fill(got.Rows, q.buckets())}, nil
}

// fill adds rows for buckets that have none.
func (m *Metric) fill(rows [][]json.RawMessage, buckets []time.Time) (filled [][]json.RawMessage) {
	type place struct{ time, series string }
	there := map[place][]json.RawMessage{}
	times, lines := map[string]bool{}, map[string]bool{}
	series := slices.IndexFunc(m.Columns, func(c Column) bool { return c.Role == Series })
	for _, day := range buckets {
		times[`"`+day.Format(time.DateOnly)+`"`] = true
	}
	if series < 0 {
		lines[""] = true
	}
	for _, row := range rows {
		at := place{time: string(row[0])}
		if series >= 0 {
			at.series = string(row[series])
		}
		times[at.time], lines[at.series], there[at] = true, true, row
	}
	last := map[string][]json.RawMessage{}
	for _, at := range slices.Sorted(maps.Keys(times)) {
		for _, line := range slices.Sorted(maps.Keys(lines)) {
			row, ok := there[place{at, line}]
			if !ok {
				row = m.blank(at, line, last[line])
			}
			last[line] = row
			filled = append(filled, row)
		}
	}
	return filled
}

// blank is the row of a bucket in which nothing was; last is the row before it.
func (m *Metric) blank(at, series string, last []json.RawMessage) []json.RawMessage {
	row := make([]json.RawMessage, len(m.Columns))
	for i, c := range m.Columns {
		switch {
		case c.Role == Time:
			row[i] = json.RawMessage(at)
		case c.Role == Series:
			row[i] = json.RawMessage(series)
		case c.carry && last != nil:
			row[i] = last[i]
		case c.Unit.counted():
			row[i] = json.RawMessage("0")
		default:
			row[i] = json.RawMessage("null")
		}
	}
	return row
}
