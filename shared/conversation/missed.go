package conversation

import (
	"context"

	"supportbot/shared/messenger"
)

// Missed handles an event that the messenger did not bring, but told of when it was
// asked: as Webhook does, replies and the line in the log included. It may have been
// handled long ago, or may be handled by a webhook at this moment. An error wraps
// ErrUnavailable: the event has to be handled later.
func (s *Service) Missed(ctx context.Context, ev messenger.Event) error {
	in := s.input(ev)
	in.missed = true
	c, err := s.accept(ctx, in)
	if err != nil {
		return err
	}
	c.finish(ctx)
	return nil
}
