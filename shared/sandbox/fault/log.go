package fault

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

// Call is one call as the server saw it.
type Call struct {
	N      int             `json:"n"` // 1, 2, 3...
	At     time.Time       `json:"at"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitempty"` // files as {"file":name,"size":n}
	Status int             `json:"status"`
	Effect bool            `json:"effect"` // something changed
	Result json.RawMessage `json:"result,omitempty"`
	From   string          `json:"from,omitempty"`  // the address under which the caller knows the server
	Fault  Kind            `json:"fault,omitempty"` // that was put upon it; "": what it got is the server's own answer
	Took   time.Duration   `json:"took,omitempty"`  // of a webhook's call, which ended at At
}

// Log is the calls of one server, oldest first. The zero value is empty and keeps all.
type Log struct {
	Keep int // how many calls it keeps at least, the newest ones; 0: all

	mu      sync.Mutex
	calls   []Call
	dropped int // calls before those in calls
	changed chan struct{}
}

// Add appends a call.
func (l *Log) Add(c Call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.N = l.dropped + len(l.calls) + 1
	if c.At.IsZero() {
		c.At = time.Now()
	}
	l.calls = append(l.calls, c)
	if extra := len(l.calls) - l.Keep; l.Keep > 0 && extra >= l.Keep { // half of them at once: each is moved once
		l.calls = append([]Call(nil), l.calls[extra:]...)
		l.dropped += extra
	}
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// Since gives the calls after number n that are kept.
func (l *Log) Since(n int) []Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	n = max(0, n-l.dropped)
	if n >= len(l.calls) {
		return nil
	}
	return append([]Call(nil), l.calls[n:]...)
}

// Count is how many calls there were.
func (l *Log) Count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dropped + len(l.calls)
}

// More blocks until there were more than n calls, or ctx ends.
func (l *Log) More(ctx context.Context, n int) error {
	for {
		l.mu.Lock()
		count, changed := l.dropped+len(l.calls), l.signal()
		l.mu.Unlock()
		if count > n {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// signal gives a channel that the next call closes; callers hold l.mu.
func (l *Log) signal() <-chan struct{} {
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return l.changed
}

// Wait blocks until ok holds for the calls so far, as far as they are kept, or ctx
// ends. It is how tests wait without sleeping.
func (l *Log) Wait(ctx context.Context, ok func([]Call) bool) error {
	for {
		l.mu.Lock()
		changed := l.signal()
		done := ok(append([]Call(nil), l.calls...))
		l.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}
