package ticketing

import (
	"context"
	"errors"
	"fmt"

	"supportbot/shared/dialog"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

// create opens a ticket, tells the agent how to answer, and tells the customer.
func (s *Service) create(ctx context.Context, r *job.Run) (job.Outcome, error) {
	var in ticket.Create
	var p progress
	if err := errors.Join(r.Decode(&in), r.DecodeStage(&p)); err != nil {
		return job.Outcome{}, err
	}
	if p.Issue == nil {
		if err := s.uploads(ctx, r, in.Customer.Address, in.Messages, &p); err != nil {
			return job.Outcome{}, err
		}
		if err := s.open(ctx, r, in, &p); err != nil {
			return job.Outcome{}, err
		}
	}
	intro := tracker.NewComment{Text: s.text("intro", "prefix", s.d.ReplyPrefix)}
	if err := s.write(ctx, r, robots, stageIntro, p.Issue.Issue, intro, p); err != nil {
		return job.Outcome{}, err
	}
	return job.Outcome{Result: p.Issue, Then: []job.New{created(in, *p.Issue)}}, nil
}

// open makes the issue. Tracker makes it one by its unique value, so the call is
// simply repeated after an outcome that nobody knows.
func (s *Service) open(ctx context.Context, r *job.Run, in ticket.Create, p *progress) error {
	n, err := s.newIssue(in, *p)
	if err != nil {
		return job.Review(err)
	}
	maybe := r.Begun(stageCreate)
	if err := r.Begin(ctx, stageCreate, p); err != nil {
		return err
	}
	issue, err := s.d.Tracker.Create(ctx, n)
	if k := tracker.KindOf(err); k == tracker.Duplicate || k == tracker.Invalid {
		issue, err = s.made(ctx, n.Unique, maybe, err)
	}
	if err != nil {
		return decide(ctx, r, fmt.Errorf("open ticket: %w", err))
	}
	p.Issue = &Created{Issue: issue.ID, Key: issue.Key}
	if err := s.d.Records.BeginCursor(ctx, issue.ID, issue.CreatedAt); err != nil {
		return err
	}
	sum := summarize(s.d.Catalogue, issue, ticket.Ref{Draft: in.Draft})
	s.keep(ctx, in.Customer.Address, &sum)
	return r.Done(ctx, stageCreate, p)
}

// made gives the issue that an earlier call has made, or why there is none. The
// refusal need not say that the value is not unique: the files of a call that took
// effect are used up, and Tracker may say that first. maybe: there was an earlier
// call whose end nobody knows, so what cannot be found yet is looked for again.
func (s *Service) made(ctx context.Context, unique string, maybe bool, refused error) (tracker.Issue, error) {
	issue, err := s.d.Tracker.FindByUnique(ctx, unique)
	switch {
	case tracker.KindOf(err) != tracker.NotFound:
		return issue, err
	case maybe:
		return issue, &tracker.Error{Kind: tracker.Uncertain, Call: "create issue", Err: refused}
	}
	return issue, refused
}

func (s *Service) newIssue(in ticket.Create, p progress) (tracker.NewIssue, error) {
	cat, ok := s.d.Catalogue.Category(in.Category)
	if !ok {
		// The catalogue has changed since the customer chose.
		if len(s.d.Catalogue.Categories) == 0 {
			return tracker.NewIssue{}, errors.New("the catalogue has no category")
		}
		cat = s.d.Catalogue.Categories[0]
	}
	c := in.Customer
	return tracker.NewIssue{
		Queue: cat.Queue, Type: cat.Type, Priority: cat.Priority,
		Summary:     in.Subject,
		Description: s.description(in, p),
		Unique:      ticket.Unique(c.Address, in.Draft),
		Tags:        []string{string(c.Address.Messenger)},
		Attachments: p.ids(),
		Fields: map[tracker.Field]string{
			tracker.FieldMessenger: string(c.Address.Messenger),
			tracker.FieldBot:       c.Address.Bot,
			tracker.FieldChat:      c.Address.Chat,
			tracker.FieldUser:      c.User.ID,
			tracker.FieldNickname:  c.User.Username,
			tracker.FieldName:      c.User.Name,
			tracker.FieldLocale:    c.Locale,
			tracker.FieldCategory:  in.Category,
		},
	}, nil
}

// created tells the customer that the ticket is there.
func created(in ticket.Create, c Created) job.New {
	locale := in.Customer.Locale
	ref := ticket.Ref{Draft: in.Draft}
	return notice(in.Customer, ticket.DraftKey(in.Draft)+":created", in.At.UnixMilli(),
		book.Text(locale, "created", "ticket", c.Key), messenger.Keyboard{{dialog.TicketButton(ref, locale)}})
}

// notice is a message of the bot's own, in the customer's outbound lane.
func notice(c ticket.Customer, key string, sequence int64, text string, k messenger.Keyboard) job.New {
	return job.New{
		Queue: ticket.QueueDeliveries, Kind: ticket.KindNotice, Key: key,
		Lane: job.Lane{Name: ticket.OutboundLane(c.Address)}, Sequence: sequence,
		Payload: ticket.Notice{Address: c.Address, Part: messenger.Part{Text: text}, Keyboard: k},
	}
}
