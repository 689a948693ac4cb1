package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/queue"
)

// Dead is the duty that empties the queues of dead letters into the database, where
// operators see them. A letter leaves its queue only after the database has it; one
// that comes again is known by its id.
type Dead struct {
	Queues []string // whose dead letters are looked at
	Source interface {
		Receive(ctx context.Context, queue string, limit int, wait time.Duration) ([]queue.Message, error)
		Delete(ctx context.Context, queue string, receipts ...string) error
	}
	Store interface {
		// KeepDead keeps letters, each once, and gives how many are new.
		KeepDead(ctx context.Context, letters []job.DeadLetter) (kept int, err error)
	}
	Log *slog.Logger
}

const (
	deadAtOnce = 10 // what a queue gives in one call
	deadMost   = 50 // calls for one queue in a pass; the next pass goes on
)

// Run keeps what there is and gives how many letters were new. A queue that cannot be
// read keeps no other back; one without dead letters has none.
func (d *Dead) Run(ctx context.Context) (kept int, err error) {
	var problems []error
	for _, name := range d.Queues {
		n, err := d.drain(ctx, name)
		kept += n
		if err != nil && !errors.Is(err, queue.ErrNotFound) {
			problems = append(problems, fmt.Errorf("dead letters of %s: %w", name, err))
		}
		if n > 0 {
			d.Log.ErrorContext(ctx, "dead letters: no call that got these hints ended well", slog.String("queue", name), slog.Int("count", n))
		}
	}
	return kept, errors.Join(problems...)
}

func (d *Dead) drain(ctx context.Context, name string) (kept int, err error) {
	for range deadMost {
		messages, err := d.Source.Receive(ctx, queue.Dead(name), deadAtOnce, 0)
		if err != nil || len(messages) == 0 {
			return kept, err
		}
		var letters []job.DeadLetter
		var receipts []string
		for _, m := range messages {
			letters, receipts = append(letters, letter(name, m)), append(receipts, m.Receipt)
		}
		n, err := d.Store.KeepDead(ctx, letters)
		kept += n
		if err != nil {
			return kept, err
		}
		if err := d.Source.Delete(ctx, queue.Dead(name), receipts...); err != nil {
			return kept, err
		}
	}
	return kept, nil
}

// letter is what is kept of a message: of a hint its job and request, of anything else
// all that it says.
func letter(name string, m queue.Message) job.DeadLetter {
	l := job.DeadLetter{Queue: name, Message: m.ID, Body: m.Body, SentAt: m.SentAt, Receives: m.Receives}
	if h, err := queue.ParseHint(m.Body); err == nil {
		l.Job, l.CorrelationID = h.Job, h.CorrelationID
	}
	return l
}
