package broadcasting

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"supportbot/shared/broadcast"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
)

// Sender is what broadcasts need of a messenger.Adapter.
type Sender interface {
	Send(ctx context.Context, o messenger.Outgoing) (messenger.Receipt, error)
	Render(markdown string) []messenger.Part
	Limits() messenger.Limits
}

// Pacer keeps within the messengers' limits; of the class of broadcasts.
type Pacer interface {
	// Wait waits for a place for one call to a chat, but no longer than most.
	Wait(ctx context.Context, to messenger.Address, most time.Duration) error
	// Refused tells that the messenger asked to wait.
	Refused(ctx context.Context, to messenger.Address, wait time.Duration)
	// SetBroadcastRate sets calls a second for all functions; 0 is the default.
	SetBroadcastRate(ctx context.Context, m messenger.Name, bot string, perSecond float64) error
}

// Deps are what a Service works with.
type Deps struct {
	Store     store
	Live      live
	Publisher interface {
		Publish(ctx context.Context, jobs []job.Inserted)
	}
	Bots      broadcast.Bots
	Senders   func(m messenger.Name, bot string) (Sender, bool)
	Pacer     Pacer
	Reachable func(ctx context.Context, a messenger.Address, reachable bool) error
	// Moved notes that a chat has a new id.
	Moved func(ctx context.Context, from messenger.Address, chat string) error
	// Tickets gives the chats that have an open ticket.
	Tickets func(ctx context.Context) ([]messenger.Address, error)
	// Buttons are those below every message of a kind, after the author's: how to
	// get no more of them.
	Buttons func(k broadcast.Kind, locale string) []messenger.Button
	// Paid says whether broadcasts in a messenger are paid for to go faster.
	Paid func(m messenger.Name) bool
	// Limit is how many calls a second broadcasts may make in a messenger; nil: any
	// number, so that only the Pacer keeps them apart.
	Limit func(m messenger.Name) float64
	Now   func() time.Time
	Log   *slog.Logger
}

// Service has the handlers of the queue broadcasts.
type Service struct{ d Deps }

// New makes a Service.
func New(d Deps) *Service { return &Service{d: d} }

// stageSend is the call to the messenger. Its beginning and end are recorded with
// the recipients.
const stageSend = "send"

// Kinds are the jobs that the service does.
func (s *Service) Kinds() map[string]job.Kind {
	return map[string]job.Kind{
		broadcast.KindPlan:  {Handle: s.plan},
		broadcast.KindBatch: {Handle: s.batch, Stages: []string{stageSend}},
	}
}

// plan snapshots the recipients and makes the batches.
func (s *Service) plan(ctx context.Context, r *job.Run) (job.Outcome, error) {
	var in broadcast.PlanJob
	if err := r.Decode(&in); err != nil {
		return job.Outcome{}, err
	}
	b, err := s.d.Store.Broadcast(ctx, in.Broadcast)
	if err != nil {
		return job.Outcome{}, err
	}
	p := broadcast.Plan{Broadcast: b, Bots: s.d.Bots, Job: r.ID, Token: r.Token()}
	if b.Audience.OpenTicket != nil {
		if p.Tickets, err = s.d.Tickets(ctx); err != nil {
			return job.Outcome{}, job.Unavailable(r, err)
		}
	}
	jobs, err := s.d.Store.Plan(ctx, p)
	if err != nil {
		return job.Outcome{}, err
	}
	s.d.Log.InfoContext(ctx, "broadcast planned", "broadcast", b.ID)
	s.d.Publisher.Publish(ctx, jobs)
	return job.Outcome{}, nil
}

// why a batch stopped before its end.
var (
	errOvertaken = errors.New("something more urgent is waiting")
	errTime      = errors.New("the function's time is nearly over")
	errState     = errors.New("the broadcast does not run")
	errHours     = errors.New("outside the sending hours")
	errPaused    = errors.New("the messenger asked to wait")
	errRate      = errors.New("the rate leaves no room for another call in this run")
	errTrouble   = errors.New("the messenger is out of order")
)
