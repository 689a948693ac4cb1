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
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/obs"
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

// behind is how far the cursors stay behind the newest entry.
const behind = 2 * time.Minute

// lag is how long Tracker's listings may be behind its writes.
const lag = 3 * time.Second

func (l *Looker) look(ctx context.Context, r *job.Run) (job.Outcome, error) {
	var p ticket.Look
	if err := r.Decode(&p); err != nil {
		return job.Outcome{}, err
	}
	issue, err := l.d.Tracker.Issue(ctx, firstOf(p.ID, p.Key))
	if tracker.KindOf(err) == tracker.NotFound && err != nil {
		return job.Outcome{Result: "gone"}, nil
	}
	if err != nil {
		return job.Outcome{}, Decide(r, fmt.Errorf("read issue: %w", err))
	}
	if p.ID == "" { // the call knew the key alone: look in the lane of the id
		next := Job(ticket.Look{ID: issue.ID}, strings.TrimPrefix(r.Key, "look:")+"@")
		return job.Outcome{Result: "sent on", Then: []job.New{next}}, nil
	}
	who, ok := CustomerOf(issue)
	if !ok {
		return job.Outcome{Result: "not a customer's"}, nil
	}
	n, err := l.read(ctx, r, issue, who)
	if err != nil {
		return job.Outcome{}, err
	}
	made, err := l.d.Store.Advance(ctx, r.ID, r.Token(), n.cursor, n.jobs)
	if err != nil {
		return job.Outcome{}, err
	}
	if len(n.jobs) > 0 {
		if err := l.d.Lists.Drop(ctx, who.Address); err != nil {
			l.d.Log.WarnContext(ctx, "kept list of tickets was not dropped", slog.Any(obs.Error, err))
		}
	}
	l.d.Publisher.Publish(ctx, made)
	o := job.Outcome{Result: map[string]int{"deliveries": len(n.jobs)}}
	if !p.Second {
		// Listings lag behind the call that made us look: it may have seen a part.
		second := Job(ticket.Look{ID: p.ID, Second: true}, fmt.Sprintf("second:%d", r.ID))
		second.Delay, second.CorrelationID = lag, r.CorrelationID
		o.Then = []job.New{second}
	}
	return o, nil
}

// Owner is whom the news of an issue are for.
type Owner struct {
	Address messenger.Address
	Ref     ticket.Ref
}

// CustomerOf reads the customer from the unique value, which survives a move, or
// from the fields of a ticket that an agent opened for a customer.
func CustomerOf(i tracker.Issue) (Owner, bool) {
	if a, draft, ok := ticket.ParseUnique(i.Unique); ok {
		return Owner{a, ticket.Ref{Draft: draft}}, true
	}
	a := messenger.Address{
		Messenger: messenger.Name(i.Fields[tracker.FieldMessenger]),
		Bot:       i.Fields[tracker.FieldBot], Chat: i.Fields[tracker.FieldChat],
	}
	ok := a.Messenger != "" && a.Bot != "" && a.Chat != ""
	return Owner{a, ticket.Ref{Issue: i.ID}}, ok
}

// cursor finds where the news of an issue begin. A ticket that the bot opens begins
// with itself, which is written down when it is there. Any other that is seen for the first time (a first
// deployment, a restored database) begins with what made us look.
func (l *Looker) cursor(ctx context.Context, r *job.Run, i tracker.Issue, who Owner) (ticket.Cursor, error) {
	c, err := l.d.Store.Cursor(ctx, i.ID)
	if err != nil || c != nil {
		return deref(c), err
	}
	start := r.CreatedAt.Add(-behind)
	if who.Ref.Draft != "" {
		made, err := l.d.Store.Find(ctx, ticket.DraftKey(who.Ref.Draft))
		if err != nil {
			return ticket.Cursor{}, err
		}
		if made != nil && made.State != job.Completed { // it is being opened at this moment
			start = i.CreatedAt
		}
	}
	if start.After(i.CreatedAt) {
		l.d.Log.WarnContext(ctx, "news of this issue begin now, earlier ones stay unsent",
			slog.String("issue", i.Key), slog.Time("from", i.CreatedAt), slog.Time("to", start))
	}
	return ticket.Cursor{Issue: i.ID, StartsAt: start}, nil
}

// Decide turns an error of Tracker's into the decision of the job that met it. A
// token that is not valid is an outage like any other: an operator mends it, and
// the jobs go on.
func Decide(r *job.Run, err error) error {
	var e *tracker.Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case e.Kind == tracker.RateLimited:
		return job.Later(max(e.RetryAfter, time.Second), err)
	case e.Kind == tracker.Temporary, e.Status == http.StatusUnauthorized:
		return job.Unavailable(r, err)
	}
	return err
}

func deref(c *ticket.Cursor) ticket.Cursor {
	if c == nil {
		return ticket.Cursor{}
	}
	return *c
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
