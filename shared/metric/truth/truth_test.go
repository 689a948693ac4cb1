// Package truth_test computes the metrics of tickets anew, in plain Go from what a
// history says that happened, and compares: a made up year goes into the stand-in for
// Tracker, the real loader brings it into a real ClickHouse, and the metrics' own SQL
// has to give the same numbers to the last digit.
package truth_test

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"supportbot/shared/backend"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/clickhouse"
	"supportbot/shared/metric"
	"supportbot/shared/sandbox/history"
)

func TestMain(m *testing.M) {
	backend.ServeClickHouse()
	goleak.VerifyTestMain(m, backendtest.Goroutines()...)
}

func day(text string) time.Time {
	d, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err)
	}
	return d
}

func zone(name string) *time.Location {
	z, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return z
}

// year is a history whose busiest nights are those in which clocks change.
func year(tickets int) history.Config {
	night := func(at string) history.Rush {
		return history.Rush{At: day(at).Add(-4 * time.Hour), Lasts: 8 * time.Hour, Times: 12}
	}
	return history.Config{
		Seed: 11, Tickets: tickets, From: day("2025-07-01"), To: day("2026-07-01"), Zone: zone("Europe/Berlin"), Ends: ends,
		Rushes: []history.Rush{night("2025-10-26"), night("2026-03-29"), night("2025-10-31"), night("2026-04-24"), night("2026-01-01")},
	}
}

// What the numbers are worth: the year has what metrics may stumble over.
func TestYear_HasWhatMatters(t *testing.T) {
	t.Parallel()
	d := newDesk(t, year(tickets))
	seen := map[string]int{}
	berlin := zone("Europe/Berlin")
	for _, r := range d.records {
		f := tell(r, day("2026-07-01"))
		for what, is := range map[string]bool{
			"the hour that comes twice":        f.opened.In(berlin).Format("2006-01-02 15") == "2025-10-26 02",
			"beside the hour that is skipped":  f.opened.In(berlin).Format("2006-01-02 15") == "2026-03-29 03",
			"resolved without an assignee":     f.agent == "" && !f.resolved.IsZero(),
			"reopened":                         f.reopened > 0,
			"reopened and not resolved":        f.reopened > 0 && f.resolved.IsZero(),
			"never answered":                   f.answered.IsZero(),
			"opened by an agent":               f.messenger == "",
			"moved":                            f.queue != r.Queue,
			"moved out of sight":               f.queue != r.Queue && r.By != "",
			"another rating":                   f.rated.After(firstRated(r)),
			"moved after it was rated":         f.queue != r.Queue && f.stars > 0,
			"another category":                 f.category != r.Category,
			"a deadline":                       f.deadline != "",
			"the first load knew it otherwise": r.Opened.Before(parts[0]) && !cmp.Equal(f, tell(r, parts[0]), cmp.AllowUnexported(fact{}, stay{})),
			"a status that nobody knows":       slices.ContainsFunc(f.stays, func(s stay) bool { return s.status == "waitingSupplier" }),
		} {
			if is {
				seen[what]++
			} else {
				seen[what] += 0
			}
		}
	}
	for what, n := range seen {
		if n == 0 {
			t.Errorf("nothing of the kind: %s", what)
		}
	}
}

// firstRated is when a ticket was rated; far away: never.
func firstRated(r history.Record) time.Time {
	for _, s := range r.Steps {
		if s.Rating > 0 {
			return s.At
		}
	}
	return day("2100-01-01")
}

const tickets = 500

// parts are when the year is loaded for the first times.
var parts = []time.Time{day("2025-11-12"), day("2026-02-20").Add(13 * time.Hour), day("2026-04-24")}

// asked are questions: periods of each step, through the changes of the clocks, ending
// in the midst of weeks and months, and beyond what is; messengers and categories.
type ask struct{ from, to, messenger, category string }

var asked = []ask{
	{"2025-07-01", "2026-07-01", "", ""},
	{"2025-07-01", "2026-07-01", "telegram", ""},
	{"2025-05-17", "2026-07-20", "", ""},
	{"2025-10-23", "2025-11-05", "", ""},
	{"2026-03-11", "2026-05-02", "", ""},
	{"2025-05-17", "2026-07-20", "vk", "urgent"},
	{"2025-12-31", "2026-01-02", "", "problem"},
	{"2025-08-06", "2026-02-19", "", "problem"},
}

