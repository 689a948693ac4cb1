// Package memqueue is a message queue in this process with the semantics of
// Yandex Message Queue's standard queues: at least once, a visibility time-out,
// delays, a dead-letter queue. It serves the local run and the tests, which can
// make it lose, double, delay and reorder messages or refuse them.
//
// Nothing outlives the process: what was queued is lost with it, as a queue may
// lose its hints, and the reconciler publishes them again.
package memqueue

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"supportbot/shared/queue"
)

// Queue is one queue's settings, as Terraform sets them in the cloud.
type Queue struct {
	Name string
	// Visibility is how long a received message stays hidden; 0: 30 s, as in
	// Message Queue.
	Visibility time.Duration
	// A message received MaxReceives times and not deleted goes to the queue Dead
	// when it would be received once more. Dead "": it comes again and again.
	MaxReceives int
	Dead        string
}

// Broker holds queues. It is both sides of the port.
type Broker struct {
	clock Clock

	mu     sync.Mutex
	queues map[string]*line
	faults Faults
	serial int64
}

var (
	_ queue.Publisher = (*Broker)(nil)
	_ queue.Source    = (*Broker)(nil)
	_ queue.Counter   = (*Broker)(nil)
)

// line is a queue's messages, oldest first.
type line struct {
	Queue
	messages []*message
	news     chan struct{} // closed and replaced when a message was added
}

type message struct {
	queue.Message
	visibleAt time.Time
}

const (
	defaultVisibility = 30 * time.Second
	maxReceive        = 10
	maxWait           = 20 * time.Second
)

// New makes a broker; a nil clock is the machine's. It panics if a dead-letter
// queue is not among the queues.
func New(clock Clock, queues ...Queue) *Broker {
	if clock == nil {
		clock = systemClock{}
	}
	b := &Broker{clock: clock, queues: map[string]*line{}}
	for _, q := range queues {
		if q.Visibility == 0 {
			q.Visibility = defaultVisibility
		}
		b.queues[q.Name] = &line{Queue: q, news: make(chan struct{})}
	}
	for _, q := range queues {
		if _, ok := b.queues[q.Dead]; !ok && q.Dead != "" {
			panic(fmt.Sprintf("memqueue: queue %s: no dead-letter queue %s", q.Name, q.Dead))
		}
	}
	return b
}

// Publish implements queue.Publisher.
func (b *Broker) Publish(ctx context.Context, name string, hints ...queue.Hint) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("publish to %s: %w", name, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	l, err := b.line(name)
	if err != nil {
		return fmt.Errorf("publish to %s: %w", name, err)
	}
	if b.faults.Cut {
		return fmt.Errorf("publish to %s: %w", name, ErrCut)
	}
	for _, h := range hints {
		fate := b.faults.fate(name, h)
		delay := min(max(h.Delay, 0), queue.MaxDelay) + fate.Delay
		for range fate.Copies {
			b.add(l, h.Body(), delay)
		}
	}
	return nil
}

func (b *Broker) line(name string) (*line, error) {
	l, ok := b.queues[name]
	if !ok {
		return nil, fmt.Errorf("%w: %s", queue.ErrNotFound, name)
	}
	return l, nil
}

func (b *Broker) add(l *line, body string, delay time.Duration) {
	b.serial++
	now := b.clock.Now()
	l.put(&message{
		Message:   queue.Message{ID: "m-" + strconv.FormatInt(b.serial, 10), Body: body, SentAt: now},
		visibleAt: now.Add(delay),
	})
}

// put adds a message and wakes who waits.
func (l *line) put(m *message) {
	l.messages = append(l.messages, m)
	close(l.news)
	l.news = make(chan struct{})
}

// Receive implements queue.Source.
func (b *Broker) Receive(ctx context.Context, name string, limit int, wait time.Duration) ([]queue.Message, error) {
	limit = min(max(limit, 1), maxReceive)
	until := b.clock.Now().Add(min(max(wait, 0), maxWait))
	for {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("receive from %s: %w", name, err)
		}
		got, next, news, err := b.take(name, limit)
		if err != nil {
			return nil, fmt.Errorf("receive from %s: %w", name, err)
		}
		if len(got) > 0 || !b.clock.Now().Before(until) {
			return got, nil
		}
		if next.IsZero() || next.After(until) {
			next = until
		}
		timer, stop := b.clock.At(next)
		select {
		case <-ctx.Done():
		case <-news:
		case <-timer:
		}
		stop()
	}
}

// take receives what is visible now. If there is nothing, it tells when the next
// message becomes visible (zero: there is none) and what is closed when one comes.
func (b *Broker) take(name string, limit int) (got []queue.Message, next time.Time, news <-chan struct{}, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l, err := b.line(name)
	if err != nil {
		return nil, time.Time{}, nil, err
	}
	now := b.clock.Now()
	b.bury(l, now)
	var visible []*message
	for _, m := range l.messages {
		switch {
		case !m.visibleAt.After(now):
			visible = append(visible, m)
		case next.IsZero() || m.visibleAt.Before(next):
			next = m.visibleAt
		}
	}
	for len(visible) > 0 && len(got) < limit {
		i := b.faults.pick(len(visible))
		got = append(got, l.receive(visible[i], now))
		visible = slices.Delete(visible, i, i+1)
	}
	return got, next, l.news, nil
}

func (l *line) receive(m *message, now time.Time) queue.Message {
	m.Receives++
	m.Receipt = m.ID + "/" + strconv.Itoa(m.Receives)
	m.visibleAt = now.Add(l.Visibility)
	return m.Message
}

// bury moves messages to the dead-letter queue that would be received once too
// often.
func (b *Broker) bury(l *line, now time.Time) {
	if l.Dead == "" {
		return
	}
	dead := b.queues[l.Dead]
	l.messages = slices.DeleteFunc(l.messages, func(m *message) bool {
		over := m.Receives >= l.MaxReceives && !m.visibleAt.After(now)
		if over {
			moved := *m
			moved.Receives, moved.visibleAt = 0, now
			dead.put(&moved)
		}
		return over
	})
}

// Delete implements queue.Source. A receipt from before the newest receive
// deletes nothing: the message is somebody else's now.
func (b *Broker) Delete(ctx context.Context, name string, receipts ...string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("delete from %s: %w", name, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	l, err := b.line(name)
	if err != nil {
		return fmt.Errorf("delete from %s: %w", name, err)
	}
	l.messages = slices.DeleteFunc(l.messages, func(m *message) bool {
		return m.Receives > 0 && slices.Contains(receipts, m.Receipt)
	})
	return nil
}

// Depth counts a queue's messages; those of a queue that does not exist are none.
type Depth struct {
	Visible int // can be received now
	Hidden  int // delayed, or received and neither deleted nor timed out
}

// Depth tells what is in a queue now.
func (b *Broker) Depth(name string) Depth {
	b.mu.Lock()
	defer b.mu.Unlock()
	var d Depth
	l, err := b.line(name)
	if err != nil {
		return d
	}
	for _, m := range l.messages {
		if m.visibleAt.After(b.clock.Now()) {
			d.Hidden++
		} else {
			d.Visible++
		}
	}
	return d
}

// Count implements queue.Counter.
func (b *Broker) Count(_ context.Context, name string) (int, error) {
	d := b.Depth(name)
	return d.Visible + d.Hidden, nil
}
