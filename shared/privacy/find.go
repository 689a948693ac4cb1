package privacy

import (
	"context"
	"fmt"
	"slices"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/news"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

// find adds the customer's tickets to those that are known: by their fields, and, since
// Tracker's search lags and a moved ticket has lost its fields, those that the database
// remembers to have asked for.
func (s *Service) find(ctx context.Context, r *job.Run, id int64, chats []messenger.Address, p *erasing) error {
	found := slices.Clone(p.Issues)
	for _, a := range chats {
		for issue, err := range s.d.Tracker.Of(ctx, s.d.Queues, fieldsOf(a)) {
			if err != nil {
				return news.Decide(r, fmt.Errorf("find tickets: %w", err))
			}
			if owner, ok := news.CustomerOf(issue); ok && owner.Address == a {
				found = append(found, issue.ID)
			}
		}
	}
	drafts, err := s.d.People.Drafts(ctx, id)
	if err != nil {
		return err
	}
	p.Unseen = nil
	for _, d := range drafts {
		if d.Issue == "" { // a call whose end nobody knows may have made it
			issue, err := s.d.Tracker.FindByUnique(ctx, ticket.Unique(d.Address, d.ID))
			if tracker.KindOf(err) == tracker.NotFound {
				continue
			}
			if err != nil && refused(err) { // if it is there, it is left to a person like one that cannot be changed
				p.Unseen = append(p.Unseen, d.Unseen)
				continue
			}
			if err != nil {
				return news.Decide(r, fmt.Errorf("find ticket: %w", err))
			}
			d.Issue = issue.ID
		}
		found = append(found, d.Issue)
	}
	p.Issues = union(found, nil) // those that are freed already stay in front
	return nil
}

// fieldsOf are the fields by which a customer's tickets are found.
func fieldsOf(a messenger.Address) map[tracker.Field]string {
	return map[tracker.Field]string{
		tracker.FieldMessenger: string(a.Messenger), tracker.FieldBot: a.Bot, tracker.FieldChat: a.Chat,
	}
}
