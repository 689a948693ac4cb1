// Package delivery brings Tracker's news to one customer: an agent's reply with
// its files, the edit of a reply, a status change, and messages of the bot's own
// that could not be sent at once. Each is a job of the conversation's outbound
// lane, so the customer reads them in the order in which they happened.
//
// Every message is a stage. Where the messenger can drop a repetition (VK) it is
// given the same key for all tries. Where it cannot (Telegram) a message whose
// send has no known end is sent once more, which is noted on the ticket; after a
// second unknown end a person has to decide.
package delivery

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"supportbot/shared/catalogue"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/news"
	"supportbot/shared/person"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

// Tracker is what deliveries need of Tracker's client. Errors are *tracker.Error.
type Tracker interface {
	Comment(ctx context.Context, issue, id string) (tracker.Comment, error)
	Issue(ctx context.Context, id string) (tracker.Issue, error)
	Download(ctx context.Context, issue string, a tracker.Attachment) (io.ReadCloser, error)
}

// Sender is what deliveries need of a messenger.Adapter.
type Sender interface {
	messenger.Sender
	messenger.Renderer
	Limits() messenger.Limits
}

// Records is what deliveries need of the database.
type Records interface {
	Person(ctx context.Context, a messenger.Address) (*person.Person, error)
	Sent(ctx context.Context, issue, comment string) (*ticket.Sent, error)
	SaveSent(ctx context.Context, s ticket.Sent) error
	// InDoubt gives the version that a delivery may have sent that waits for a person
	// because nobody knows; 0: it does not.
	InDoubt(ctx context.Context, key string) (version int64, err error)
}

// Pacer keeps within the messengers' limits.
type Pacer interface {
	// Wait waits until one message to a chat may be sent; a *pace.TooLong says that
	// it would take longer than most.
	Wait(ctx context.Context, to messenger.Address, most time.Duration) error
	// Refused tells that the messenger asked to wait.
	Refused(ctx context.Context, to messenger.Address, wait time.Duration)
}

// Deps are what a Service works with.
type Deps struct {
	Tracker   Tracker
	Senders   func(messenger.Address) (Sender, bool)
	Records   Records
	Reachable func(ctx context.Context, a messenger.Address, reachable bool) error // notes whether somebody can be written to
	Pacer     Pacer
	Rule      *news.Rule
	Catalogue *catalogue.Catalogue
	Log       *slog.Logger
}

// Service has the handlers of the queue deliveries, but for looks.
type Service struct{ d Deps }

// New makes a Service.
func New(d Deps) *Service { return &Service{d: d} }

// The stages: one per message, "send:0", "edit:0", "file:0", "file:0:sorry".
const (
	stageSend = "send"
	stageFile = "file"
	stageEdit = "edit"
)

// Kinds are the jobs that the service does.
func (s *Service) Kinds() map[string]job.Kind {
	return map[string]job.Kind{
		ticket.KindAnswer: {Handle: s.answer, Stages: []string{stageSend, stageFile}},
		ticket.KindEdit:   {Handle: s.edit, Stages: []string{stageEdit, stageSend, stageFile}},
		ticket.KindStatus: {Handle: s.status, Stages: []string{stageSend}},
		ticket.KindNotice: {Handle: s.notice, Stages: []string{stageSend}},
	}
}

// target is whom a job writes to.
type target struct {
	to     messenger.Address
	sender Sender
	locale string
	person *person.Person
}

func (s *Service) target(ctx context.Context, a messenger.Address) (target, error) {
	sender, ok := s.d.Senders(a)
	if !ok {
		return target{}, job.Review(fmt.Errorf("no sender for %s:%s", a.Messenger, a.Bot))
	}
	p, err := s.d.Records.Person(ctx, a)
	if err != nil {
		return target{}, err
	}
	t := target{to: a, sender: sender, locale: catalogue.Russian, person: p}
	if p != nil {
		t.locale = p.Locale
	}
	return t, nil
}

// result is kept with a finished delivery.
type result struct {
	Outcome  ending   `json:"outcome"`
	Why      string   `json:"why,omitempty"`
	Messages []string `json:"messages,omitempty"`
	Resent   int      `json:"resent,omitempty"`
}

func skipped(why string) (job.Outcome, error) {
	return job.Outcome{Result: result{Outcome: passedOver, Why: why}}, nil
}
