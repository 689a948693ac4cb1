package privacy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/news"
	"supportbot/shared/person"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

// personal are the fields of a ticket that tell who the customer is, or what they said.
// What remains (messenger, bot, language, category, rating) is said of many.
var personal = []tracker.Field{tracker.FieldChat, tracker.FieldUser, tracker.FieldNickname, tracker.FieldName, tracker.FieldRemark}

// detach ends the tie of each ticket. It may be repeated. A ticket that Tracker refuses
// to change keeps nobody from being forgotten: it is noted, and left to a person.
func (s *Service) detach(ctx context.Context, r *job.Run, p *erasing) error {
	for ; p.Detached < len(p.Issues); p.Detached++ {
		stage := stageDetach + ":" + strconv.Itoa(p.Detached)
		if err := r.Begin(ctx, stage, p); err != nil {
			return err
		}
		issue := p.Issues[p.Detached]
		err := s.free(ctx, issue)
		if err != nil && !refused(err) {
			return news.Decide(r, err)
		}
		if err != nil {
			p.Kept = append(p.Kept, issue)
		}
		next := *p
		next.Detached++
		if err := r.Done(ctx, stage, next); err != nil {
			return err
		}
	}
	return nil
}

// free ends the tie of a ticket. One that was deleted has none.
func (s *Service) free(ctx context.Context, issue string) error {
	err := s.d.Tracker.Detach(ctx, issue, personal...)
	if err != nil && tracker.KindOf(err) != tracker.NotFound {
		return fmt.Errorf("free ticket of its customer: %w", err)
	}
	return nil
}

// refused: a repetition will not help, until somebody has changed something in Tracker.
// A token that is not valid is none of that: it is an outage.
func refused(err error) bool {
	var e *tracker.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Kind {
	case tracker.Frozen, tracker.Invalid:
		return true
	case tracker.Forbidden:
		return e.Status != http.StatusUnauthorized
	}
	return false
}

// detachOne frees a ticket of which Tracker refused it when its customer was erased.
// Refused again it waits for an operator, whom its error tells what to do.
func (s *Service) detachOne(ctx context.Context, r *job.Run) (job.Outcome, error) {
	var in person.Detach
	if err := r.Decode(&in); err != nil {
		return job.Outcome{}, err
	}
	if in.Issue == "" && in.Asked != nil {
		return job.Outcome{}, job.Review(fmt.Errorf("a customer who was erased asked for a ticket at %s, and Tracker refused to say whether it was opened: look for one "+
			"of that time, clear its fields %v and add the tag %s by hand, or see that there is none, and settle", in.Asked.UTC().Format(time.RFC3339), personal, tracker.TagErased))
	}
	if err := r.Begin(ctx, stageDetach, nil); err != nil {
		return job.Outcome{}, err
	}
	err := s.free(ctx, in.Issue)
	if err != nil && refused(err) {
		if rerr := r.Refused(ctx); rerr != nil {
			return job.Outcome{}, rerr
		}
		return job.Outcome{}, job.Review(fmt.Errorf("ticket %s still names a customer who was erased: let the robot change it and replay, "+
			"or clear its fields %v and add the tag %s by hand and settle: %w", in.Issue, personal, tracker.TagErased, err))
	}
	if err != nil {
		return job.Outcome{}, news.Decide(r, err)
	}
	return job.Outcome{Then: []job.New{note(in.Issue)}}, r.Done(ctx, stageDetach, nil)
}

// note tells the agent of a ticket that it is nobody's any more.
func note(issue string) job.New {
	return job.New{
		Queue: ticket.QueueTickets, Kind: ticket.KindNote, Key: "note:" + string(ticket.NoteErased) + ":" + issue,
		Lane:    job.Lane{Name: ticket.NoteLane(issue)},
		Payload: ticket.Note{Ref: ticket.Ref{Issue: issue}, Note: ticket.NoteErased},
	}
}
