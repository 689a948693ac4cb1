package delivery

import (
	"context"
	"fmt"
	"strconv"

	"supportbot/shared/dialog"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/ticket"
)

// edit brings a reply that the customer has to its newest version: the messages
// are edited where the messenger can, else the new text follows, marked as a
// correction.
func (s *Service) edit(ctx context.Context, r *job.Run) (job.Outcome, error) {
	var in ticket.Answer
	if err := r.Decode(&in); err != nil {
		return job.Outcome{}, err
	}
	rep, why, err := s.read(ctx, r, in)
	if err != nil {
		return job.Outcome{}, err
	}
	if rep.had != nil && rep.had.Version >= rep.comment.Version && r.Stage == "" {
		why = "this version went out"
	}
	if why != "" {
		return skipped(why)
	}
	t, err := s.target(ctx, in.Address)
	if err != nil {
		return job.Outcome{}, err
	}
	if rep.had == nil { // it was no reply when its delivery ran
		return s.deliver(ctx, r, t, rep, "answer")
	}
	var p progress
	if err := r.DecodeStage(&p); err != nil {
		return job.Outcome{}, err
	}
	if len(p.Parts) == 0 {
		if err := s.prepare(ctx, r, t, rep, "answer", &p); err != nil {
			return job.Outcome{}, err
		}
	}
	if r.Stage == "" || r.Begun(stageEdit) {
		ok, err := s.editAll(ctx, r, t, rep, &p)
		if err != nil {
			return s.ended(ctx, t, p, err, told(r, rep.Address, rep.Issue, rep.Comment, p))
		}
		if !ok { // another number of messages, or too old to be edited
			p = progress{}
			if err := s.prepare(ctx, r, t, rep, "correction", &p); err != nil {
				return job.Outcome{}, err
			}
		}
		if err := r.Done(ctx, stageEdit, p); err != nil {
			return job.Outcome{}, err
		}
	}
	return s.deliver(ctx, r, t, rep, "correction")
}

// editAll edits every message of the reply as one stage: repeating it changes
// nothing. ok is false when the messages cannot become the new version.
func (s *Service) editAll(ctx context.Context, r *job.Run, t target, rep reply, p *progress) (ok bool, err error) {
	if len(p.Parts) != len(rep.had.Messages) {
		return false, nil
	}
	if err := s.place(ctx, t); err != nil {
		return false, err
	}
	if err := r.Begin(ctx, stageEdit, p); err != nil {
		return false, err
	}
	for i, id := range rep.had.Messages {
		o := messenger.Outgoing{Chat: t.to.Chat, Part: p.Parts[i], Key: r.Key + "/" + strconv.Itoa(i)}
		if i == len(p.Parts)-1 {
			o.Keyboard = messenger.Keyboard{{dialog.TicketButton(rep.Ref, t.locale)}}
		}
		err := t.sender.Edit(ctx, id, o)
		if err == nil {
			continue
		}
		if messenger.KindOf(err) == messenger.Invalid {
			return false, nil
		}
		return false, s.failed(ctx, r, t, fmt.Errorf("edit message: %w", err))
	}
	p.Sent = append(p.Sent, rep.had.Messages...)
	return true, nil
}
