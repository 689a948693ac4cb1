package ticketing

import (
	"context"

	"supportbot/shared/job"
	"supportbot/shared/ticket"
)

// again handles an event that could not be placed because Tracker was away.
func (s *Service) again(ctx context.Context, r *job.Run) (job.Outcome, error) {
	var p ticket.Again
	if err := r.Decode(&p); err != nil {
		return job.Outcome{}, err
	}
	if err := s.d.Conversation.Again(ctx, p.Event); err != nil {
		return job.Outcome{}, job.Unavailable(r, err)
	}
	return job.Outcome{}, nil
}
