// Package conversation carries an event from a messenger's webhook to what
// follows from it: state, jobs, replies. What follows is decided by package
// dialog; this package makes sure that it happens once, whatever is delivered
// twice, overtaken, raced or killed half-way.
//
// The state lives in Redis and is written by compare-and-set. The write that wins
// adds an entry for its event: jobs to insert and replies to send. Then the jobs
// go to Postgres, where their keys make them one, then the webhook is answered,
// then the replies are sent, in order, by whoever holds the conversation's reply
// lease, and the entry is cleared. An event counts as seen only then. A repeated
// delivery and any later event complete older entries first, and CompleteStale
// does it for conversations in which nothing happens any more.
//
//	moment of the fault            what holds
//	before the write               nothing happened: the messenger repeats
//	after it, before the jobs      the repetition, the next event or CompleteStale inserts them
//	after the jobs                 same, and sends the replies
//	among the replies              same; they go out once more, which is logged
//	after the last, before clearing  same
//
// It takes two round trips to Redis before the answer and one after it.
package conversation

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"supportbot/shared/catalogue"
	"supportbot/shared/dialog"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/pace"
	"supportbot/shared/person"
	"supportbot/shared/ticket"
)

// ErrUnavailable means that a store is away: nothing is lost if the event is
// delivered again.
var ErrUnavailable = errors.New("store is unavailable")

// Store keeps conversations (redisdb.Conversations). Every method is one round
// trip and may be repeated with the same arguments.
type Store interface {
	Load(ctx context.Context, l dialog.Lookup) (dialog.Snapshot, error)
	Commit(ctx context.Context, w dialog.Write) (dialog.Snapshot, error)
	Take(ctx context.Context, a messenger.Address, token, recorded string) (dialog.Snapshot, error)
	Finish(ctx context.Context, d dialog.Done) (dialog.Snapshot, error)
	Release(ctx context.Context, a messenger.Address, token, begun string) error
	Stale(ctx context.Context, age time.Duration, most int) ([]messenger.Address, error)
}

// Records keeps people and jobs. Record is one transaction: it finds or makes the
// person, applies the update, and inserts the jobs whose keys are new.
type Records interface {
	Record(ctx context.Context, v person.Visit, jobs []job.New) (person.Person, []job.Inserted, error)
}

// Publisher sends hints for jobs (job.Publisher). It is asked once; what it fails
// to send is published by the reconciler.
type Publisher interface {
	Publish(ctx context.Context, jobs []job.Inserted)
}

// Lister reads Tracker.
type Lister interface {
	// Tickets lists the customer's tickets.
	Tickets(ctx context.Context, a messenger.Address) ([]ticket.Summary, error)
	// History lists what the customer may see of a ticket, oldest first.
	History(ctx context.Context, a messenger.Address, ref ticket.Ref) ([]ticket.Entry, error)
}

// Pacer keeps within the messengers' limits.
type Pacer interface {
	// Reserve asks for a place for one message to a chat, at most this far away.
	Reserve(ctx context.Context, to messenger.Address, most time.Duration) (pace.Grant, error)
	// Refused tells that the messenger asked to wait.
	Refused(ctx context.Context, to messenger.Address, wait time.Duration)
}

// Sender is what a conversation needs of a messenger.Adapter.
type Sender interface {
	messenger.Sender
	Plain(text string) []messenger.Part
	Name() messenger.Name
	Bot() string
	Limits() messenger.Limits
}

// Stage is a point between two effects. Crash tests stop the process there.
type Stage string

// The stages, in their order.
const (
	StageLoaded    Stage = "conversation.loaded"    // nothing has happened
	StageCommitted Stage = "conversation.committed" // state and entry are written
	StageRecorded  Stage = "conversation.recorded"  // the jobs are inserted
	StagePublished Stage = "conversation.published" // hints are sent
	StageReplied   Stage = "conversation.replied"   // one more reply is sent
	StageSent      Stage = "conversation.sent"      // all replies of the entry are sent
	StageFinished  Stage = "conversation.finished"  // the entry is cleared
)

// Stages lists them.
var Stages = []Stage{
	StageLoaded, StageCommitted, StageRecorded, StagePublished, StageReplied, StageSent, StageFinished,
}

// Deps are what a Service works with. Zone, Flood, Now and Hook may be zero.
type Deps struct {
	Store     Store
	Records   Records
	Publisher Publisher
	Lister    Lister
	Pacer     Pacer
	Access    Access
	Senders   []Sender
	Catalogue *catalogue.Catalogue
	Zone      *time.Location // of the times that customers see; nil = UTC
	Flood     Flood
	Now       func() time.Time
	Log       *slog.Logger
	Hook      func(Stage) // called at each stage, for crash tests
}

// Flood bounds one customer's events: Burst at once, then one each Every.
type Flood struct {
	Burst int
	Every time.Duration
}

// DefaultFlood is where Deps has none: whoever forwards a conversation or three full
// albums at once floods nobody.
func DefaultFlood() Flood { return Flood{Burst: 60, Every: time.Second} }

// The times of a conversation.
const (
	ticketsFresh = time.Minute     // a list of tickets is used without reading it again
	profileWait  = time.Second     // for a name, on a first visit
	trackerWait  = 2 * time.Second // for Tracker, before the webhook is answered
	replyTime    = 3 * time.Second // for replies; what is left then becomes a job
	releaseTime  = time.Second     // for giving the reply lease back
	publishTime  = time.Second     // for hints; the reconciler sends what is missing
	recordTime   = 5 * time.Second // for what has to be written after the replies
	paceWait     = time.Second     // a reply that has to wait longer becomes a job
	leaseMargin  = 3 * time.Second // no reply is begun this close to the lease's end
	profileFresh = time.Hour       // the kept copy of a person
	answerLife   = 2 * time.Minute // of a press: nobody waits for its answer longer
	commitTries  = 30              // against events of the same conversation at once
	staleAtOnce  = 200             // conversations that CompleteStale looks at
)

// Service handles events. It keeps nothing between two of them.
type Service struct {
	d       Deps
	senders map[string]Sender // by messenger and bot
}

// New makes a Service.
func New(d Deps) *Service {
	if d.Flood.Burst == 0 {
		d.Flood = DefaultFlood()
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.Hook == nil {
		d.Hook = func(Stage) {}
	}
	s := &Service{d: d, senders: map[string]Sender{}}
	for _, m := range d.Senders {
		s.senders[bot(m.Name(), m.Bot())] = m
	}
	return s
}

func bot(name messenger.Name, id string) string { return string(name) + ":" + id }

func (s *Service) sender(a messenger.Address) (Sender, bool) {
	m, ok := s.senders[bot(a.Messenger, a.Bot)]
	return m, ok
}
