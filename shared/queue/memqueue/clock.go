package memqueue

import (
	"slices"
	"sync"
	"time"
)

// Clock tells the time and wakes at a time.
type Clock interface {
	Now() time.Time
	// At gives a channel that receives or is closed at t, at once if t is over.
	// stop lets go of it.
	At(t time.Time) (c <-chan time.Time, stop func())
}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) At(t time.Time) (<-chan time.Time, func()) {
	timer := time.NewTimer(time.Until(t))
	return timer.C, func() { timer.Stop() }
}

// ManualClock is a clock that a test moves.
type ManualClock struct {
	mu    sync.Mutex
	now   time.Time
	wakes []*wake
	more  *sync.Cond // signalled when wakes grew
}

type wake struct {
	at time.Time
	c  chan time.Time
}

// NewManualClock makes a clock that stands at now.
func NewManualClock(now time.Time) *ManualClock {
	c := &ManualClock{now: now}
	c.more = sync.NewCond(&c.mu)
	return c
}

// Now implements Clock.
func (c *ManualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// At implements Clock.
func (c *ManualClock) At(t time.Time) (<-chan time.Time, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := &wake{at: t, c: make(chan time.Time)}
	if !t.After(c.now) {
		close(w.c)
		return w.c, func() {}
	}
	c.wakes = append(c.wakes, w)
	c.more.Broadcast()
	return w.c, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.wakes = slices.DeleteFunc(c.wakes, func(other *wake) bool { return other == w })
	}
}

// Advance moves the clock and wakes whose time has come.
func (c *ManualClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.wakes = slices.DeleteFunc(c.wakes, func(w *wake) bool {
		due := !w.at.After(c.now)
		if due {
			close(w.c)
		}
		return due
	})
}

// Await returns when n are waiting for a time to come.
func (c *ManualClock) Await(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.wakes) < n {
		c.more.Wait()
	}
}
