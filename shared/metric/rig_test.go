package metric_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"supportbot/shared/analytics"
	"supportbot/shared/backend"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/clickhouse"
	"supportbot/shared/clickhouse/clickhousetest"
	"supportbot/shared/metric"
)

func TestMain(m *testing.M) {
	backend.ServeClickHouse()
	goleak.VerifyTestMain(m, backendtest.Goroutines()...)
}

var ctx = context.Background()

func metrics(t *testing.T) *metric.Catalogue {
	t.Helper()
	c, err := metric.New(metric.Files)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// desk is a database with rows that are made by hand.
type desk struct {
	t       *testing.T
	db      *clickhouse.DB
	metrics *metric.Catalogue
	tickets []*ticket
	zone    *time.Location
	now     time.Time
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	db, _ := clickhousetest.New(t)
	d := &desk{t: t, db: db, metrics: metrics(t), zone: time.UTC, now: at("2026-12-31 00:00")}
	d.must(db.Migrate(ctx, d.metrics.Views()...))
	d.must(db.InsertAgents(ctx, []analytics.Agent{
		{ID: "1", Login: "anna", Name: "Анна", SeenAt: d.now}, {ID: "2", Login: "boris", Name: "Борис", SeenAt: d.now},
		{ID: "3", Login: "boris2", Name: "Борис", SeenAt: d.now}, {ID: "1", Login: "anna", Name: "Анна до свадьбы", SeenAt: d.now.Add(-time.Hour)},
	}))
	d.must(db.InsertStatuses(ctx, []analytics.StatusName{
		{Key: "open", Name: "Открыт", Phase: analytics.New}, {Key: "inProgress", Name: "В работе", Phase: analytics.InProgress},
		{Key: "resolved", Name: "Решён", Phase: analytics.Done}, {Key: "closed", Name: "Решён", Phase: analytics.Done},
	}, d.now))
	return d
}

func (d *desk) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// at reads a time in UTC.
func at(text string) time.Time {
	for _, layout := range []string{"2006-01-02", "2006-01-02 15:04", "2006-01-02 15:04:05.000"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t
		}
	}
	panic(text)
}

// ticket is a ticket with what happened to it.
type ticket struct {
	analytics.Ticket
	versions []analytics.Ticket
	events   []analytics.Event
}

var phases = map[string]analytics.Phase{
	"open": analytics.New, "inProgress": analytics.InProgress, "resolved": analytics.Done, "closed": analytics.Done, "cancelled": analytics.Cancelled,
}

// open makes a ticket from Telegram about billing, unless told otherwise.
func (d *desk) open(when string, change ...func(*analytics.Ticket)) *ticket {
	x := &ticket{Ticket: analytics.Ticket{
		Issue: fmt.Sprintf("issue%04d", len(d.tickets)), Version: 1, CreatedAt: at(when), UpdatedAt: at(when), Queue: "SUP",
		Status: "open", Phase: analytics.New, Messenger: "telegram", Category: "billing", Type: "task", Priority: "normal", Locale: "ru",
	}}
	for _, f := range change {
		f(&x.Ticket)
	}
	x.Phase = phases[x.Status]
	d.tickets = append(d.tickets, x)
	x.event(analytics.Event{ID: "created", Kind: analytics.Created, At: x.CreatedAt})
	x.event(analytics.Event{ID: "created:status", Kind: analytics.Status, At: x.CreatedAt, After: x.Status, AfterPhase: x.Phase})
	x.save()
	return x
}

func in(messenger, category string) func(*analytics.Ticket) {
	return func(t *analytics.Ticket) { t.Messenger, t.Category = messenger, category }
}

func (x *ticket) event(e analytics.Event) *ticket {
	e.Issue, e.OpenedAt = x.Issue, x.CreatedAt
	x.events = append(x.events, e)
	return x
}

// save makes what the ticket is now a version of its own.
func (x *ticket) save() { x.versions = append(x.versions, x.Ticket) }

// rows gives the versions, each with what the events had told by then; the last one
// with everything.
func (x *ticket) rows() []analytics.Ticket {
	rows := slices.Clone(x.versions)
	for i := range rows {
		until := rows[i].UpdatedAt
		if i == len(rows)-1 {
			until = at("2100-01-01")
		}
		rows[i].Story = analytics.Tell(x.latest(until))
	}
	return rows
}

