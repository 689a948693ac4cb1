package ticketing

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"supportbot/shared/catalogue"
	"supportbot/shared/markup"
	"supportbot/shared/messenger"
	"supportbot/shared/news"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

// Lister reads a customer's tickets from Tracker. It keeps nothing.
type Lister struct {
	Tracker interface {
		Search(ctx context.Context, queues []string, fields map[tracker.Field]string, page, perPage int) ([]tracker.Issue, int, error)
		FindByUnique(ctx context.Context, unique string) (tracker.Issue, error)
		Issue(ctx context.Context, id string) (tracker.Issue, error)
		Comments(ctx context.Context, issue, after string) ([]tracker.Comment, error)
		Changes(ctx context.Context, issue, after string) ([]tracker.Change, error)
	}
	Catalogue *catalogue.Catalogue
	Rule      *news.Rule
}

// listed is how many of a customer's newest tickets are shown.
const listed = 100

// Tickets lists the newest tickets of a customer, by the fields that the bot set.
func (l *Lister) Tickets(ctx context.Context, a messenger.Address) ([]ticket.Summary, error) {
	issues, _, err := l.Tracker.Search(ctx, l.Catalogue.Queues(), map[tracker.Field]string{
		tracker.FieldMessenger: string(a.Messenger), tracker.FieldBot: a.Bot, tracker.FieldChat: a.Chat,
	}, 1, listed)
	if err != nil {
		return nil, fmt.Errorf("list tickets: %w", err)
	}
	list := make([]ticket.Summary, 0, len(issues))
	for _, i := range issues {
		ref := ticket.Ref{Issue: i.ID}
		if owner, draft, ok := ticket.ParseUnique(i.Unique); ok && owner == a {
			ref = ticket.Ref{Draft: draft}
		}
		list = append(list, summarize(l.Catalogue, i, ref))
	}
	return list, nil
}

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
	entries := []ticket.Entry{{At: issue.CreatedAt, Kind: "created", Text: issue.Summary}}
	for _, c := range comments {
		if text, ok := customerText(c); ok {
			entries = append(entries, ticket.Entry{At: c.CreatedAt, Kind: "customer", Text: text, Files: len(c.Attachments)})
		} else if text, ok := rule.Reply(c); ok {
			entries = append(entries, ticket.Entry{At: c.CreatedAt, Kind: "agent", Text: plain(text), Files: len(c.Attachments)})
		}
	}
	for _, c := range changes {
		if c.Status == nil {
			continue
		}
		e := ticket.Entry{At: c.At, Kind: "status", Status: c.Status.To}
		if e.Status == issue.Status.Key {
			e.StatusName = issue.Status.Display
		}
		entries = append(entries, e)
	}
	slices.SortStableFunc(entries, func(x, y ticket.Entry) int { return x.At.Compare(y.At) })
	return entries, nil
}

func (l *Lister) find(ctx context.Context, a messenger.Address, ref ticket.Ref) (tracker.Issue, error) {
	if ref.Draft != "" {
		return l.Tracker.FindByUnique(ctx, ticket.Unique(a, ref.Draft))
	}
	return l.Tracker.Issue(ctx, ref.Issue)
}

// customerText reads the customer's words back out of a comment that the bot made
// of them: without the line that says who wrote, and without the marker.
func customerText(c tracker.Comment) (string, bool) {
	body, mark, ok := ticket.Marked(c.Text)
	if !ok || !strings.HasPrefix(mark, customers) {
		return "", false
	}
	_, body, _ = strings.Cut(body, "\n")
	return plain(strings.TrimSpace(body)), true
}

// plain is Markdown as a person reads it.
func plain(markdown string) string {
	var lines []string
	for _, p := range markup.VK(markdown, 1<<16) {
		lines = append(lines, p.Text)
	}
	return strings.Join(lines, "\n")
}

// summarize is an issue in the customer's list.
func summarize(c *catalogue.Catalogue, i tracker.Issue, ref ticket.Ref) ticket.Summary {
	st := c.Status(i.Status.Key, i.Status.Type, i.Status.Display)
	return ticket.Summary{
		Ref: ref, Key: i.Key, Title: i.Summary, Status: i.Status.Key, StatusName: i.Status.Display, Phase: st.Phase,
		CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt, ClosedAt: i.ResolvedAt,
	}
}
