package job

import (
	"context"
	"log/slog"

	"supportbot/shared/obs"
	"supportbot/shared/queue"
)

// Publisher sends hints for jobs that have been committed. Failing costs nothing
// but time: the reconciler publishes what was left behind.
type Publisher struct {
	Queue queue.Publisher
	Store interface {
		Published(ctx context.Context, ids []int64) error
	}
	Log *slog.Logger
}

// Publish sends a hint for each job that can run now or within the queue's
// longest delay; later ones are the reconciler's.
func (p *Publisher) Publish(ctx context.Context, jobs []Inserted) {
	byQueue := map[string][]queue.Hint{}
	var ids []int64
	for _, j := range jobs {
		if !j.State.open() || j.State == Running || j.RunIn > queue.MaxDelay {
			continue
		}
		h := queue.Hint{Job: j.ID, CorrelationID: obs.Correlation(ctx), Delay: max(j.RunIn, 0)}
		byQueue[j.Queue] = append(byQueue[j.Queue], h)
	}
	for name, hints := range byQueue {
		if err := p.Queue.Publish(ctx, name, hints...); err != nil {
			p.Log.WarnContext(ctx, "hints not sent, the reconciler will", slog.String("queue", name),
				slog.Int("hints", len(hints)), slog.Any(obs.Error, err))
			continue
		}
		for _, h := range hints {
			ids = append(ids, h.Job)
		}
	}
	if len(ids) == 0 {
		return
	}
	if err := p.Store.Published(ctx, ids); err != nil {
		p.Log.WarnContext(ctx, "sent hints not recorded", slog.Any(obs.Error, err))
	}
}

func (s State) open() bool { return s == Accepted || s == Queued || s == Running }
