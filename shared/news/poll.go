package news

import (
	"context"
	"fmt"
	"iter"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

// Poll asks for a look at every issue that changed since the last poll, because
// Tracker does not repeat a trigger's call that failed.
type Poll struct {
	Tracker interface {
		UpdatedSince(ctx context.Context, since time.Time, queues ...string) iter.Seq2[tracker.Issue, error]
	}
	Store interface {
		Watermark(ctx context.Context, name string) (time.Time, error)
		RaiseWatermark(ctx context.Context, name string, at time.Time) error
		Insert(ctx context.Context, jobs []job.New) ([]job.Inserted, error)
	}
	Publisher *job.Publisher
	Queues    []string // of the catalogue's categories
	Now       func() time.Time
}

const (
	pollName    = "tracker"
	pollOverlap = 2 * time.Minute
	pollPage    = 50
)

// Run polls once. The watermark is the largest updatedAt seen, by Tracker's
// clock; it moves as far as the looks are stored, so an interrupted poll goes on
// where it was. The first poll ever begins now.
func (p *Poll) Run(ctx context.Context) (looks int, err error) {
	mark, err := p.Store.Watermark(ctx, pollName)
	if err != nil {
		return 0, err
	}
	if mark.IsZero() {
		return 0, p.Store.RaiseWatermark(ctx, pollName, p.Now())
	}
	for issue, err := range p.Tracker.UpdatedSince(ctx, mark.Add(-pollOverlap), p.Queues...) {
		if err != nil {
			return looks, fmt.Errorf("poll tracker: %w", err)
		}
		if err := p.look(ctx, issue); err != nil {
			return looks, err
		}
		looks++
		if looks%pollPage == 0 {
			if err := p.Store.RaiseWatermark(ctx, pollName, issue.UpdatedAt); err != nil {
				return looks, err
			}
		}
		mark = later(mark, issue.UpdatedAt)
	}
	return looks, p.Store.RaiseWatermark(ctx, pollName, mark)
}

// look asks for a look unless this very version was looked at already: the key
// names the version.
func (p *Poll) look(ctx context.Context, i tracker.Issue) error {
	if _, ok := CustomerOf(i); !ok {
		return nil
	}
	j := Job(ticket.Look{ID: i.ID}, fmt.Sprintf("%s:v%d", i.ID, i.Version))
	made, err := p.Store.Insert(ctx, []job.New{j})
	if err != nil {
		return err
	}
	if made[0].New {
		p.Publisher.Publish(ctx, made)
	}
	return nil
}
