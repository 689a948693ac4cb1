package conversation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"supportbot/shared/dialog"
	"supportbot/shared/messenger"
	"supportbot/shared/obs"
)

// CompleteStale completes entries that are at least olderThan old and whose
// conversation has seen no event since. It gives how many conversations it
// completed; one that fails does not keep it from the others.
func (s *Service) CompleteStale(ctx context.Context, olderThan time.Duration) (int, error) {
	addresses, err := s.d.Store.Stale(ctx, olderThan, staleAtOnce)
	if err != nil {
		return 0, unavailable(err)
	}
	var problems []error
	done := 0
	for _, a := range addresses {
		if ctx.Err() != nil {
			break // the next run goes on
		}
		completed, err := s.completeOne(ctx, a)
		if err != nil {
			problems = append(problems, fmt.Errorf("complete conversation: %w", err))
			continue
		}
		if completed {
			done++
		}
	}
	return done, errors.Join(problems...)
}

func (s *Service) completeOne(ctx context.Context, address messenger.Address) (bool, error) {
	sender, ok := s.sender(address)
	if !ok {
		return false, nil // another deployment's bot
	}
	in := input{Event: messenger.Event{Address: address}}
	t := &turn{s: s, in: in, sender: sender, token: newToken(), asked: s.d.Now()}
	snap, err := s.d.Store.Take(ctx, address, t.token, "")
	if err != nil || !snap.Holds {
		return false, err
	}
	a := &Accepted{turn: t, pending: snap.Pending, holds: true}
	a.snap = dialog.Snapshot{Tickets: snap.Tickets}
	ctx = obs.WithCorrelation(ctx, snap.Pending[0].Key)
	err = a.drain(ctx, s.d.Now().Add(replyTime))
	a.publish(ctx)
	return err == nil, err
}
