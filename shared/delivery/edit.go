package delivery

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/ticket"
)

// edit brings a reply that the customer has to its newest version: the messages
// are edited where the messenger can, else the new text follows, marked as a
// correction.
func (s *Service) edit(ctx context.Context, r *job.Run) (job.Outcome, error) {
	var in ticket.Answer
	var p progress
	if err := errors.Join(r.Decode(&in), r.DecodeStage(&p)); err != nil {
		return job.Outcome{}, err
	}
	rep, why, err := s.read(ctx, r, in)
	if err != nil {
		return job.Outcome{}, err
	}
	if why == "" {
		if why, err = s.outdated(ctx, r, rep, p); err != nil {
			return job.Outcome{}, err
		}
	}
	if why != "" {
		return skipped(why)
	}
	t, err := s.target(ctx, in.Address)
	if err != nil {
		return job.Outcome{}, err
	}
	if len(p.Parts) == 0 {
		if err := s.revise(ctx, r, t, rep, &p); err != nil {
			return job.Outcome{}, err
		}
	}
	if p.Edit {
		err := s.editAll(ctx, r, t, rep, &p)
		var gone *errGone
		switch {
		case err == nil:
		case !errors.As(err, &gone) || gone.kind != messenger.Invalid:
			return s.ended(ctx, t, p, err, told(r, rep.Answer, p))
		case rep.inside:
			return skipped("internal")
		default: // too old to be edited, or gone
			if err := s.prepare(ctx, r, t, rep, "correction", &p); err != nil {
				return job.Outcome{}, err
			}
		}
	}
	return s.deliver(ctx, r, t, rep, p)
}

// outdated says why there is nothing to be brought: the customer has the version, or,
// when an edit is replayed, a newer one; or they may have it, and would once more.
func (s *Service) outdated(ctx context.Context, r *job.Run, rep reply, p progress) (why string, err error) {
	switch {
	case rep.had != nil && rep.had.Version >= rep.version(p) && !p.complete():
		return "this version went out", nil
	case rep.had != nil || r.Stage != "":
		return "", nil
	}
	doubt, err := s.d.Records.InDoubt(ctx, ticket.AnswerKey(rep.Issue, rep.Comment))
	if err == nil && doubt >= rep.comment.Version {
		why = "this version may have gone out: its delivery waits for a person"
	}
	return why, err
}

// revise prepares the newest version: as edits, if it makes as many messages as
// the customer has. What was no reply when its delivery ran goes out whole.
func (s *Service) revise(ctx context.Context, r *job.Run, t target, rep reply, p *progress) error {
	if err := s.prepare(ctx, r, t, rep, "answer", p); err != nil || rep.had == nil {
		return err
	}
	if len(p.Parts) != len(rep.had.Messages) {
		return s.prepare(ctx, r, t, rep, "correction", p)
	}
	p.Edit = true
	return nil
}

// editAll edits the messages of a reply, each as a stage of its own. An edit with
// no known end is repeated: twice the same changes nothing.
func (s *Service) editAll(ctx context.Context, r *job.Run, t target, rep reply, p *progress) error {
	for i := len(p.Sent); i < len(p.Parts) && i < len(rep.had.Messages); i++ {
		if err := s.place(ctx, t); err != nil {
			return err
		}
		stage := stageEdit + ":" + strconv.Itoa(i)
		if err := r.Begin(ctx, stage, p); err != nil {
			return err
		}
		o := part(t, rep, *p, i)
		o.Bare = true // files are messages of their own
		o.Chat, o.Key = t.to.Chat, r.Key+"/"+stage
		if err := t.sender.Edit(ctx, rep.had.Messages[i], o); err != nil {
			return s.failed(ctx, r, t, fmt.Errorf("edit message: %w", err))
		}
		p.Sent = append(p.Sent, rep.had.Messages[i])
		if err := r.Done(ctx, stage, p); err != nil {
			return err
		}
	}
	return nil
}
