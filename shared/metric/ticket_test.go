package metric_test

import (
	"testing"

	"supportbot/shared/analytics"
)

var january = question{from: "2026-01-01", to: "2026-02-01"}

func (q question) of(messenger, category string) question {
	q.messenger, q.category = messenger, category
	return q
}

// A ticket is in the period in which it was opened, once, as it is now.
func TestTickets(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.open("2025-12-31 23:59:59.999")
	d.open("2026-01-01")
	d.open("2026-01-01 12:00").status("2026-01-02", "resolved").status("2026-03-01", "open").status("2026-03-02", "closed")
	d.open("2026-01-01 12:00", in("vk", "idea")).set("2026-01-09", func(x *analytics.Ticket) { x.Category, x.Type = "problem", "bug" })
	d.open("2026-01-15", in("", "")).set("2026-01-16", func(x *analytics.Ticket) { x.Queue = "DEV" })
	d.open("2026-01-31 23:59:59.999")
	d.open("2026-02-01")
	d.load()
	d.want("tickets_by_messenger", january, "2026-01-01 telegram 2", "2026-01-01 vk 1", "2026-01-15  1", "2026-01-31 telegram 1")
	d.want("tickets_by_messenger", january.of("vk", ""), "2026-01-01 vk 1")
	d.want("tickets_by_messenger", january.of("vk", "idea"))
	d.want("tickets_by_category", january, "billing telegram 3", "  1", "problem vk 1")
	d.want("tickets_by_category", january.of("", "problem"), "problem vk 1")
	d.want("tickets_by_type", january, "task 4", "bug 1")
	d.want("tickets_by_type", january.of("telegram", "billing"), "task 3")
	d.want("tickets_by_messenger", question{from: "2027-01-01", to: "2027-01-02"})
}

// Days and hours are those of the zone, also when its clocks change: in 2026 Berlin
// has 23 hours on 29 March and 25 on 25 October.
func TestLoadByHour(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.zone = zone(t, "Europe/Berlin")
	for _, when := range []string{
		"2026-03-28 23:00", // the 29th, a Sunday, 0:00
		"2026-03-29 00:59", // 1:59
		"2026-03-29 01:00", // 3:00
		"2026-03-29 21:59", // 23:59
		"2026-03-29 22:00", // Monday, 0:00
	} {
		d.open(when)
	}
	for _, when := range []string{
		"2026-10-24 21:59", // Saturday, 23:59
		"2026-10-24 22:00", // the 25th, a Sunday, 0:00
		"2026-10-25 00:30", // 2:30
		"2026-10-25 01:30", // 2:30 again
		"2026-10-25 22:59", // 23:59
		"2026-10-25 23:00", // Monday, 0:00
	} {
		d.open(when)
	}
	d.load()
	spring, autumn := question{from: "2026-03-29", to: "2026-03-30"}, question{from: "2026-10-25", to: "2026-10-26"}
	if got := d.ask("load_by_hour", spring); len(got) != 7*24 {
		t.Errorf("%d hours, want those of a week", len(got))
	}
	d.want("tickets_by_messenger", spring, "2026-03-29 telegram 4")
	d.want("tickets_by_messenger", autumn, "2026-10-25 telegram 4")
	hours := func(q question, want ...string) {
		t.Helper()
		var got []string
		for _, l := range d.ask("load_by_hour", q) {
			if l[len(l)-2:] != " 0" {
				got = append(got, l)
			}
		}
		equal(t, want, got)
	}
	hours(spring, "7 0 1", "7 1 1", "7 3 1", "7 23 1")
	hours(autumn, "7 0 1", "7 2 2", "7 23 1")
	hours(question{from: "2026-03-01", to: "2026-11-01"}, "1 0 2", "6 23 1", "7 0 2", "7 1 1", "7 2 2", "7 3 1", "7 23 2")
	hours(question{from: "2026-03-29", to: "2026-03-30", messenger: "vk"})
}

