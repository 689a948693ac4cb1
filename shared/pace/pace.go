// Package pace keeps the platform within the messengers' and Tracker's limits,
// for all functions together.
//
// The truth is in Redis: one script grants a place in every bucket that a call has
// to pass, by Redis' own clock, or in none. In front of it
// golang.org/x/time/rate keeps a process that is over its pace from asking, and it
// stands in, with a conservative share, while Redis is away.
//
// A place may lie in the future; nobody sleeps but Wait. Two kinds of bucket keep
// those who wait out of each other's way:
//
//   - A chat's own bucket is a plain token bucket. Whoever writes too much waits
//     for themselves alone.
//   - A shared bucket is a calendar: each 1/Rate of a second takes one call, and a
//     call goes into the first stretch that is free when its other buckets let it.
//     So a chat that has to wait for three seconds, or broadcasts that are
//     reserved ahead, leave what lies before them to others. A token bucket would
//     make everybody wait behind them.
package pace

import (
	"fmt"
	"time"
)

// Limit is one bucket that a call has to pass. Rate 0 means no limit: only pauses
// of the key count.
type Limit struct {
	Key   string  // e.g. "telegram:<bot>", "telegram:<bot>:chat:<chat>"
	Rate  float64 // tokens per second
	Burst int     // how many may pass at once after a rest; at least 1
	// Shared: a calendar, see above; Burst counts as 1. In any second no more than
	// Rate calls pass (rounded up, and then in Rate's so many parts of a second);
	// above 100 a second it may be one more.
	Shared bool
	// Mute: the call is no message, and how it ends says nothing of messages. While the
	// key is paused it is no probe.
	Mute bool
}

// Grant is the answer to a reservation.
type Grant struct {
	// OK: a place was reserved; the call may be made after Wait. Otherwise
	// nothing was reserved, and Wait is how long the place would have been away.
	OK   bool
	Wait time.Duration
	// At is the place by Redis' clock, to the microsecond; zero when nothing was
	// reserved or Redis did not answer.
	At time.Time
}

// Class tells what can wait from answers, which never wait behind it: it gets a part
// of the rate.
type Class string

// The classes. Loads and History read Tracker for analytics and send nothing to
// customers: both together get three quarters of Tracker's rate at most, and History
// half of the rate.
const (
	Answers    Class = "answers"
	Broadcasts Class = "broadcasts"
	Loads      Class = "loads"
	History    Class = "history"
)

// How far ahead a place may be reserved. Whoever holds a place and dies has wasted
// it, so even the patient ask again rather than reserve the next minute.
// Broadcasts look less far: when more than a second's worth of answers waits, they
// get no place at all, so that answers go first.
const (
	MaxAhead           = 15 * time.Second
	MaxAheadBroadcasts = time.Second
)

// TooLong says that there is no place soon enough: the job is to be parked.
type TooLong struct {
	Wait time.Duration // how far away the place is
}

func (e *TooLong) Error() string {
	return fmt.Sprintf("no place within the limits for %s", e.Wait.Round(time.Millisecond))
}
