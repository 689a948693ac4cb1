package news

import (
	"slices"
	"strings"
	"time"

	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

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
