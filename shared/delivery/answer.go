package delivery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"supportbot/shared/dialog"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

// file is an attachment of a reply on its way to the customer.
type file struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	MIME string `json:"mime,omitempty"`
	Size int64  `json:"size"`
}

// reply is an agent's comment as it is to be delivered.
type reply struct {
	ticket.Answer
	comment tracker.Comment
	text    string
	had     *ticket.Sent // what the customer has of it; nil: nothing
}

// answer delivers an agent's reply.
func (s *Service) answer(ctx context.Context, r *job.Run) (job.Outcome, error) {
	var in ticket.Answer
	if err := r.Decode(&in); err != nil {
		return job.Outcome{}, err
	}
	rep, why, err := s.read(ctx, r, in)
	if err != nil {
		return job.Outcome{}, err
	}
	if rep.had != nil {
		why = "delivered already"
	}
	if why != "" {
		return skipped(why)
	}
	t, err := s.target(ctx, in.Address)
	if err != nil {
		return job.Outcome{}, err
	}
	return s.deliver(ctx, r, t, rep, "answer")
}

// read reads the comment again: since the job was made it may have been deleted,
// or made internal. why says why nothing is to be sent. A delivery that has begun
// goes on with what it began with.
func (s *Service) read(ctx context.Context, r *job.Run, in ticket.Answer) (rep reply, why string, err error) {
	rep.Answer = in
	if rep.had, err = s.d.Records.Sent(ctx, in.Issue, in.Comment); err != nil {
		return rep, "", err
	}
	rep.comment, err = s.d.Tracker.Comment(ctx, in.Issue, in.Comment)
	if tracker.KindOf(err) == tracker.NotFound && err != nil {
		return rep, "deleted", nil
	}
	if err != nil {
		return rep, "", decideTracker(r, fmt.Errorf("read comment: %w", err))
	}
	rule, err := s.d.Rule.Get(ctx)
	if err != nil {
		return rep, "", decideTracker(r, err)
	}
	text, ok := rule.Reply(rep.comment)
	if !ok && r.Stage == "" {
		return rep, "internal", nil
	}
	rep.text = text
	return rep, "", nil
}

// deliver sends a reply: its parts, then its files.
func (s *Service) deliver(ctx context.Context, r *job.Run, t target, rep reply, head string) (job.Outcome, error) {
	var p progress
	if err := r.DecodeStage(&p); err != nil {
		return job.Outcome{}, err
	}
	if len(p.Parts) == 0 {
		if err := s.prepare(ctx, r, t, rep, head, &p); err != nil {
			return job.Outcome{}, err
		}
	}
	notes, err := s.sendAll(ctx, r, t, rep, &p)
	if err == nil {
		err = s.d.Records.SaveSent(ctx, ticket.Sent{
			Issue: rep.Issue, Comment: rep.Comment, Version: p.Version, Messages: p.Sent, Files: fileIDs(rep.had, p.Files),
		})
	}
	return s.ended(ctx, t, p, err, told(r, rep.Address, rep.Issue, rep.Comment, p, notes...))
}

// prepare renders the reply once for all tries.
func (s *Service) prepare(ctx context.Context, r *job.Run, t target, rep reply, head string, p *progress) error {
	issue, err := s.d.Tracker.Issue(ctx, rep.Issue)
	if err != nil {
		return decideTracker(r, fmt.Errorf("read issue: %w", err))
	}
	p.Version = rep.comment.Version
	p.Parts = t.sender.Render(book.Text(t.locale, head, "ticket", issue.Key) + "\n\n" + rep.text)
	for _, a := range rep.comment.Attachments {
		if rep.had == nil || !slices.Contains(rep.had.Files, a.ID) {
			p.Files = append(p.Files, file{ID: a.ID, Name: a.Name, MIME: a.MIME, Size: a.Size})
		}
	}
	return nil
}

func (s *Service) sendAll(ctx context.Context, r *job.Run, t target, rep reply, p *progress) (notes []job.New, err error) {
	for i := len(p.Sent); i < len(p.Parts); i++ {
		o := messenger.Outgoing{Part: p.Parts[i]}
		if i == len(p.Parts)-1 {
			o.Keyboard = messenger.Keyboard{{dialog.TicketButton(rep.Ref, t.locale)}}
		}
		stage := stageSend + ":" + strconv.Itoa(i)
		if err := s.send(ctx, r, t, stage, p, o, func(id string) { p.Sent = append(p.Sent, id) }); err != nil {
			return nil, err
		}
	}
	for i := p.Done; i < len(p.Files); i++ {
		if s.tooLarge(t, p.Files[i]) {
			notes = append(notes, Note(r.Key+":"+p.Files[i].ID, rep.Address, rep.Issue, rep.Comment, ticket.NoteTooLarge, p.Files[i].Name))
		}
		if err := s.sendFile(ctx, r, t, rep, p, i); err != nil {
			return notes, err
		}
	}
	return notes, nil
}

func (s *Service) tooLarge(t target, f file) bool { return f.Size > t.sender.Limits().Upload }

// sendFile sends a file of a reply, or says that the messenger cannot carry it. A
// file that the messenger refuses costs only itself.
func (s *Service) sendFile(ctx context.Context, r *job.Run, t target, rep reply, p *progress, i int) error {
	f := p.Files[i]
	stage := stageFile + ":" + strconv.Itoa(i)
	sentIt := func(string) { p.Done = i + 1 }
	sorry := messenger.Outgoing{Part: t.sender.Plain(book.Text(t.locale, "file.refused", "file", f.Name))[0]}
	if s.tooLarge(t, f) {
		return s.send(ctx, r, t, stage, p, sorry, sentIt)
	}
	o := messenger.Outgoing{File: &messenger.File{Name: f.Name, MIME: f.MIME, Size: f.Size, Open: func(ctx context.Context) (io.ReadCloser, error) {
		return s.d.Tracker.Download(ctx, rep.Issue, tracker.Attachment{ID: f.ID, Name: f.Name, MIME: f.MIME, Size: f.Size})
	}}}
	err := s.send(ctx, r, t, stage, p, o, sentIt)
	var gone *errGone
	if errors.As(err, &gone) && gone.kind == messenger.Invalid {
		return s.send(ctx, r, t, stage, p, sorry, sentIt)
	}
	var te *tracker.Error
	if errors.As(err, &te) {
		if rerr := r.Refused(ctx); rerr != nil {
			return rerr
		}
		return decideTracker(r, err)
	}
	return err
}

func fileIDs(had *ticket.Sent, files []file) []string {
	var ids []string
	if had != nil {
		ids = append(ids, had.Files...)
	}
	for _, f := range files {
		ids = append(ids, f.ID)
	}
	return ids
}