// The first answer that is still there counts.
func TestFirstResponse(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	const answer, inside, customer = analytics.CommentOut, analytics.CommentInside, analytics.CommentIn
	d.open("2026-01-05 10:00").said("c1", customer, "2026-01-05 10:01", 1, false).said("c2", inside, "2026-01-05 10:02", 1, false).
		said("c3", answer, "2026-01-05 10:10", 1, false).said("c4", answer, "2026-01-05 10:20", 1, false)
	d.open("2026-01-05 11:00").said("c1", answer, "2026-01-05 11:10", 1, false).said("c1", inside, "2026-01-05 11:20", 1<<48, true).
		said("c2", answer, "2026-01-05 11:30", 1, false) // the first answer was deleted
	d.open("2026-01-05 12:00").said("c1", inside, "2026-01-05 12:01", 1, false).said("c1", answer, "2026-02-01 12:00", 2, false) // by an edit
	d.open("2026-01-05 13:00")                                                                                                   // not yet
	d.open("2026-01-05 14:00", in("", "")).said("c1", answer, "2026-01-05 14:01", 1, false)                                      // no customer
	d.open("2026-01-06 10:00", in("vk", "idea")).said("c1", answer, "2026-01-06 10:00:00.001", 1, false)
	d.open("2026-01-06 11:00", in("vk", "idea")).said("c1", answer, "2026-01-06 11:00:00.002", 1, false)
	d.open("2026-01-07 11:00", in("vk", "idea"))
	d.load()
	d.want("first_response", january, "2026-01-05 778400 1800 3 1", "2026-01-06 0.0015 0.0015 2 0", "2026-01-07 null null 0 1")
	d.want("first_response", january.of("telegram", ""), "2026-01-05 778400 1800 3 1")
	d.want("first_response", january.of("telegram", "idea"))
}

// What counts is the last resolution of what is resolved, for who has it now.
func TestResolutionTime(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	to := func(id string) func(*analytics.Ticket) { return func(x *analytics.Ticket) { x.Assignee = id } }
	d.open("2025-12-31 23:00", to("1")).status("2026-01-01 00:00", "resolved")
	d.open("2026-01-10 00:00", to("1")).status("2026-01-10 00:10", "resolved").status("2026-01-10 03:00", "open").status("2026-01-10 04:00", "closed")
	d.open("2026-01-10 00:00", to("1")).status("2026-01-10 00:10", "resolved").status("2026-01-11", "open") // open again
	d.open("2026-01-10 00:00", to("1")).status("2026-02-01 00:00", "resolved")                              // later
	d.open("2026-01-10 00:00", to("2")).status("2026-01-10 00:10", "cancelled")
	d.open("2026-01-10 00:00", to("3")).status("2026-01-10 00:20", "resolved")
	d.open("2026-01-10 00:00").status("2026-01-10 00:30", "resolved")
	d.open("2026-01-10 00:00", to("2")).status("2026-01-10 00:40", "resolved").set("2026-01-20", to("99")) // handed over, to somebody unnamed
	d.open("2026-01-10 00:00", to("1"), in("vk", "idea")).status("2026-01-10 02:00", "strange")            // nobody knows what it means
	d.load()
	d.want("resolution_time", january, "Анна 9000 9000 2", " 1800 1800 1", "99 2400 2400 1", "Борис (boris) 600 600 1", "Борис (boris2) 1200 1200 1")
	d.want("resolution_time", january.of("vk", ""))
	d.open("2026-01-10 00:00", to("1")).status("2026-01-10 06:00", "resolved")
	d.load()
	d.want("resolution_time", question{from: "2026-01-01", to: "2026-02-01", category: "billing"},
		"Анна 13200 14400 3", " 1800 1800 1", "99 2400 2400 1", "Борис (boris) 600 600 1", "Борис (boris2) 1200 1200 1")
}

// The latest rating counts, when it was given.
func TestRatings(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	to := func(id string) func(*analytics.Ticket) { return func(x *analytics.Ticket) { x.Assignee = id } }
	d.open("2025-11-01", to("1")).rate("2026-01-02", "5")
	d.open("2026-01-01", to("1")).rate("2026-01-02", "1").rate("2026-01-31 23:59", "4")
	d.open("2026-01-01", to("1")).rate("2026-01-02", "2").rate("2026-02-01 00:00", "3") // changed after the period
	d.open("2026-01-01", to("1")).rate("2026-01-02", "2").rate("2026-01-03", "")        // taken back
	d.open("2026-01-01", to("2")).rate("2026-01-02", "3").set("2026-01-03", func(x *analytics.Ticket) { x.Queue = "DEV" })
	d.open("2026-01-01", in("vk", "idea")).rate("2026-01-02", "1")
	d.open("2026-01-01", to("2"))
	d.load()
	d.want("ratings", january, "Анна 4.5 2", " 1 1", "Борис (boris) 3 1")
	d.want("ratings", january.of("vk", "idea"), " 1 1")
	d.want("ratings", question{from: "2026-02-01", to: "2026-02-02"}, "Анна 3 1")
}
