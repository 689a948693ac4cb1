// Package news finds out what happened on a ticket in Tracker and makes a delivery
// job of everything that concerns the customer.
//
// A trigger's call and the poll only say "look at this issue"; the look reads
// comments and changelog after the ticket's cursor and moves the cursor in the
// transaction that inserts the deliveries. So calls that get lost, come twice or
// in any order do no harm.
package news

import (
	"context"
	"log/slog"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/person"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

// Tracker is what a look needs of Tracker's client. Errors are *tracker.Error.
type Tracker interface {
	Issue(ctx context.Context, idOrKey string) (tracker.Issue, error)
	Comments(ctx context.Context, issue, after string) ([]tracker.Comment, error)
	Comment(ctx context.Context, issue, id string) (tracker.Comment, error)
	Changes(ctx context.Context, issue, after string) ([]tracker.Change, error)
	Statuses(ctx context.Context) ([]tracker.Status, error)
}

// Store is what a look needs of the database.
type Store interface {
	Cursor(ctx context.Context, issue string) (*ticket.Cursor, error)
	Advance(ctx context.Context, look int64, token string, c ticket.Cursor, jobs []job.New) ([]job.Inserted, error)
	Find(ctx context.Context, key string) (*job.Job, error)
	Person(ctx context.Context, a messenger.Address) (*person.Person, error) // nil: nobody
}

// Lists are the customers' kept lists of tickets.
type Lists interface {
	Drop(ctx context.Context, a messenger.Address) error
}

// Deps are what a Looker works with.
type Deps struct {
	Tracker   Tracker
	Store     Store
	Publisher *job.Publisher
	Lists     Lists
	Rule      *Rule
	Log       *slog.Logger
}

// Looker has the handler of looks.
type Looker struct{ d Deps }

// New makes a Looker.
func New(d Deps) *Looker { return &Looker{d: d} }

// Kinds are the jobs that it does. A look has no external effect, so no stages.
func (l *Looker) Kinds() map[string]job.Kind {
	return map[string]job.Kind{ticket.KindLook: {Handle: l.look}}
}

// Job is a look at an issue that somebody asks for. key makes this asking one.
func Job(p ticket.Look, key string) job.New {
	lane := ticket.IssueLane(p.ID)
	if p.ID == "" {
		lane = ticket.IssueLane("key:" + p.Key)
	}
	return job.New{
		Queue: ticket.QueueDeliveries, Kind: ticket.KindLook, Key: "look:" + key,
		Lane: job.Lane{Name: lane}, Payload: p, CorrelationID: key,
	}
}
