package job

import (
	"context"
	"log/slog"

	"supportbot/shared/obs"
	"supportbot/shared/queue"
	"supportbot/shared/ycf"
)

// Handle works on a trigger's batch, its messages side by side. An error brings
// the whole batch again, so it means only that the database could not be reached.
// A message that is no hint is dropped: nothing would mend it.
func (w *Worker) Handle(ctx context.Context, ev *ycf.QueueEvent) error {
	return ycf.Messages(ctx, ev, func(ctx context.Context, m *ycf.QueueMessage) error {
		hint, err := queue.ParseHint(m.Body)
		if err != nil {
			w.Log.ErrorContext(ctx, "message is no hint, dropped", slog.String("message", m.ID), slog.Any(obs.Error, err))
			return nil
		}
		return w.Work(obs.WithCorrelation(ctx, hint.CorrelationID), hint.Job)
	})
}
