package conversation

import (
	"context"

	"supportbot/shared/messenger"
)

// Missed handles an event that the messenger did not bring, but told of when it was
// asked: as Webhook does, replies and the line in the log included. It may have been
// handled long ago, or may be handled by a webhook at this moment; whoever calls has seen
// a mark in the memory of that, and when it is gone, nothing is done. An error wraps
// ErrUnavailable, and the event has to be handled later, or is dialog.ErrForgotten.
func (s *Service) Missed(ctx context.Context, ev messenger.Event, mark string) error {
	in := s.input(ev)
	in.missed, in.mark = true, mark
	c, err := s.accept(ctx, in)
	if err != nil {
		return err
	}
	c.finish(ctx)
	return nil
}
