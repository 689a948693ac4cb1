package storm

import (
	"math/rand/v2"
	"sync"
	"time"

	"supportbot/shared/queue"
	"supportbot/shared/queue/memqueue"
)

// liar makes a queue lose, double, delay and reorder messages.
type liar struct {
	broker  *memqueue.Broker
	setting sync.Mutex // one change after the other

	mu    sync.Mutex
	rand  *rand.Rand
	cuts  int // that overlap
	lies  bool
	count map[string]int
}

func newLiar(b *memqueue.Broker, seed uint64) *liar {
	return &liar{broker: b, rand: rand.New(rand.NewPCG(seed, 1<<32)), count: map[string]int{}}
}

// begin begins to lie.
func (l *liar) begin() { l.set(func() { l.lies = true }) }

// lie lets the queue take nothing, from the first cut until the end of the last.
func (l *liar) lie(cut bool) {
	l.set(func() {
		if cut {
			l.cuts++
		} else {
			l.cuts--
		}
	})
}

// behave ends all lies.
func (l *liar) behave() { l.set(func() { l.lies, l.cuts = false, 0 }) }

func (l *liar) set(change func()) {
	l.setting.Lock()
	defer l.setting.Unlock()
	l.mu.Lock()
	change()
	f := memqueue.Faults{Cut: l.cuts > 0}
	if l.lies {
		f.Fate, f.Pick = l.fate, l.pick
	}
	l.mu.Unlock()
	l.broker.SetFaults(f)
}

// fate of a message: most come once and in time.
func (l *liar) fate(string, queue.Hint) memqueue.Fate {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch n := l.rand.IntN(100); {
	case n < 10:
		l.count["queue message lost"]++
		return memqueue.Fate{}
	case n < 22:
		l.count["queue message twice"]++
		return memqueue.Fate{Copies: 2}
	case n < 34:
		l.count["queue message late"]++
		return memqueue.Fate{Copies: 1, Delay: between(l.rand, 100*time.Millisecond, 5*time.Second)}
	}
	return memqueue.Fate{Copies: 1}
}

func (l *liar) pick(n int) int {
	if n < 2 {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	i := l.rand.IntN(n)
	if i > 0 {
		l.count["queue message overtaken"]++
	}
	return i
}

func (l *liar) met() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count
}
