package memqueue

import (
	"errors"
	"time"

	"supportbot/shared/queue"
)

// ErrCut is wrapped by the errors of a publisher that is cut off.
var ErrCut = errors.New("queue is cut off")

// Faults are what may happen to messages in a real queue. The zero value is a
// queue at its best. The functions are called under the broker's lock and must
// not call it.
type Faults struct {
	// Cut lets Publish fail; nothing is sent.
	Cut bool
	// Fate decides on each message that is sent; nil: one copy, in time.
	Fate func(queue string, h queue.Hint) Fate
	// Pick chooses which of n visible messages is received next, 0 being the
	// oldest; nil: that one.
	Pick func(n int) int
}

// Fate is what becomes of one message.
type Fate struct {
	Copies int           // 0: it is lost although Publish succeeds; 2: it comes twice
	Delay  time.Duration // on top of its own
}

// SetFaults replaces the faults. What was sent before keeps its fate.
func (b *Broker) SetFaults(f Faults) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = f
}

func (f *Faults) fate(name string, h queue.Hint) Fate {
	if f.Fate == nil {
		return Fate{Copies: 1}
	}
	return f.Fate(name, h)
}

func (f *Faults) pick(n int) int {
	if f.Pick == nil {
		return 0
	}
	return min(max(f.Pick(n), 0), n-1)
}
