package conversation

import (
	"context"

	"supportbot/shared/messenger"
	"supportbot/shared/obs"
)

// Accept is what Webhook does with one event before it answers.
func (s *Service) Accept(ctx context.Context, ev messenger.Event) (*Accepted, error) {
	return s.handle(obs.WithCorrelation(ctx, ev.Key), s.input(ev))
}
