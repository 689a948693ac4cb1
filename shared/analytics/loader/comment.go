package loader

import (
	"strings"
	"time"

	"supportbot/shared/analytics"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

// said gives the comments. One that was deleted is an event as well: it takes the
// place of what was loaded before.
func (h *history) said() (events []analytics.Event) {
	there := map[string]bool{}
	for _, c := range h.comments {
		there[c.ID] = true
		kind, at, ok := h.classify(c)
		if !ok {
			continue
		}
		e := h.event("c"+c.ID, kind, at, c.Author, "", "")
		e.Version = changedAt(c).UnixMilli()
		events = append(events, e)
	}
	for _, change := range h.changes {
		for _, id := range change.Removed {
			if there[id] {
				continue
			}
			e := h.event("c"+id, analytics.CommentInside, change.At, "", "", "")
			e.Version, e.Deleted = tombstone, true
			events = append(events, e)
		}
	}
	return events
}

func changedAt(c tracker.Comment) time.Time {
	if c.UpdatedAt.After(c.CreatedAt) {
		return c.UpdatedAt
	}
	return c.CreatedAt
}

// classify says who wrote a comment to whom, and when. The robot's own words to
// agents are no comments of anybody.
func (h *history) classify(c tracker.Comment) (kind analytics.Kind, at time.Time, ok bool) {
	if _, reply := h.rule.Reply(c); reply {
		return analytics.CommentOut, h.replied(c), true
	}
	_, mark, ours := ticket.Marked(c.Text)
	switch {
	case ours && ticket.FromCustomer(mark):
		return analytics.CommentIn, c.CreatedAt, true
	case ours || h.rule.Robot.Is(c.Author):
		return "", time.Time{}, false
	}
	return analytics.CommentInside, c.CreatedAt, true
}

// replied says when a reply became one: when it was written, or by the first edit
// that made it one.
func (h *history) replied(c tracker.Comment) time.Time {
	at, known := c.CreatedAt, false
	for _, change := range h.changes {
		for _, e := range change.Edits {
			if e.Comment != c.ID {
				continue
			}
			if !known && h.isReply(c, e.From) {
				return at
			}
			known = true
			if h.isReply(c, e.To) {
				return change.At
			}
		}
	}
	return at
}

func (h *history) isReply(c tracker.Comment, text string) bool {
	c.Text = strings.TrimSpace(text)
	_, ok := h.rule.Reply(c)
	return ok
}
