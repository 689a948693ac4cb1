package ticketing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

// settle is how long after an unknown outcome a comment is looked for at the
// earliest: the first call may still land, and listings lag behind writes.
const settle = time.Minute

// The kinds of comments that the platform writes.
const (
	customers = ticket.MarkCustomer // a customer's message
	robots    = ticket.MarkRobot    // the robot's own words
)

// marker names a comment of ours within its text (ticket.Marked), and says what
// it carries. Nobody sees it before the comment is there.
func marker(r *job.Run, kind, stage string) string {
	sum := sha256.Sum256([]byte(r.Key + "\x00" + stage))
	return kind + hex.EncodeToString(sum[:9])
}

// write adds a comment of the given kind once. After an outcome that nobody knows
// it looks for the comment before it writes again.
func (s *Service) write(ctx context.Context, r *job.Run, kind, stage, issue string, n tracker.NewComment, data any) error {
	if done(r, stage) {
		return nil
	}
	mark := marker(r, kind, stage)
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
	n.Text = strings.TrimRight(n.Text, "\n") + "\n\n" + ticket.MarkerPrefix + mark + ")"
	if _, err := s.d.Tracker.AddComment(ctx, issue, n); err != nil {
		return decide(ctx, r, fmt.Errorf("write comment: %w", err))
	}
	return r.Done(ctx, stage, data)
}

// written looks for a comment of ours that may have been made.
func (s *Service) written(ctx context.Context, r *job.Run, issue, mark string) (bool, error) {
	if r.StageAge < settle {
		return false, job.Later(settle-r.StageAge, errors.New("a comment may still land"))
	}
	comments, err := s.d.Tracker.Comments(ctx, issue, "")
	if err != nil {
		return false, decide(ctx, r, fmt.Errorf("look for comment: %w", err))
	}
	return slices.ContainsFunc(comments, func(c tracker.Comment) bool {
		_, found, ok := ticket.Marked(c.Text)
		return ok && found == mark
	}), nil
}

// done reports whether the last thing recorded is that this effect happened.
func done(r *job.Run, stage string) bool { return r.Stage == "done "+stage }
