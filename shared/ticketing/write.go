package ticketing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

// settle is how long after an unknown outcome a comment is looked for at the
// earliest: the first call may still land, and listings lag behind writes.
const settle = time.Minute

// marker names a comment of ours within the text, and says whether it carries a
// customer's words.
func marker(r *job.Run, stage string) string {
	kind := robots
	if r.Kind == ticket.KindComment || r.Kind == ticket.KindReopen {
		kind = customers
	}
	sum := sha256.Sum256([]byte(r.Key + "\x00" + stage))
	return ticket.MarkerPrefix + kind + hex.EncodeToString(sum[:9]) + ")"
}

// The kinds of comments that the platform writes.
const (
	customers = "c" // a customer's message
	robots    = "r" // the robot's own words
)

// write adds a comment once. After an outcome that nobody knows it looks for the
// comment before it writes again.
func (s *Service) write(ctx context.Context, r *job.Run, stage, issue string, n tracker.NewComment, data any) error {
	if r.Stage == "done "+stage {
		return nil
	}
	mark := marker(r, stage)
	if r.Begun(stage) {
		found, err := s.written(ctx, r, issue, mark)
		if err != nil {
			return err
		}
		if found {
			return r.Done(ctx, stage, data)
		}
	}
	if err := r.Begin(ctx, stage, data); err != nil {
		return err
	}
	n.Text = strings.TrimRight(n.Text, "\n") + "\n\n" + mark
	_, err := s.d.Tracker.AddComment(ctx, issue, n)
	if err == nil {
		return r.Done(ctx, stage, data)
	}
	err = fmt.Errorf("write comment: %w", err)
	if tracker.KindOf(err) == tracker.Uncertain {
		return job.After(settle, err)
	}
	if rerr := r.Refused(ctx); rerr != nil {
		return rerr
	}
	return s.decide(r, err)
}

// written looks for a comment of ours that may have been made.
func (s *Service) written(ctx context.Context, r *job.Run, issue, mark string) (bool, error) {
	if r.StageAge < settle {
		return false, job.Later(settle-r.StageAge, errors.New("a comment may still land"))
	}
	comments, err := s.d.Tracker.Comments(ctx, issue, "")
	if err != nil {
		return false, s.decide(r, fmt.Errorf("look for comment: %w", err))
	}
	for i := len(comments) - 1; i >= 0; i-- {
		if strings.Contains(comments[i].Text, mark) {
			return true, nil
		}
	}
	return false, nil
}
