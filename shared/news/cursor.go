package news

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

// cursor finds where the news of an issue begin. A ticket that the bot opens begins
// with itself, which is written down when it is there. Any other that is seen for
// the first time (a first deployment, a restored database) begins with what made
// us look.
func (l *Looker) cursor(ctx context.Context, r *job.Run, i tracker.Issue, who Owner) (ticket.Cursor, error) {
	c, err := l.d.Store.Cursor(ctx, i.ID)
	if err != nil {
		return ticket.Cursor{}, err
	}
	if c != nil {
		return *c, nil
	}
	start := r.CreatedAt.Add(-behind)
	if who.Ref.Draft != "" {
		made, err := l.d.Store.Find(ctx, ticket.DraftKey(who.Ref.Draft))
		if err != nil {
			return ticket.Cursor{}, err
		}
		if made != nil && made.State != job.Completed { // it is being opened at this moment
			start = i.CreatedAt
		}
	}
	if start.After(i.CreatedAt) {
		l.d.Log.WarnContext(ctx, "news of this issue begin now, earlier ones stay unsent",
			slog.String("issue", i.Key), slog.Time("from", i.CreatedAt), slog.Time("to", start))
	}
	return ticket.Cursor{Issue: i.ID, StartsAt: start}, nil
}

// behindOf reads the entries of a listing behind the one with the id after. When
// Tracker no longer knows that one (a comment that was deleted) it reads from the
// first and leaves out what is not behind it.
func behindOf[E any](after string, list func(after string) ([]E, error), id func(E) string) ([]E, error) {
	all, err := list(after)
	if err == nil || after == "" || tracker.KindOf(err) != tracker.NotFound {
		return all, err
	}
	if all, err = list(""); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(e E) bool { return !newer(id(e), after) }), nil
}

// newer compares ids, which grow: of comments they are numbers, of changes
// hexadecimal digits of one length.
func newer(id, than string) bool {
	if len(id) != len(than) {
		return len(id) > len(than)
	}
	return id > than
}

// advanced moves the cursors to what is surely complete, two minutes behind the
// newest entry, and notes what was handled beyond them. What is noted already
// stays so while it is beyond the cursor, also when this listing lacks it.
func advanced(c ticket.Cursor, comments []tracker.Comment, changes []tracker.Change) ticket.Cursor {
	var newest time.Time
	for _, x := range comments {
		newest = later(newest, x.CreatedAt)
	}
	for _, x := range changes {
		newest = later(newest, x.At)
	}
	edge := newest.Add(-behind)
	next := ticket.Cursor{Issue: c.Issue, StartsAt: c.StartsAt, Comment: c.Comment, Change: c.Change}
	moving := true
	for _, x := range comments {
		if moving = moving && x.CreatedAt.Before(edge); moving {
			next.Comment = x.ID
		} else {
			next.Recent = append(next.Recent, "c"+x.ID)
		}
	}
	moving = true
	for _, x := range changes {
		if moving = moving && x.At.Before(edge); moving {
			next.Change = x.ID
		} else {
			next.Recent = append(next.Recent, "h"+x.ID)
		}
	}
	for _, mark := range c.Recent {
		id, last := mark[1:], next.Comment
		if strings.HasPrefix(mark, "h") {
			last = next.Change
		}
		if newer(id, last) && !slices.Contains(next.Recent, mark) {
			next.Recent = append(next.Recent, mark)
		}
	}
	return next
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
