// Package privacy hands out what the platform knows of a customer, and forgets it.
//
// Both are jobs. Forgetting goes from the outside to the inside, so that whatever it
// needs to go on after a crash is still there: the tickets in Tracker lose the
// customer's fields and their tie, then the customer is told, as long as there is an
// address, then the database forgets, then Redis. The tickets themselves stay, with
// what was written; a comment in each tells the agent that nobody reads replies any
// more. One that Tracker refuses to change keeps nobody from being forgotten: it waits
// for an operator, as a job of its own. ClickHouse knows tickets and counts, no customers.
package privacy

import (
	"context"
	"embed"
	"encoding/json"
	"iter"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/person"
	"supportbot/shared/phrase"
	"supportbot/shared/tracker"
)

//go:embed texts/*.json
var files embed.FS

var book = phrase.Open(files, "texts")

// Tracker is what the service needs of Tracker's client. Errors are *tracker.Error.
type Tracker interface {
	// Of goes through the issues in queues whose fields have the given values.
	Of(ctx context.Context, queues []string, fields map[tracker.Field]string) iter.Seq2[tracker.Issue, error]
	FindByUnique(ctx context.Context, unique string) (tracker.Issue, error)
	// Detach clears fields and ends the tie to the customer.
	Detach(ctx context.Context, issue string, fields ...tracker.Field) error
}

// People is what the service needs of the database. job.ErrNotFound: nobody has the id.
type People interface {
	PersonByID(ctx context.Context, id int64) (*person.Person, error)
	// Addresses gives the chats of a person, those that can be written to first, of them
	// the one last used.
	Addresses(ctx context.Context, id int64) ([]messenger.Address, error)
	// Steps names how far their chats and requests have come; person.ErrBusy: something
	// has begun and not ended.
	Steps(ctx context.Context, id int64) (string, error)
	// Drafts gives the tickets that they asked for lately.
	Drafts(ctx context.Context, id int64) ([]person.Draft, error)
	// Forget erases them; person.ErrBusy: not at this moment, or their steps are others.
	Forget(ctx context.Context, id int64, steps string, issues ...string) ([]messenger.Address, error)
	// Dossier gives what the database knows.
	Dossier(ctx context.Context, id int64) (person.Dossier, error)
}

// Conversations keeps what is remembered between two messages.
type Conversations interface {
	Kept(ctx context.Context, a messenger.Address) (json.RawMessage, error)
	// Idle: it owes nothing, and nobody works on it.
	Idle(ctx context.Context, a messenger.Address) (bool, error)
	// Erase drops all of it; ok is false while it is not idle.
	Erase(ctx context.Context, a messenger.Address) (ok bool, err error)
}

// Sender is what the service needs of a messenger.Adapter.
type Sender interface {
	messenger.Sender
	Plain(text string) []messenger.Part
	Limits() messenger.Limits
}

// Pacer keeps within the messengers' limits.
type Pacer interface {
	Wait(ctx context.Context, to messenger.Address, most time.Duration) error
	Refused(ctx context.Context, to messenger.Address, wait time.Duration)
}

// Deps are what a Service works with.
type Deps struct {
	Tracker       Tracker
	Queues        []string // in which there are tickets
	People        People
	Conversations Conversations
	Senders       func(messenger.Address) (Sender, bool)
	Pacer         Pacer
}

// Service has the handlers of the jobs.
type Service struct{ d Deps }

// New makes a Service.
func New(d Deps) *Service { return &Service{d: d} }

// The stages. There is one of stageDetach for each ticket.
const (
	stageDetach   = "detach"
	stageFarewell = "farewell"
	stageForget   = "forget"
	stageSend     = "send"
)

// Kinds are the jobs that the service does.
func (s *Service) Kinds() map[string]job.Kind {
	return map[string]job.Kind{
		person.KindErase:  {Handle: s.erase, Stages: []string{stageDetach, stageFarewell, stageForget}},
		person.KindDetach: {Handle: s.detachOne, Stages: []string{stageDetach}},
		person.KindExport: {Handle: s.export, Stages: []string{stageSend}},
	}
}