// latest gives the events until a time, each in its latest state.
func (x *ticket) latest(until time.Time) (events []analytics.Event) {
	for _, e := range x.events {
		at := slices.IndexFunc(events, func(o analytics.Event) bool { return o.ID == e.ID })
		switch {
		case e.At.After(until):
		case at < 0:
			events = append(events, e)
		case e.Version >= events[at].Version:
			events[at] = e
		}
	}
	return events
}

// changed begins a change, and gives its id.
func (x *ticket) changed(when string) (id string, moment time.Time) {
	x.Version++
	x.UpdatedAt = at(when)
	return fmt.Sprintf("5f%04d", x.Version), x.UpdatedAt
}

func (x *ticket) status(when, key string) *ticket {
	id, moment := x.changed(when)
	e := analytics.Event{ID: id + ":status", Kind: analytics.Status, At: moment, Before: x.Status, BeforePhase: x.Phase, After: key, AfterPhase: phases[key]}
	x.event(e)
	switch {
	case e.BeforePhase.Final() && !e.AfterPhase.Final():
		e.ID, e.Kind = id+":reopened", analytics.Reopened
		x.event(e)
		x.ResolvedAt = time.Time{}
	case e.AfterPhase.Final():
		x.ResolvedAt = moment
	}
	x.Status, x.Phase = key, phases[key]
	x.save()
	return x
}

func (x *ticket) rate(when, rating string) *ticket {
	id, moment := x.changed(when)
	x.event(analytics.Event{ID: id + ":rating", Kind: analytics.Rating, At: moment, Before: fmt.Sprint(x.Rating), After: rating})
	x.Rating = 0
	_, _ = fmt.Sscan(rating, &x.Rating)
	x.save()
	return x
}

func (x *ticket) set(when string, change func(*analytics.Ticket)) *ticket {
	x.changed(when)
	change(&x.Ticket)
	x.save()
	return x
}

// said adds a comment, or changes it.
func (x *ticket) said(id string, kind analytics.Kind, when string, version int64, deleted bool) *ticket {
	return x.event(analytics.Event{ID: id, Kind: kind, At: at(when), Version: version, Deleted: deleted})
}

// load inserts everything once: each ticket as it is now.
func (d *desk) load() {
	d.t.Helper()
	var events []analytics.Event
	var tickets []analytics.Ticket
	for _, x := range d.tickets {
		events, tickets = append(events, x.events...), append(tickets, x.rows()[len(x.versions)-1])
	}
	d.must(d.db.InsertEvents(ctx, events))
	d.must(d.db.InsertTickets(ctx, tickets, d.now))
}

// question is a period with what else is asked for.
type question struct{ from, to, messenger, category string }

func (d *desk) query(q question) metric.Query {
	return metric.Query{From: at(q.from), To: at(q.to), Zone: d.zone, Messenger: q.messenger, Category: q.category, Now: d.now}
}

// ask gives a metric's rows, a line for each, with a space between values.
func (d *desk) ask(name string, q question) (lines []string) {
	d.t.Helper()
	m, ok := d.metrics.Find(name)
	if !ok {
		d.t.Fatalf("there is no metric %s", name)
	}
	got, err := m.Run(ctx, d.db, d.query(q))
	d.must(err)
	for _, row := range got.Rows {
		lines = append(lines, line(row))
	}
	return lines
}

func line(row []json.RawMessage) string {
	values := make([]string, len(row))
	for i, v := range row {
		values[i] = strings.ReplaceAll(string(v), `"`, "")
	}
	return strings.Join(values, " ")
}

// want compares a metric's rows; over time only those that say something.
func (d *desk) want(name string, q question, want ...string) {
	d.t.Helper()
	if diff := cmp.Diff(want, telling(d.ask(name, q)), cmpopts.EquateEmpty()); diff != "" {
		d.t.Errorf("%s %v (-want +got):\n%s", name, q, diff)
	}
}

// telling leaves out rows in which there is nothing.
func telling(lines []string) []string {
	return slices.DeleteFunc(lines, func(line string) bool {
		values := strings.Split(line, " ")[1:]
		return !slices.ContainsFunc(values, func(v string) bool { return strings.ContainsAny(v, "123456789") })
	})
}
