package ticketing_test

import (
	"testing"
	"time"

	"supportbot/shared/sandbox/fault"
	"supportbot/shared/wiring/wiringtest"
)

// A Tracker whose front answers writes with pages, or breaks connections, for half
// an hour: all is done when it is back, once, and nobody has to help.
func TestAway_PagesInsteadOfAnswers(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]fault.Kind{"pages": fault.HTMLBefore, "broken": fault.CloseBefore} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := wiringtest.New(t)
			rater, writer, newcomer := wiringtest.Telegrammer(), wiringtest.VKontakter(), wiringtest.Telegrammer()
			newcomer.Address.Chat = "5" // each in a lane of their own
			r.Open(rater, "d1")
			r.Open(writer, "d2")
			for _, method := range []string{postIssue, patchIssue, postComment} {
				fails(r, method, kind, 0)
			}
			r.Insert(rates(rater, "rating", 20, 4, ""), wiringtest.Says(writer, "m1", "d2", "первое"), wiringtest.Create(newcomer, "d3"))
			for range 30 {
				r.Later(time.Minute)
			}
			r.Tracker.Faults().Clear()
			for range 3 {
				r.Later(time.Minute)
			}
			if left := r.Text(`SELECT coalesce(string_agg(kind || ' ' || state || ' ' || last_error, '; '), '') FROM jobs WHERE state <> 'completed'`); left != "" {
				t.Errorf("not completed: %s", left)
			}
			written(r, "d1", "**4** из 5", 1)
			wantRating(r, "4", "")
			written(r, "d2", "первое", 1)
			if got := len(r.Tracker.Tickets()); got != 3 {
				t.Errorf("%d tickets, want 3", got)
			}
		})
	}
}
