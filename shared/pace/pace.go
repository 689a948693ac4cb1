// Package pace keeps the platform within the messengers' and Tracker's limits,
// for all functions together.
//
// The truth is a token bucket in Redis (one script, Redis' own clock). In front of
// it golang.org/x/time/rate smooths inside the process, and it stands in, with a
// conservative share, while Redis is away.
package pace

import "time"

// Limit is one bucket that a call has to pass.
type Limit struct {
	Key   string  // e.g. "telegram:<bot>", "telegram:<bot>:chat:<chat>"
	Rate  float64 // tokens per second
	Burst int     // how many may pass at once after a rest; at least 1
}

// Grant is the answer to a reservation.
type Grant struct {
	// OK: a place was reserved; the call may be made after Wait. Otherwise
	// nothing was reserved, and Wait is how long the place would have been away.
	OK   bool
	Wait time.Duration
}

// Class tells broadcasts from everything else: broadcasts get a part of a
// messenger's rate, so that answers never wait behind them.
type Class string

// The classes.
const (
	Answers    Class = "answers"
	Broadcasts Class = "broadcasts"
)
