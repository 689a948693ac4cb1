package ticketing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"supportbot/shared/job"
	"supportbot/shared/markup"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

// rate puts the customer's rating into the ticket's fields, and says it in a
// comment, which agents see without looking for fields.
func (s *Service) rate(ctx context.Context, r *job.Run) (job.Outcome, error) {
	var in ticket.Rate
	if err := r.Decode(&in); err != nil {
		return job.Outcome{}, err
	}
	issue, err := s.issue(ctx, r, in.Customer.Address, in.Ref)
	if err != nil {
		return job.Outcome{}, err
	}
	if r.Stage == "" || r.Begun(stageFields) { // setting fields twice is setting them once
		if err := s.setRating(ctx, r, issue, in); err != nil {
			return job.Outcome{}, err
		}
	}
	return job.Outcome{}, s.write(ctx, r, stageComment, issue, tracker.NewComment{Text: s.rating(in)}, nil)
}

func (s *Service) setRating(ctx context.Context, r *job.Run, issue string, in ticket.Rate) error {
	fields := map[tracker.Field]string{}
	if in.Score > 0 {
		fields[tracker.FieldRating] = strconv.Itoa(in.Score)
	}
	if in.Remark != "" {
		fields[tracker.FieldRemark] = in.Remark
	}
	if err := r.Begin(ctx, stageFields, nil); err != nil {
		return err
	}
	_, err := s.d.Tracker.SetFields(ctx, issue, 0, fields)
	if err != nil && tracker.KindOf(err) != tracker.Invalid { // a queue without our fields: the comment says it
		return s.decide(r, fmt.Errorf("set rating: %w", err))
	}
	return r.Done(ctx, stageFields, nil)
}

func (s *Service) rating(in ticket.Rate) string {
	var lines []string
	if in.Score > 0 {
		lines = append(lines, s.text("rating", "score", strconv.Itoa(in.Score), "stars", strings.Repeat("★", in.Score)))
	}
	if in.Remark != "" {
		lines = append(lines, s.text("remark"), "", quote(markup.Escape(in.Remark)))
	}
	return strings.Join(lines, "\n")
}

// reopen takes a ticket back to work, with the message that made the customer ask
// for it.
func (s *Service) reopen(ctx context.Context, r *job.Run) (job.Outcome, error) {
	var in ticket.Reopen
	if err := r.Decode(&in); err != nil {
		return job.Outcome{}, err
	}
	id, err := s.issue(ctx, r, in.Customer.Address, in.Ref)
	if err != nil {
		return job.Outcome{}, err
	}
	var p progress
	if err := r.DecodeStage(&p); err != nil {
		return job.Outcome{}, err
	}
	if r.Stage == "" || r.Begun(stageTransit) {
		if err := s.transit(ctx, r, in, id, &p); err != nil {
			return job.Outcome{}, err
		}
	}
	if in.Message == nil && p.Open {
		return job.Outcome{}, nil // nothing to say: it is open already
	}
	if in.Message != nil {
		return job.Outcome{}, s.add(ctx, r, in.Customer, in.Ref, []ticket.Message{*in.Message})
	}
	return job.Outcome{}, s.write(ctx, r, stageComment, id, tracker.NewComment{Text: s.text("reopened")}, p)
}

// transit takes the step to an open status. It reads the issue first, so that a
// step whose outcome nobody knows is not taken twice.
func (s *Service) transit(ctx context.Context, r *job.Run, in ticket.Reopen, id string, p *progress) error {
	issue, err := s.d.Tracker.Issue(ctx, id)
	if err != nil {
		return s.decide(r, err)
	}
	p.Open = r.Stage == "" && summarize(s.d.Catalogue, issue, in.Ref).Open()
	if !summarize(s.d.Catalogue, issue, in.Ref).Open() {
		steps, err := s.d.Tracker.Transitions(ctx, id)
		if err != nil {
			return s.decide(r, err)
		}
		if step, ok := s.reopening(steps); ok {
			if err := r.Begin(ctx, stageTransit, nil); err != nil {
				return err
			}
			err := s.d.Tracker.Transit(ctx, id, step, "", "")
			if err != nil && tracker.KindOf(err) != tracker.NotFound {
				return s.decide(r, fmt.Errorf("reopen ticket: %w", err))
			}
		}
		s.keep(ctx, in.Customer.Address, nil)
	}
	return r.Done(ctx, stageTransit, p)
}

// reopening chooses a step to an open status; a workflow may offer none, and then
// the agent decides on the comment.
func (s *Service) reopening(steps []tracker.Transition) (id string, ok bool) {
	best := len(preferred) + 1
	for _, step := range steps {
		if s.d.Catalogue.Status(step.To, "", "").Phase != ticket.PhaseOpen {
			continue
		}
		rank := slices.Index(preferred, step.To)
		if rank < 0 {
			rank = len(preferred)
		}
		if rank < best {
			best, id = rank, step.ID
		}
	}
	return id, id != ""
}

// preferred are the usual keys of statuses in which work goes on.
var preferred = []string{"reopened", "open", "inProgress", "new"}

// note leaves a comment of the robot's.
func (s *Service) note(ctx context.Context, r *job.Run) (job.Outcome, error) {
	var in ticket.Note
	if err := r.Decode(&in); err != nil {
		return job.Outcome{}, err
	}
	if in.Ref.Issue == "" {
		return job.Outcome{}, job.Review(errors.New("a note without an issue"))
	}
	text := s.text("note."+string(in.Note), "detail", markup.Escape(in.Detail))
	return job.Outcome{}, s.write(ctx, r, stageComment, in.Ref.Issue, tracker.NewComment{Text: text}, nil)
}
