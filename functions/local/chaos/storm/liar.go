package storm

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"supportbot/shared/queue"
	"supportbot/shared/queue/memqueue"
)

// liar makes a queue lose, double, delay, reorder and give up messages.
type liar struct {
	broker  *memqueue.Broker
	setting sync.Mutex // one change after the other

	mu    sync.Mutex
	rand  *rand.Rand
	cuts  int // that overlap
	lies  bool
	count tally
	dead  []buried
}

// buried is a message that was given up.
type buried struct {
	queue string
	job   int64
}

func newLiar(b *memqueue.Broker, seed uint64) *liar {
	return &liar{broker: b, rand: rand.New(rand.NewPCG(seed, 1<<32)), count: tally{}}
}

// begin begins to lie.
func (l *liar) begin() { l.set(func() { l.lies = true }) }

// meet counts a publisher that meets a cut.
func (l *liar) meet() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cuts > 0 {
		l.count.meet(cut, 1)
	}
}

// lie lets the queue take nothing, from the first cut until the end of the last.
func (l *liar) lie(begin bool) {
	l.set(func() {
		if begin {
			l.cuts++
			l.count.inject(cut, 1)
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

// Publish implements queue.Publisher: some messages are given up at once, as those are
// whose calls break again and again.
func (l *liar) Publish(ctx context.Context, name string, hints ...queue.Hint) error {
	l.meet()
	var sent []queue.Hint
	for _, h := range hints {
		if !l.gives(h) {
			sent = append(sent, h)
			continue
		}
		if err := l.broker.Publish(ctx, queue.Dead(name), h); err != nil {
			return err
		}
		l.mu.Lock()
		l.dead = append(l.dead, buried{name, h.Job})
		l.mu.Unlock()
	}
	if len(sent) == 0 {
		return nil
	}
	return l.broker.Publish(ctx, name, sent...)
}

// Receive implements queue.Source.
func (l *liar) Receive(ctx context.Context, name string, most int, wait time.Duration) ([]queue.Message, error) {
	return l.broker.Receive(ctx, name, most, wait)
}

// Delete implements queue.Source.
func (l *liar) Delete(ctx context.Context, name string, receipts ...string) error {
	return l.broker.Delete(ctx, name, receipts...)
}

func (l *liar) gives(h queue.Hint) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.lies || l.cuts > 0 || h.Delay > 0 || l.rand.IntN(100) >= 2 {
		return false
	}
	l.count.done("queue message given up")
	return true
}

// buried lists what was given up.
func (l *liar) buried() []buried {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.dead)
}

// fate of a message: most come once and in time. Dead ones are told apart.
func (l *liar) fate(name string, _ queue.Hint) memqueue.Fate {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, dead := queue.DeadOf(name); dead {
		return memqueue.Fate{Copies: 1}
	}
	switch n := l.rand.IntN(100); {
	case n < 10:
		l.count.done("queue message lost")
		return memqueue.Fate{}
	case n < 22:
		l.count.done("queue message twice")
		return memqueue.Fate{Copies: 2}
	case n < 34:
		l.count.done("queue message late")
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
		l.count.done("queue message overtaken")
	}
	return i
}

// tally is of what it did.
func (l *liar) tally() tally {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.count)
}
