package metric_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/analytics"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func equal(t *testing.T, want, got []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Late is what was not resolved by the end of a day, there, or before a timer failed.
func TestOverdue(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.zone, d.now = zone(t, "Europe/Moscow"), at("2026-01-20 20:59") // 23:59 there
	due := func(deadline, fails string) func(*analytics.Ticket) {
		return func(x *analytics.Ticket) {
			if deadline != "" {
				x.Deadline = at(deadline)
			}
			if fails != "" {
				x.SLAFailsAt = at(fails)
			}
		}
	}
	d.open("2026-01-05 10:00")
	d.open("2026-01-05 10:00", due("2026-01-06", "")).status("2026-01-06 20:59:59.999", "resolved")              // the day's last moment there
	d.open("2026-01-05 10:00", due("2026-01-06", "")).status("2026-01-06 21:00", "resolved")                     // the next day there
	d.open("2026-01-05 10:00", due("2026-01-20", "")).status("2026-01-20 21:00", "strange")                      // open; today it can be done
	d.open("2026-01-05 10:00", due("2026-01-19", "2026-01-21"))                                                  // open, too late; its timer runs
	d.open("2026-01-05 10:00", due("", "2026-01-06")).status("2026-01-06 00:00", "resolved")                     // at the very moment
	d.open("2026-01-05 10:00", due("", "2026-01-06")).status("2026-01-06 00:00:00.001", "resolved")              // after it
	d.open("2026-01-06 10:00", due("2026-01-07", "2026-01-07"), in("vk", "idea")).status("2026-01-08", "closed") // by both
	d.open("2026-01-06 10:00", due("2026-01-07", "2026-01-07"), in("vk", "idea")).
		status("2026-01-06 12:00", "resolved").status("2026-01-09", "open").status("2026-01-10", "closed") // the last resolution counts
	d.open("2026-01-06 10:00", due("", "2026-01-21"), in("vk", "idea"))
	d.load()
	d.want("overdue", january, "2026-01-05 0.42857142857142855 0.5 0.14285714285714285 7 4", "2026-01-06 0.6666666666666666 1 0.6666666666666666 3 2")
	d.want("overdue", january.of("vk", ""), "2026-01-06 0.6666666666666666 1 0.6666666666666666 3 2")
	d.now = at("2026-01-21 21:00") // the 22nd there
	d.want("overdue", january.of("vk", ""), "2026-01-06 1 1 1 3 2")
	d.open("2026-01-07 10:00")
	d.load()
	d.want("overdue", question{from: "2026-01-07", to: "2026-01-08"}, "2026-01-07 0 null 0 1 0")
}

// Reopened are those that ended, whenever they came back.
func TestReopened(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.open("2025-12-01").status("2026-01-05", "resolved").status("2026-01-06", "closed") // final to final
	d.open("2025-12-01").status("2026-01-05 10:00", "resolved").status("2026-06-06", "open").status("2026-06-07", "resolved").status("2026-06-08", "strange")
	d.open("2025-12-01").status("2026-01-05", "inProgress").status("2026-01-06", "open")
	d.open("2025-12-01").status("2026-01-05", "strange").status("2026-01-06", "open") // nobody knows that it is final
	d.open("2026-01-06", func(x *analytics.Ticket) { x.Status = "closed" }, in("vk", "idea")).status("2026-01-07", "open")
	d.open("2025-11-01").status("2025-12-05", "resolved").status("2026-01-05", "open").status("2026-01-06", "resolved") // first ended before
	d.load()
	d.want("reopened", january, "2026-01-05 0.5 2 1", "2026-01-06 1 1 1")
	d.want("reopened", january.of("telegram", "billing"), "2026-01-05 0.5 2 1")
	d.want("reopened", question{from: "2025-12-01", to: "2026-01-01"}, "2025-12-05 1 1 1")
}

// A stay counts when it has ended, whole.
func TestTimeInStatus(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.open("2025-12-31 23:00").status("2026-01-01 00:00", "inProgress").status("2026-01-01 02:00", "open").status("2026-01-01 05:00", "inProgress").
		status("2026-02-01 00:00", "resolved")
	d.open("2026-01-05 00:00").status("2026-01-05 00:30", "resolved").status("2026-01-05 00:40", "closed").status("2026-01-05 01:00", "open")
	// Two changes in one millisecond, and one that is as old as the ticket.
	d.open("2026-01-07 00:00", in("vk", "idea")).status("2026-01-07 00:00", "inProgress").status("2026-01-07 01:00", "strange").status("2026-01-07 01:00", "open")
	d.load()
	d.want("time_in_status", january, "Открыт 4050 2700 4", "В работе 5400 5400 2", "Решён (closed) 1200 1200 1", "Решён (resolved) 600 600 1", "strange 0 0 1")
	d.want("time_in_status", january.of("vk", "idea"), "В работе 3600 3600 1", "strange 0 0 1", "Открыт 0 0 1")
	d.want("time_in_status", january.of("vk", "billing"))
}

// Open is what no final status has, at the end of each day.
func TestBacklog(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.zone, d.now = zone(t, "Europe/Moscow"), at("2026-01-06 12:00")
	d.open("2025-12-01")                                                                                 // ever since
	d.open("2025-12-01").status("2025-12-02", "resolved")                                                // over before
	d.open("2025-12-01").status("2026-01-03 20:59", "resolved")                                          // until the 3rd
	d.open("2026-01-02 21:00", in("vk", "idea")).status("2026-01-04", "strange")                         // since the 3rd; nobody knows that it is over
	d.open("2026-01-04", func(x *analytics.Ticket) { x.Status = "closed" }).status("2026-01-05", "open") // opened when it was over
	d.open("2026-01-04 10:00").status("2026-01-04 11:00", "cancelled").status("2026-01-04 12:00", "closed").status("2026-01-06", "open")
	d.load()
	week := question{from: "2026-01-01", to: "2026-01-08"}
	equal(t, []string{"2026-01-01 2", "2026-01-02 2", "2026-01-03 2", "2026-01-04 2", "2026-01-05 3", "2026-01-06 4"}, d.ask("backlog", week))
	equal(t, []string{"2026-01-01 0", "2026-01-02 0", "2026-01-03 1", "2026-01-04 1", "2026-01-05 1", "2026-01-06 1"}, d.ask("backlog", week.of("vk", "idea")))
	equal(t, []string{"2025-11-29 0", "2025-11-30 0"}, d.ask("backlog", question{from: "2025-11-29", to: "2025-12-01"}))
	equal(t, []string{"2025-12-29 2", "2026-01-05 4"}, d.ask("backlog", question{from: "2026-01-01", to: "2026-06-01"})[:2])
}
