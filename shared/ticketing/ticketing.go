// Package ticketing does what customers ask of Tracker: it opens tickets, adds
// messages with their files, records ratings, reopens, and leaves notes for the
// agent. Each is a job of the conversation's inbound lane, so a customer's wishes
// reach Tracker in the order in which they were made.
//
// What can be repeated is made one by Tracker (a ticket by its unique value); a
// comment cannot, so each carries a marker by which it is found again after an
// outcome that nobody knows.
package ticketing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"supportbot/shared/catalogue"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/obs"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

// Tracker is what ticketing needs of Tracker's client. Errors are *tracker.Error.
type Tracker interface {
	Create(ctx context.Context, n tracker.NewIssue) (tracker.Issue, error)
	FindByUnique(ctx context.Context, unique string) (tracker.Issue, error)
	Issue(ctx context.Context, id string) (tracker.Issue, error)
	AddComment(ctx context.Context, issue string, n tracker.NewComment) (tracker.Comment, error)
	Comments(ctx context.Context, issue, after string) ([]tracker.Comment, error)
	Upload(ctx context.Context, u tracker.Upload) (tracker.Attachment, error)
	SetFields(ctx context.Context, issue string, fields map[tracker.Field]string) error
	Transitions(ctx context.Context, issue string) ([]tracker.Transition, error)
	Transit(ctx context.Context, issue, id string) error
}

// Files opens what customers sent.
type Files interface {
	Open(ctx context.Context, a messenger.Attachment) (io.ReadCloser, error)
}

// Records is what ticketing needs of the database.
type Records interface {
	Find(ctx context.Context, key string) (*job.Job, error)
	BeginCursor(ctx context.Context, issue string, at time.Time) error
}

// Lists are the customers' kept lists of tickets (redisdb.Tickets). Failing to
// update one is no failure of the work: it is read again a minute later.
type Lists interface {
	Upsert(ctx context.Context, a messenger.Address, s ticket.Summary) error
	Drop(ctx context.Context, a messenger.Address) error
}

// Conversation handles an event once more (ticket.KindAgain).
type Conversation interface {
	Again(ctx context.Context, ev messenger.Event) error
}

// Deps are what a Service works with.
type Deps struct {
	Tracker      Tracker
	Files        func(messenger.Address) (Files, bool)
	Records      Records
	Lists        Lists
	Conversation Conversation
	Catalogue    *catalogue.Catalogue
	ReplyPrefix  string         // what an agent writes before a reply, e.g. "/reply"
	AgentLocale  string         // of what is written into tickets
	Zone         *time.Location // of the times in tickets
	Log          *slog.Logger
}

// Service has the handlers of the queue tickets.
type Service struct{ d Deps }

// New makes a Service.
func New(d Deps) *Service { return &Service{d: d} }

// The stages.
const (
	stageUpload  = "upload"
	stageCreate  = "create"
	stageIntro   = "intro"
	stageComment = "comment"
	stageFields  = "fields"
	stageTransit = "transit"
)

// Kinds are the jobs that the service does.
func (s *Service) Kinds() map[string]job.Kind {
	return map[string]job.Kind{
		ticket.KindCreate:  {Handle: s.create, Stages: []string{stageUpload, stageCreate, stageIntro}},
		ticket.KindComment: {Handle: s.comment, Stages: []string{stageUpload, stageComment}},
		ticket.KindRate:    {Handle: s.rate, Stages: []string{stageFields, stageComment}},
		ticket.KindReopen:  {Handle: s.reopen, Stages: []string{stageTransit, stageUpload, stageComment}},
		ticket.KindNote:    {Handle: s.note, Stages: []string{stageComment}},
		ticket.KindAgain:   {Handle: s.again},
	}
}

// Created is the result of a ticket.create job.
type Created struct {
	Issue string `json:"issue"` // immutable id
	Key   string `json:"key"`
}

// keep updates the customer's kept list, or forgets it.
func (s *Service) keep(ctx context.Context, a messenger.Address, sum *ticket.Summary) {
	var err error
	if sum != nil {
		err = s.d.Lists.Upsert(ctx, a, *sum)
	} else {
		err = s.d.Lists.Drop(ctx, a)
	}
	if err != nil {
		s.d.Log.WarnContext(ctx, "kept list of tickets was not updated", slog.Any(obs.Error, err))
	}
}

func (s *Service) text(key string, pairs ...string) string {
	return book.Text(s.d.AgentLocale, key, pairs...)
}

var errNoFiles = errors.New("no messenger for this address")

func (s *Service) files(a messenger.Address) (Files, error) {
	f, ok := s.d.Files(a)
	if !ok {
		return nil, fmt.Errorf("open files of %s:%s: %w", a.Messenger, a.Bot, errNoFiles)
	}
	return f, nil
}
