package ycf

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"supportbot/shared/obs"
)

// Messages works on the messages of a batch side by side: a slow one does not
// hold up its neighbours, and one that panics does not take them with it. It
// returns when all are done, with their errors joined; any error brings the whole
// batch again.
func Messages(ctx context.Context, ev *QueueEvent, each func(ctx context.Context, m *QueueMessage) error) error {
	if ev == nil {
		return nil
	}
	errs := make([]error, len(ev.Messages))
	var all sync.WaitGroup
	for i := range ev.Messages {
		all.Add(1)
		go func() {
			defer all.Done()
			m := &ev.Messages[i]
			ctx := obs.With(ctx, slog.String(messageIDAttr, m.ID))
			if err := Guard(func() error { return each(ctx, m) }); err != nil {
				errs[i] = fmt.Errorf("message %.64q: %w", m.ID, err)
			}
		}()
	}
	all.Wait()
	return errors.Join(errs...)
}
