package broadcasting

import (
	"testing"
	"time"

	"golang.org/x/time/rate"
)

// TestSending_Evenly: what is claimed leaves soon, however slow the broadcast is; else
// a run that is stopped would give it up, and nobody would know whether it was sent.
func TestSending_Evenly(t *testing.T) {
	t.Parallel()
	for _, calls := range []rate.Limit{0.01, 0.1, 1, 25, 1000, rate.Inf} {
		g := &sending{even: rate.NewLimiter(rate.Inf, 1)}
		g.evenly(calls)
		now := time.Now()
		var last time.Duration
		for range placesAhead {
			last = g.even.ReserveN(now, 1).DelayFrom(now)
		}
		if last > flightTime/3 {
			t.Errorf("at %v calls a second the last of %d waits %s with its claim", calls, placesAhead, last)
		}
	}
	g := &sending{even: rate.NewLimiter(rate.Inf, 1)}
	g.evenly(20)
	now := time.Now()
	for range 22 {
		g.even.ReserveN(now, 1)
	}
	if wait := g.even.ReserveN(now, 1).DelayFrom(now); wait < 900*time.Millisecond {
		t.Errorf("a second's calls take %s", wait)
	}
}
