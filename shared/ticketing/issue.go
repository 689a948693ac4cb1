package ticketing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/news"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

var errForeign = errors.New("the ticket is another customer's")

// issue finds the ticket that a job is about. While its creation has not
// completed the job is held for it.
func (s *Service) issue(ctx context.Context, r *job.Run, a messenger.Address, ref ticket.Ref) (id string, err error) {
	if ref.Draft == "" {
		return s.owned(ctx, r, a, ref.Issue)
	}
	made, err := s.d.Records.Find(ctx, ticket.DraftKey(ref.Draft))
	if err != nil {
		return "", err
	}
	if made == nil { // the row was cleaned up long ago; Tracker remembers
		found, err := s.d.Tracker.FindByUnique(ctx, ticket.Unique(a, ref.Draft))
		if err != nil {
			return "", decide(ctx, r, fmt.Errorf("find ticket: %w", err))
		}
		if !owns(a, found) {
			return "", job.Review(errForeign)
		}
		return found.ID, nil
	}
	if made.Lane.Name != ticket.InboundLane(a) {
		return "", job.Review(errForeign)
	}
	if made.State != job.Completed {
		return "", job.HoldFor(made.Key)
	}
	var c Created
	if err := json.Unmarshal(made.Result, &c); err != nil {
		return "", job.Review(fmt.Errorf("decode result of job %d: %w", made.ID, err))
	}
	return c.Issue, nil
}

// owned makes sure that a ticket which no draft names is the customer's: buttons
// can be forged.
func (s *Service) owned(ctx context.Context, r *job.Run, a messenger.Address, id string) (string, error) {
	issue, err := s.d.Tracker.Issue(ctx, id)
	if err != nil {
		return "", decide(ctx, r, fmt.Errorf("read ticket: %w", err))
	}
	if !owns(a, issue) {
		return "", job.Review(errForeign)
	}
	return issue.ID, nil
}

// owns reports whether a ticket is this customer's.
func owns(a messenger.Address, i tracker.Issue) bool {
	owner, ok := news.CustomerOf(i)
	return ok && owner.Address == a
}
