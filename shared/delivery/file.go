package delivery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/news"
	"supportbot/shared/tracker"
)

// fileWait is how long a file that cannot be carried holds up the lane: after that
// its failures are counted, and after fileTries of them the customer is told that
// it does not come.
const (
	fileWait  = time.Hour
	fileTries = 3
)

// sendFile sends a file of a reply, or says that it cannot be had here. A file
// costs only itself.
func (s *Service) sendFile(ctx context.Context, r *job.Run, t target, rep reply, p *progress, i int) error {
	f := &p.Files[i]
	stage := stageFile + ":" + strconv.Itoa(i)
	sentIt := func(string) { p.Done = i + 1 }
	f.Refused = f.Refused || f.Size > t.sender.Limits().Upload
	if !f.Refused {
		err := s.send(ctx, r, t, stage, p, messenger.Outgoing{File: s.file(rep.Issue, *f)}, sentIt)
		if err == nil {
			return nil
		}
		if err := s.fileFailed(ctx, r, p, i, err); err != nil || p.Done > i {
			return err
		}
	}
	sorry := messenger.Outgoing{Part: t.sender.Plain(book.Text(t.locale, "file.refused", "file", f.Name))[0]}
	return s.send(ctx, r, t, stage+":sorry", p, sorry, sentIt)
}

func (s *Service) file(issue string, f file) *messenger.File {
	return &messenger.File{Name: f.Name, MIME: f.MIME, Size: f.Size, Open: func(ctx context.Context) (io.ReadCloser, error) {
		return s.d.Tracker.Download(ctx, issue, tracker.Attachment{ID: f.ID, Name: f.Name, MIME: f.MIME, Size: f.Size})
	}}
}

// fileFailed decides what becomes of a file that was not sent. Without an error it
// is refused for good or, when the agent has deleted it since, passed over.
func (s *Service) fileFailed(ctx context.Context, r *job.Run, p *progress, i int, err error) error {
	var gone *errGone
	var source *tracker.Error
	var call *messenger.Error
	switch {
	case ctx.Err() != nil:
		return err
	case errors.As(err, &gone) && gone.kind == messenger.Invalid:
		p.Files[i].Refused, p.Tries = true, 0
		return nil
	case errors.As(err, &source):
		if rerr := r.Refused(ctx); rerr != nil { // half a file is none
			return rerr
		}
		err = fmt.Errorf("read file: %w", source)
		switch {
		case source.Kind == tracker.NotFound:
			p.Done = i + 1
			return nil
		case source.Kind == tracker.Invalid: // its name makes no address
			p.Files[i].Refused, p.Tries = true, 0
			return nil
		case source.Kind == tracker.RateLimited, source.Status == http.StatusUnauthorized:
			return news.Decide(r, err) // it is not about this file
		}
	case errors.As(err, &call) && call.Kind == messenger.Temporary:
		err = fmt.Errorf("send file: %w", call)
	default:
		return err
	}
	if r.Age > fileWait && r.Attempts >= fileTries {
		p.Files[i].Refused, p.Tries = true, 0
		return nil
	}
	return job.Within(r, fileWait, err)
}
