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
}

// Log is the calls of one server, oldest first. The zero value is empty.
type Log struct {
	mu      sync.Mutex
	calls   []Call
	changed chan struct{}
}

// Add appends a call.
func (l *Log) Add(c Call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.N = len(l.calls) + 1
	if c.At.IsZero() {
		c.At = time.Now()
	}
	l.calls = append(l.calls, c)
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// Since gives the calls after number n.
func (l *Log) Since(n int) []Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n >= len(l.calls) {
		return nil
	}
	return append([]Call(nil), l.calls[n:]...)
}

// Wait blocks until ok holds for the calls so far, or ctx ends. It is how tests
// wait without sleeping.
func (l *Log) Wait(ctx context.Context, ok func([]Call) bool) error {
	for {
		l.mu.Lock()
		if l.changed == nil {
			l.changed = make(chan struct{})
		}
		changed := l.changed
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
