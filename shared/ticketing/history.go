package ticketing

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"supportbot/shared/markup"
	"supportbot/shared/messenger"
	"supportbot/shared/news"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

// History lists what the customer may see of a ticket, oldest first: their own
// messages, the agents' replies, the steps of the status.
func (l *Lister) History(ctx context.Context, a messenger.Address, ref ticket.Ref) ([]ticket.Entry, error) {
	issue, err := l.find(ctx, a, ref)
	if err != nil {
		return nil, fmt.Errorf("find ticket: %w", err)
	}
	comments, err := l.Tracker.Comments(ctx, issue.ID, "")
	if err != nil {
		return nil, fmt.Errorf("read comments: %w", err)
	}
	changes, err := l.Tracker.Changes(ctx, issue.ID, "")
	if err != nil {
		return nil, fmt.Errorf("read changelog: %w", err)
	}
	rule, err := l.Rule.Get(ctx)
	if err != nil {
		return nil, err
	}
	entries := []ticket.Entry{{At: issue.CreatedAt, Kind: ticket.EntryCreated, Text: issue.Summary}}
	for _, c := range comments {
		if e, ok := said(c, rule); ok {
			entries = append(entries, e)
		}
	}
	for _, c := range changes {
		if c.Status != nil {
			entries = append(entries, stepped(c, issue.Status))
		}
	}
	slices.SortStableFunc(entries, func(x, y ticket.Entry) int { return x.At.Compare(y.At) })
	return entries, nil
}

// find reads a ticket of this customer's; a button that names another one's is
// forged.
func (l *Lister) find(ctx context.Context, a messenger.Address, ref ticket.Ref) (tracker.Issue, error) {
	var issue tracker.Issue
	var err error
	if ref.Draft != "" {
		issue, err = l.Tracker.FindByUnique(ctx, ticket.Unique(a, ref.Draft))
	} else {
		issue, err = l.Tracker.Issue(ctx, ref.Issue)
	}
	if err != nil {
		return tracker.Issue{}, err
	}
	if !owns(a, issue) {
		return tracker.Issue{}, errForeign
	}
	return issue, nil
}

// said is a comment as the customer may see it; ok is false for one that is not
// for them. Their own words are believed of the robot alone: anybody can copy a
// marker below something internal.
func said(c tracker.Comment, rule news.ReplyRule) (e ticket.Entry, ok bool) {
	e = ticket.Entry{At: c.CreatedAt, Files: len(c.Attachments)}
	if text, reply := rule.Reply(c); reply {
		e.Kind, e.Text = ticket.EntryAgent, plain(text)
		return e, true
	}
	body, mark, _ := ticket.Marked(c.Text)
	if !rule.Robot.Is(c.Author) || !strings.HasPrefix(mark, customers) {
		return e, false
	}
	_, words, _ := strings.Cut(body, "\n") // the first line says who writes
	e.Kind, e.Text = ticket.EntryCustomer, plain(strings.TrimSpace(words))
	return e, true
}

// stepped is a step of the status; now is the status at present, whose name is
// known.
func stepped(c tracker.Change, now tracker.Status) ticket.Entry {
	e := ticket.Entry{At: c.At, Kind: ticket.EntryStatus, Status: c.Status.To}
	if e.Status == now.Key {
		e.StatusName = now.Display
	}
	return e
}

// plain is Markdown as a person reads it.
func plain(markdown string) string {
	var lines []string
	for _, p := range markup.VK(markdown, 1<<16) {
		lines = append(lines, p.Text)
	}
	return strings.Join(lines, "\n")
}
