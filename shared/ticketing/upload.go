package ticketing

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/obs"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

// progress is what a job of this package records with its stages.
type progress struct {
	Uploads []upload `json:"uploads,omitempty"` // by the order of the attachments
	Issue   *Created `json:"issue,omitempty"`
	Replays int      `json:"replays,omitempty"` // job.Job.Replays when the files were uploaded
	Open    bool     `json:"open,omitempty"`    // the ticket to reopen was open already
}

// upload is one file on its way: its temporary id in Tracker, or why there is
// none.
type upload struct {
	ID      string `json:"id,omitempty"`
	Missing bool   `json:"missing,omitempty"`
}

func (p progress) ids() []string {
	var ids []string
	for _, u := range p.Uploads {
		if u.ID != "" {
			ids = append(ids, u.ID)
		}
	}
	return ids
}

// attachments lists the files of messages, quoted ones too.
func attachments(ms []ticket.Message) []messenger.Attachment {
	var all []messenger.Attachment
	for _, m := range ms {
		all = append(all, m.Attachments...)
		for _, q := range m.Quotes {
			all = append(all, q.Attachments...)
		}
	}
	return all
}

// uploads brings the files of messages to Tracker, one after the other, each
// streamed from the messenger. A file that the messenger does not give is left
// out and named in the text; an upload that failed may be repeated, since nobody
// sees a temporary file. A replay uploads anew: nobody says how long Tracker keeps
// such files.
func (s *Service) uploads(ctx context.Context, r *job.Run, a messenger.Address, ms []ticket.Message, p *progress) error {
	if p.Replays < r.Replays {
		p.Uploads, p.Replays = nil, r.Replays
	}
	all := attachments(ms)
	if len(p.Uploads) >= len(all) {
		return nil
	}
	files, err := s.files(a)
	if err != nil {
		return job.Review(err)
	}
	for i := len(p.Uploads); i < len(all); i++ {
		stage := stageUpload + ":" + strconv.Itoa(i)
		if err := r.Begin(ctx, stage, p); err != nil {
			return err
		}
		u, err := s.upload(ctx, files, all[i])
		if err != nil && !missing(r, err) {
			return decideFile(ctx, r, fmt.Errorf("carry file: %w", err))
		}
		if err != nil {
			s.d.Log.WarnContext(ctx, "file of a customer is not to be had", slog.String("kind", string(all[i].Kind)), slog.Any(obs.Error, err))
		}
		p.Uploads = append(p.Uploads, u)
		if err := r.Done(ctx, stage, p); err != nil {
			return err
		}
	}
	return nil
}

// upload carries one file. With an error it is missing.
func (s *Service) upload(ctx context.Context, files Files, a messenger.Attachment) (upload, error) {
	body, err := files.Open(ctx, a)
	if err != nil {
		return upload{Missing: true}, err
	}
	defer func() { _ = body.Close() }()
	from := &source{r: body, said: a.Size}
	size := a.Size
	if size == 0 {
		size = -1
	}
	made, err := s.d.Tracker.Upload(ctx, tracker.Upload{Name: a.Name, Size: size, Body: from})
	if err != nil {
		return upload{Missing: true}, from.blame(err)
	}
	return upload{ID: made.ID}, nil
}
