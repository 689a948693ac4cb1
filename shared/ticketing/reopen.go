package ticketing

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"supportbot/shared/job"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

// reopen takes a ticket back to work, with the message that made the customer ask
// for it.
func (s *Service) reopen(ctx context.Context, r *job.Run) (job.Outcome, error) {
	var in ticket.Reopen
	var p progress
	if err := errors.Join(r.Decode(&in), r.DecodeStage(&p)); err != nil {
		return job.Outcome{}, err
	}
	id, err := s.issue(ctx, r, in.Customer.Address, in.Ref)
	if err != nil {
		return job.Outcome{}, err
	}
	if r.Stage == "" || r.Begun(stageTransit) {
		if err := s.transit(ctx, r, in, id, &p); err != nil {
			return job.Outcome{}, err
		}
	}
	switch {
	case in.Message != nil:
		return job.Outcome{}, s.add(ctx, r, in.Customer, in.Ref, []ticket.Message{*in.Message})
	case p.Open:
		return job.Outcome{}, nil // nothing to say: it is open already
	}
	return job.Outcome{}, s.write(ctx, r, robots, stageComment, id, tracker.NewComment{Text: s.text("reopened")}, p)
}

// transit takes the step to an open status. It reads the issue first, so that a
// step whose outcome nobody knows is not taken twice. Where no step can be taken
// the agent decides on the comment.
func (s *Service) transit(ctx context.Context, r *job.Run, in ticket.Reopen, id string, p *progress) error {
	issue, err := s.d.Tracker.Issue(ctx, id)
	if err != nil {
		return decide(ctx, r, fmt.Errorf("read ticket: %w", err))
	}
	open := summarize(s.d.Catalogue, issue, in.Ref).Open()
	p.Open = open && r.Stage == ""
	if !open {
		if err := s.step(ctx, r, id); err != nil {
			return err
		}
		s.keep(ctx, in.Customer.Address, nil)
	}
	return r.Done(ctx, stageTransit, p)
}

func (s *Service) step(ctx context.Context, r *job.Run, id string) error {
	steps, err := s.d.Tracker.Transitions(ctx, id)
	if err != nil {
		return decide(ctx, r, fmt.Errorf("read transitions: %w", err))
	}
	step, ok := s.reopening(steps)
	if !ok {
		return nil
	}
	if err := r.Begin(ctx, stageTransit, nil); err != nil {
		return err
	}
	if err := s.d.Tracker.Transit(ctx, id, step); err != nil && !declined(err) {
		return decide(ctx, r, fmt.Errorf("reopen ticket: %w", err))
	}
	return nil
}

// declined: the workflow does not let the robot take this step, or wants something
// for it that the robot does not know.
func declined(err error) bool {
	var e *tracker.Error
	return errors.As(err, &e) &&
		(e.Kind == tracker.NotFound || e.Kind == tracker.Invalid || e.Status == http.StatusForbidden)
}

// reopening chooses a step to a status that is known to be open.
func (s *Service) reopening(steps []tracker.Transition) (id string, ok bool) {
	best := len(preferred) + 1
	for _, step := range steps {
		if st, listed := s.d.Catalogue.Statuses[step.To]; !listed || st.Phase != ticket.PhaseOpen {
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