// The whole way from what happened to the chart, with changes that come after tickets
// were first loaded; loaded twice, late and in the wrong order.
func TestMetrics_AreTrue(t *testing.T) {
	t.Parallel()
	d := newDesk(t, year(tickets))
	s := d.stock()
	const settled = 2 * time.Minute // what is newer is left to the next load
	d.until(parts[0])
	d.clock.set(parts[0].Add(settled))
	d.since(s, day("2025-01-01"))
	d.compare("after the first load", s.rows, parts[0], asked[:1], zone("Europe/Berlin"))
	seen := lastSight(d.records, parts[0])
	if seen.IsZero() {
		t.Error("no ticket is moved out of sight after it was loaded")
	}
	rest := append([]time.Time{seen, day("2026-07-01")}, parts[1:]...)
	slices.SortFunc(rest, time.Time.Compare)
	for _, part := range rest {
		d.until(part)
		d.clock.set(part.Add(settled))
		d.live(s)
	}
	end := d.clock.Now()
	d.compare("in the end", s.rows, end, asked, zone("Europe/Berlin"))
	d.compare("without summer time", s.rows, end, asked[2:5], zone("Asia/Kolkata"))
	d.compare("where clocks change at midnight", s.rows, end, asked[3:5], zone("Africa/Cairo"))

	// However often and in whatever order it comes in: versions of a ticket that are
	// not its latest, comments before they were rewritten or deleted.
	late := empty(t)
	for _, insert := range slices.Backward(s.inserts.all) {
		for range 2 {
			if err := insert(ctx, late); err != nil {
				t.Fatal(err)
			}
		}
	}
	d.compare("inserted twice in the wrong order", late, end, asked[2:3], zone("Europe/Berlin"))
}

// compare asks every metric of tickets every question.
func (d *desk) compare(when string, rows *clickhouse.DB, now time.Time, asked []ask, z *time.Location) {
	d.t.Helper()
	known := facts(d.records, d.loads)
	var all sync.WaitGroup
	places := make(chan struct{}, 4)
	for _, m := range metrics(d.t).All() {
		truth, ours := counters[m.Name]
		if !ours {
			continue
		}
		for _, a := range asked {
			q := question{metric.Query{From: day(a.from), To: day(a.to), Zone: z, Messenger: a.messenger, Category: a.category, Now: now}, d}
			places <- struct{}{}
			all.Add(1)
			go func() {
				defer func() { <-places; all.Done() }()
				got, err := m.Run(context.Background(), rows, q.Query)
				if err != nil {
					d.t.Errorf("%s: %v", m.Name, err)
					return
				}
				want := truth(q, q.wanted(known))
				slices.Sort(want)
				if diff := cmp.Diff(want, lines(got.Rows)); diff != "" {
					d.t.Errorf("%s %s, %v in %s (-true +got):\n%s", m.Name, when, a, z, diff)
				}
			}()
		}
	}
	all.Wait()
}

// lines writes rows as the truth does.
func lines(rows [][]json.RawMessage) (all []string) {
	for _, r := range rows {
		words := make([]string, len(r))
		for n, raw := range r {
			var text string
			if json.Unmarshal(raw, &text) == nil && raw[0] == '"' {
				words[n] = text
				continue
			}
			words[n] = string(raw)
			if v, err := strconv.ParseFloat(words[n], 64); err == nil {
				words[n] = strconv.FormatFloat(v, 'g', -1, 64)
			}
		}
		all = append(all, strings.Join(words, "|"))
	}
	slices.Sort(all)
	return all
}

// What others rely on is there and is computed here. A metric of somebody's own needs no
// counter, and is worth no more than one has made sure of.
func TestMetrics_AreAllComputed(t *testing.T) {
	t.Parallel()
	all := metrics(t)
	for _, name := range []string{
		"tickets_by_messenger", "tickets_by_category", "tickets_by_type", "load_by_hour", "first_response", "resolution_time", "ratings",
		"overdue", "reopened", "time_in_status", "backlog", "messages", "broadcasts",
	} {
		_, there := all.Find(name)
		_, ours := counters[name]
		if _, elsewhere := sentCounters[name]; !there || ours == elsewhere {
			t.Errorf("%s is not compared with the truth", name)
		}
	}
	for name := range counters {
		if _, there := all.Find(name); !there {
			t.Errorf("%s is computed, and is not there", name)
		}
	}
}
