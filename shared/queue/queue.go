// Package queue is the port to the message queue. A message is a hint: it names a
// job and nothing else.
//
// Its children are ymq (Yandex Message Queue, through the SQS API) and memqueue
// (the local run and tests), which have the same semantics: at least once, no
// order, a visibility timeout, a delay of at most 900 s, a dead-letter queue
// after N receives. queuetest is the suite that both pass.
package queue

import (
	"context"
	"errors"
	"strings"
	"time"
)

// ErrNotFound is wrapped by errors of both directions: there is no queue of that
// name.
var ErrNotFound = errors.New("queue does not exist")

// MaxDelay is the longest delay that Message Queue takes. Longer waits are the
// reconciler's.
const MaxDelay = 900 * time.Second

// deadSuffix is what the name of a queue's dead letters ends with.
const deadSuffix = "-dead"

// Dead is the name of a queue's dead letters, which are a queue themselves: what was
// received too often goes there.
func Dead(name string) string { return name + deadSuffix }

// DeadOf gives the queue whose dead letters have that name.
func DeadOf(name string) (queue string, ok bool) { return strings.CutSuffix(name, deadSuffix) }

// Hint says that a job may be due.
type Hint struct {
	Job           int64         `json:"job"`
	CorrelationID string        `json:"correlation_id,omitempty"`
	Delay         time.Duration `json:"-"` // clamped to 0..MaxDelay
}

// Publisher sends hints to a queue by its name. An error means that some of them
// may not have been sent; none of them is lost for that.
type Publisher interface {
	Publish(ctx context.Context, queue string, hints ...Hint) error
}

// Message is a message as a consumer sees it.
type Message struct {
	ID         string
	Body       string
	Receives   int       // how often it has been received, this time included
	SentAt     time.Time // when it was sent
	Receipt    string    // for Delete; changes with each receive
	Attributes map[string]string
}

// Source is the consuming side. In the cloud it is the trigger's; here it feeds
// the local trigger and the tests.
type Source interface {
	// Receive waits at most wait (<= 20 s) for at most limit (<= 10) messages.
	Receive(ctx context.Context, queue string, limit int, wait time.Duration) ([]Message, error)
	// Delete takes messages away by the receipts of their newest receive; an older
	// receipt deletes nothing.
	Delete(ctx context.Context, queue string, receipts ...string) error
}

// Counter tells how full queues are.
type Counter interface {
	// Count is about how many messages a queue holds: those that wait, those that
	// somebody has, and those whose time has not come.
	Count(ctx context.Context, queue string) (int, error)
}
