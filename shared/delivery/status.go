package delivery

import (
	"context"
	"embed"

	"supportbot/shared/dialog"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/phrase"
	"supportbot/shared/ticket"
)

//go:embed texts/*.json
var files embed.FS

var book = phrase.Open(files, "texts")

// status announces a status change, and asks for a rating after the resolution.
func (s *Service) status(ctx context.Context, r *job.Run) (job.Outcome, error) {
	var in ticket.StatusNews
	if err := r.Decode(&in); err != nil {
		return job.Outcome{}, err
	}
	t, err := s.target(ctx, in.Address)
	if err != nil {
		return job.Outcome{}, err
	}
	if t.person != nil && !t.person.Settings.Status {
		return skipped("the customer does not want to be told")
	}
	from := s.d.Catalogue.Status(in.From, "", "")
	to := s.d.Catalogue.Status(in.To, in.Type, in.Display)
	text := book.Text(t.locale, "status", "ticket", in.Key, "title", in.Title, "status", to.Text.In(t.locale))
	keyboard := messenger.Keyboard{{dialog.TicketButton(in.Ref, t.locale)}}
	if from.Phase == ticket.PhaseOpen && to.Phase != ticket.PhaseOpen && in.Type != "cancelled" {
		text += "\n\n" + book.Text(t.locale, "rate")
		keyboard = append(dialog.RateButtons(in.Ref, t.locale), []messenger.Button{dialog.ReopenButton(in.Ref, t.locale)})
	}
	return s.one(ctx, r, t, messenger.Outgoing{Part: t.sender.Plain(text)[0], Keyboard: keyboard}, false)
}

// notice sends a message of the bot's own.
func (s *Service) notice(ctx context.Context, r *job.Run) (job.Outcome, error) {
	var in ticket.Notice
	if err := r.Decode(&in); err != nil {
		return job.Outcome{}, err
	}
	t, err := s.target(ctx, in.Address)
	if err != nil {
		return job.Outcome{}, err
	}
	// The conversation may have tried to send it under the job's own key.
	o := messenger.Outgoing{Part: in.Part, Keyboard: in.Keyboard, NoCallback: in.NoCallback, Key: r.Key}
	return s.one(ctx, r, t, o, in.Uncertain)
}

// one delivers a single message. uncertain: it was sent before the job was made,
// and nobody knows how that ended.
func (s *Service) one(ctx context.Context, r *job.Run, t target, o messenger.Outgoing, uncertain bool) (job.Outcome, error) {
	var p progress
	if err := r.DecodeStage(&p); err != nil {
		return job.Outcome{}, err
	}
	if len(p.Sent) == 0 {
		if r.Stage == "" && uncertain {
			if err := s.probe(ctx, r, t); err != nil {
				return s.ended(ctx, t, p, err, untold(p))
			}
			p.Tries, p.Resent = 1, 1
		}
		err := s.send(ctx, r, t, stageSend, &p, o, func(id string) { p.Sent = append(p.Sent, id) })
		return s.ended(ctx, t, p, err, untold(p))
	}
	return s.ended(ctx, t, p, nil, untold(p))
}
