package metric_test

import (
	"fmt"
	"slices"
	"testing"

	"supportbot/migrations"
	"supportbot/shared/analytics"
	"supportbot/shared/clickhouse"
)

// No number changes when rows are there twice, when older versions come later, and when
// ClickHouse merges them.
func TestNumbersStayTheSame(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	to := func(id string) func(*analytics.Ticket) { return func(x *analytics.Ticket) { x.Assignee = id } }
	for i := range 40 {
		day := fmt.Sprintf("2026-01-%02d", 1+i%28)
		x := d.open(day+" 10:00", in([]string{"telegram", "vk", ""}[i%3], []string{"billing", "idea"}[i%2]), to(fmt.Sprint(i%4)))
		x.said("c1", analytics.CommentInside, day+" 10:05", 1, false).said("c1", analytics.CommentOut, day+" 10:15", 2, false)
		x.said("c2", analytics.CommentOut, day+" 10:06", 1, false).said("c2", analytics.CommentInside, day+" 10:07", 1<<48, true)
		x.status(day+" 11:00", "inProgress").set(day+" 11:30", func(a *analytics.Ticket) { a.Category, a.Deadline = "problem", at("2026-01-15") })
		if i%2 == 0 {
			x.status(day+" 12:00", "resolved").rate(day+" 12:30", "2").rate(day+" 13:00", fmt.Sprint(1+i%5))
		}
		if i%6 == 0 {
			x.status(day+" 14:00", "open").status(day+" 15:00", "closed")
		}
	}
	all := func() map[string][]string {
		numbers := map[string][]string{}
		for _, m := range d.metrics.All() {
			numbers[m.Name] = telling(d.ask(m.Name, january))
			if m.Name != "messages" && m.Name != "broadcasts" && len(numbers[m.Name]) == 0 {
				t.Errorf("%s has no numbers", m.Name)
			}
		}
		return numbers
	}
	d.load()
	want := all()
	same := func(after string) {
		t.Helper()
		for name, got := range all() {
			if !slices.Equal(got, want[name]) {
				t.Errorf("%s after %s: got %v, want %v", name, after, got, want[name])
			}
		}
	}
	d.load()
	same("a second load")
	// A newest state that comes first, with the older ones after it.
	var tickets, older []analytics.Ticket
	var events []analytics.Event
	for _, x := range slices.Backward(d.tickets) {
		rows := x.rows()
		slices.Reverse(rows)
		tickets = append(tickets, rows...)
		for _, e := range slices.Backward(x.events) {
			events = append(events, e)
		}
	}
	for _, x := range tickets {
		older = append(older, x)
		if len(older) == 50 {
			d.must(d.db.InsertTickets(ctx, older, d.now))
			older = nil
		}
	}
	d.must(d.db.InsertTickets(ctx, older, d.now))
	d.must(d.db.InsertEvents(ctx, events))
	same("older versions")
	backfill(d)
	same("a new beginning from the versions and events")
	for _, table := range []string{"tickets_now", "tickets", "ticket_events", "agents", "statuses"} {
		d.must(d.db.Exec(ctx, "OPTIMIZE TABLE "+table+" FINAL"))
	}
	same("merges")
}

// backfill fills the table of tickets as the migration does that brings it.
func backfill(d *desk) {
	d.t.Helper()
	file, err := migrations.ClickHouse.ReadFile("clickhouse/00003_tickets_now.sql")
	d.must(err)
	d.must(d.db.Exec(ctx, "TRUNCATE TABLE tickets_now"))
	for _, s := range clickhouse.Statements(string(file)) {
		d.must(d.db.Exec(ctx, clickhouse.Render(s, "")))
	}
}
