package delivery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"supportbot/shared/dialog"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/news"
	"supportbot/shared/ticket"
)

// answer delivers an agent's reply.
func (s *Service) answer(ctx context.Context, r *job.Run) (job.Outcome, error) {
	var in ticket.Answer
	var p progress
	if err := errors.Join(r.Decode(&in), r.DecodeStage(&p)); err != nil {
		return job.Outcome{}, err
	}
	rep, why, err := s.read(ctx, r, in)
	if err != nil {
		return job.Outcome{}, err
	}
	if rep.had != nil && !p.complete() {
		why = "delivered already"
	}
	if why != "" {
		return skipped(why)
	}
	t, err := s.target(ctx, in.Address)
	if err != nil {
		return job.Outcome{}, err
	}
	if len(p.Parts) == 0 {
		if err := s.prepare(ctx, r, t, rep, "answer", &p); err != nil {
			return job.Outcome{}, err
		}
	}
	return s.deliver(ctx, r, t, rep, p)
}

// deliver sends what is left of a prepared reply: its parts, then its files.
func (s *Service) deliver(ctx context.Context, r *job.Run, t target, rep reply, p progress) (job.Outcome, error) {
	err := s.sendAll(ctx, r, t, rep, &p)
	if err == nil {
		err = s.d.Records.SaveSent(ctx, ticket.Sent{
			Issue: rep.Issue, Comment: rep.Comment, Version: p.Version, Messages: p.Sent, Files: fileIDs(rep.had, p.Files),
		})
	}
	return s.ended(ctx, t, p, err, told(r, rep.Answer, p))
}

// prepare renders the reply once for all tries.
func (s *Service) prepare(ctx context.Context, r *job.Run, t target, rep reply, head string, p *progress) error {
	issue, err := s.d.Tracker.Issue(ctx, rep.Issue)
	if err != nil {
		return news.Decide(r, fmt.Errorf("read issue: %w", err))
	}
	*p = progress{Version: rep.comment.Version}
	p.Parts = t.sender.Render(book.Text(t.locale, head, "ticket", issue.Key) + "\n\n" + rep.text)
	for _, a := range rep.comment.Attachments {
		if rep.had == nil || !slices.Contains(rep.had.Files, a.ID) {
			p.Files = append(p.Files, file{ID: a.ID, Name: a.Name, MIME: a.MIME, Size: a.Size})
		}
	}
	return nil
}

func (s *Service) sendAll(ctx context.Context, r *job.Run, t target, rep reply, p *progress) error {
	for i := len(p.Sent); i < len(p.Parts); i++ {
		stage := stageSend + ":" + strconv.Itoa(i)
		if err := s.send(ctx, r, t, stage, p, part(t, rep, *p, i), func(id string) { p.Sent = append(p.Sent, id) }); err != nil {
			return err
		}
	}
	for i := p.Done; i < len(p.Files); i++ {
		if err := s.sendFile(ctx, r, t, rep, p, i); err != nil {
			return err
		}
	}
	return nil
}

// part is a message of a reply; the last one leads to the ticket.
func part(t target, rep reply, p progress, i int) messenger.Outgoing {
	o := messenger.Outgoing{Part: p.Parts[i]}
	if i == len(p.Parts)-1 {
		o.Keyboard = messenger.Keyboard{{dialog.TicketButton(rep.Ref, t.locale)}}
	}
	return o
}
