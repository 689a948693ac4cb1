package news

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
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
		Now(ctx context.Context) (time.Time, error)
		Watermark(ctx context.Context, name string) (time.Time, error)
		RaiseWatermark(ctx context.Context, name string, at time.Time) error
		Insert(ctx context.Context, jobs []job.New) ([]job.Inserted, error)
	}
	Publisher *job.Publisher
	Queues    []string // of the catalogue's categories
}

const (
	pollName    = "tracker"
	pollOverlap = 2 * time.Minute
	pollPage    = 100 // the issues of one of Tracker's pages

	// What is older than pollSettled when it is read is complete, whatever clocks and
	// listings lag: up to there nothing has to be read again.
	pollDone    = pollName + ":done"
	pollSettled = 10 * time.Minute
)

// Run polls once. The watermark is the largest updatedAt seen, by Tracker's
// clock; it moves as far as the looks are stored, so an interrupted poll goes on
// where it was, even if what overlaps is more than one poll reads. It never gets ahead of
// the store's clock: an issue from the future must not hide the others. The first poll
// ever begins now.
func (p *Poll) Run(ctx context.Context) (looks int, err error) {
	mark, err := p.Store.Watermark(ctx, pollName)
	if err != nil {
		return 0, err
	}
	now, err := p.Store.Now(ctx)
	if err != nil {
		return 0, err
	}
	if mark.IsZero() {
		return 0, p.Store.RaiseWatermark(ctx, pollName, now)
	}
	done, err := p.Store.Watermark(ctx, pollDone)
	if err != nil {
		return 0, err
	}
	var page []tracker.Issue
	flush := func() error {
		made, err := p.ask(ctx, page)
		if err != nil || len(page) == 0 {
			return err
		}
		looks += made
		last := page[len(page)-1].UpdatedAt
		if last.After(now) {
			last = now
		}
		mark, page = later(mark, last), page[:0]
		if err := p.Store.RaiseWatermark(ctx, pollName, mark); err != nil || last.After(now.Add(-pollSettled)) {
			return err
		}
		return p.Store.RaiseWatermark(ctx, pollDone, last)
	}
	for issue, err := range p.Tracker.UpdatedSince(ctx, later(done, mark.Add(-pollOverlap)), p.Queues...) {
		if err != nil {
			return looks, errors.Join(fmt.Errorf("poll tracker: %w", err), flush())
		}
		if !issue.Named() {
			continue // nobody can look at it
		}
		if page = append(page, issue); len(page) < pollPage {
			continue
		}
		if err := flush(); err != nil {
			return looks, err
		}
	}
	return looks, flush()
}

// ask asks for a look at each of the customers' issues whose present state was
// not looked at yet: the key names the version and the time, since Tracker does
// not say what counts as a new version.
func (p *Poll) ask(ctx context.Context, issues []tracker.Issue) (looks int, err error) {
	var jobs []job.New
	for _, i := range issues {
		if _, ok := CustomerOf(i); ok {
			jobs = append(jobs, Job(ticket.Look{ID: i.ID}, fmt.Sprintf("%s:v%d:%d", i.ID, i.Version, i.UpdatedAt.UnixMilli())))
		}
	}
	made, err := p.Store.Insert(ctx, jobs)
	if err != nil {
		return 0, err
	}
	made = slices.DeleteFunc(made, func(in job.Inserted) bool { return !in.New })
	p.Publisher.Publish(ctx, made)
	return len(made), nil
}
