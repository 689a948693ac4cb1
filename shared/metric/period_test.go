package metric_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"supportbot/shared/analytics"
	"supportbot/shared/metric"
)

func TestBegin(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, zone, day, want string }{
		{"no change", "Europe/Moscow", "2026-01-01", "2025-12-31 21:00"},
		{"clocks go forward that day", "Europe/Berlin", "2026-03-29", "2026-03-28 23:00"},
		{"the day after", "Europe/Berlin", "2026-03-30", "2026-03-29 22:00"},
		{"clocks go back that day", "Europe/Berlin", "2026-10-25", "2026-10-24 22:00"},
		{"the day after", "Europe/Berlin", "2026-10-26", "2026-10-25 23:00"},
		{"midnight is leapt over", "America/Sao_Paulo", "2018-11-04", "2018-11-04 03:00"},
		{"midnight comes twice", "America/Havana", "2026-11-01", "2026-11-01 04:00"},
		{"the hour before midnight comes twice", "America/Sao_Paulo", "2018-02-18", "2018-02-18 03:00"},
		{"far in the east", "Pacific/Kiritimati", "2026-01-01", "2025-12-31 10:00"},
		{"far in the west", "Pacific/Pago_Pago", "2026-01-01", "2026-01-01 11:00"},
		{"a zone of half an hour", "Asia/Kolkata", "2026-01-01", "2025-12-31 18:30"},
		{"UTC", "UTC", "2026-01-01", "2026-01-01 00:00"},
	} {
		t.Run(tc.name+" "+tc.day, func(t *testing.T) {
			t.Parallel()
			z := zone(t, tc.zone)
			got := metric.Begin(at(tc.day), z)
			if !got.Equal(at(tc.want)) {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			if local, before := got.In(z).Format(time.DateOnly), got.Add(-1).In(z).Format(time.DateOnly); local != tc.day || before == tc.day {
				t.Errorf("it is %s then, and %s the moment before", local, before)
			}
		})
	}
}

// silent is a store that has no rows of a metric's columns.
type silent struct {
	columns []string
	err     error
	params  map[string]string
	query   string
}

func (s *silent) Select(_ context.Context, query string, params map[string]string) (analytics.Result, error) {
	s.query, s.params = query, params
	res := analytics.Result{Rows: [][]json.RawMessage{}}
	for _, c := range s.columns {
		res.Columns = append(res.Columns, analytics.Column{Name: c})
	}
	return res, s.err
}

// Steps suit the length of the period, and every one that has begun has a row.
func TestRun_Buckets(t *testing.T) {
	t.Parallel()
	m, _ := metrics(t).Find("backlog")
	now := at("2026-07-15 12:00")
	for _, tc := range []struct {
		name, from, to string
		step           metric.Step
		rows           int
		first, last    string
	}{
		{"a day", "2026-07-01", "2026-07-02", metric.Day, 1, "2026-07-01", "2026-07-01"},
		{"until tomorrow", "2026-07-01", "2026-07-16", metric.Day, 15, "2026-07-01", "2026-07-15"},
		{"beyond it", "2026-07-01", "2026-08-01", metric.Day, 15, "2026-07-01", "2026-07-15"},
		{"two months", "2026-03-01", "2026-05-02", metric.Day, 62, "2026-03-01", "2026-05-01"},
		{"a day more", "2026-03-01", "2026-05-03", metric.Week, 10, "2026-02-23", "2026-04-27"},
		{"a year", "2025-01-01", "2026-01-01", metric.Week, 53, "2024-12-30", "2025-12-29"},
		{"a leap year", "2024-01-01", "2025-01-01", metric.Week, 53, "2024-01-01", "2024-12-30"},
		{"more than a year", "2025-01-15", "2026-02-15", metric.Month, 14, "2025-01-01", "2026-02-01"},
		{"the future", "2027-01-01", "2027-01-05", metric.Day, 0, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := &silent{columns: []string{"time", "open"}}
			res, err := m.Run(ctx, s, metric.Query{From: at(tc.from), To: at(tc.to), Zone: zone(t, "Europe/Moscow"), Now: now})
			if err != nil || res.Step != tc.step || len(res.Rows) != tc.rows || s.params["bucket"] != string(tc.step) {
				t.Fatalf("got %v, step %s of %s, %d rows, want %s, %d", err, res.Step, s.params["bucket"], len(res.Rows), tc.step, tc.rows)
			}
			if tc.rows == 0 {
				return
			}
			if first, last := line(res.Rows[0]), line(res.Rows[tc.rows-1]); first != tc.first+" 0" || last != tc.last+" 0" {
				t.Errorf("from %s to %s, want %s to %s", first, last, tc.first, tc.last)
			}
		})
	}
}

func TestRun_Parameters(t *testing.T) {
	t.Parallel()
	m, _ := metrics(t).Find("tickets_by_type")
	s := &silent{columns: []string{"type", "tickets"}}
	q := metric.Query{From: at("2026-03-29"), To: at("2026-03-30"), Zone: zone(t, "Europe/Berlin"), Messenger: "vk", Category: "idea", Now: at("2026-05-01")}
	if _, err := m.Run(ctx, s, q); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"from": "2026-03-28 23:00:00.000", "to": "2026-03-29 22:00:00.000", "first_day": "2026-03-29", "end_day": "2026-03-30",
		"now": "2026-05-01 00:00:00.000", "tz": "Europe/Berlin", "bucket": "day", "messenger": "vk", "category": "idea",
	} {
		if s.params[name] != want {
			t.Errorf("%s is %q, want %q", name, s.params[name], want)
		}
	}
	if !strings.Contains(s.query, "max_execution_time = 20") {
		t.Errorf("no limit in %s", s.query)
	}
	s.columns = []string{"tickets", "type"}
	if _, err := m.Run(ctx, s, q); err == nil || !strings.Contains(err.Error(), "other columns") {
		t.Errorf("other columns: %v", err)
	}
	s.err = errors.New("away")
	if _, err := m.Run(ctx, s, q); err == nil || errors.Is(err, metric.ErrSlow) {
		t.Errorf("away: %v", err)
	}
	s.err = context.DeadlineExceeded
	if _, err := m.Run(ctx, s, q); !errors.Is(err, metric.ErrSlow) {
		t.Errorf("a time-out: %v", err)
	}
}

// A line has each bucket: where there was nothing it is zero, or as it was.
func TestRun_Gaps(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.now = at("2026-01-04")
	d.open("2026-01-02").said("c1", analytics.CommentOut, "2026-01-02 00:01", 1, false)
	d.open("2026-01-03", in("vk", ""))
	d.load()
	q := question{from: "2026-01-01", to: "2026-01-10"}
	equal(t, []string{
		"2026-01-01 telegram 0", "2026-01-01 vk 0", "2026-01-02 telegram 1", "2026-01-02 vk 0",
		"2026-01-03 telegram 0", "2026-01-03 vk 1", "2026-01-04 telegram 0", "2026-01-04 vk 0",
	}, d.ask("tickets_by_messenger", q))
	equal(t, []string{"2026-01-01 null null 0 0", "2026-01-02 60 60 1 0", "2026-01-03 null null 0 1", "2026-01-04 null null 0 0"}, d.ask("first_response", q))
	equal(t, []string{"2026-01-01 0", "2026-01-02 1", "2026-01-03 2", "2026-01-04 2"}, d.ask("backlog", q))
}
