package ticketing

import (
	"context"
	"fmt"

	"supportbot/shared/catalogue"
	"supportbot/shared/messenger"
	"supportbot/shared/news"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

// Lister reads a customer's tickets from Tracker. It keeps nothing.
type Lister struct {
	Tracker interface {
		Search(ctx context.Context, queues []string, fields map[tracker.Field]string, limit int) ([]tracker.Issue, error)
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
	issues, err := l.Tracker.Search(ctx, l.Catalogue.Queues(), map[tracker.Field]string{
		tracker.FieldMessenger: string(a.Messenger), tracker.FieldBot: a.Bot, tracker.FieldChat: a.Chat,
	}, listed)
	if err != nil {
		return nil, fmt.Errorf("list tickets: %w", err)
	}
	list := make([]ticket.Summary, 0, len(issues))
	for _, i := range issues {
		// The fields of a ticket can be changed; whose it is stays.
		if owner, ok := news.CustomerOf(i); ok && owner.Address == a {
			list = append(list, summarize(l.Catalogue, i, owner.Ref))
		}
	}
	return list, nil
}

// summarize is an issue in the customer's list.
func summarize(c *catalogue.Catalogue, i tracker.Issue, ref ticket.Ref) ticket.Summary {
	st := c.Status(i.Status.Key, i.Status.Type, i.Status.Display)
	return ticket.Summary{
		Ref: ref, Key: i.Key, Title: i.Summary, Status: i.Status.Key, StatusName: i.Status.Display, Phase: st.Phase,
		CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt, ClosedAt: i.ResolvedAt,
	}
}
