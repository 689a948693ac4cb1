package loader

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"supportbot/shared/analytics"
	"supportbot/shared/news"
	"supportbot/shared/obs"
	"supportbot/shared/tracker"
)

const (
	pageSize   = 100 // of Tracker's lists
	owedAtOnce = 50
	// refusals is how many searches in a row may fail without anything loaded.
	refusals = 3
	again    = 2 * time.Second // doubles with each failure
)

// run is one call's part of a load.
type run struct {
	*Loader
	load    analytics.Load
	tracker Tracker
	until   time.Time // what was updated later is left to others
	finite  bool
	stop    time.Time // nothing is begun after

	rule   news.ReplyRule
	phases phases

	rows     rows
	position time.Time // everything updated before is in rows or was loaded
	counted  counted
	owed     []analytics.Owed
	settled  []string
	progress progress
	done     bool
}

// rows wait for their insert.
type rows struct {
	tickets []analytics.Ticket
	events  []analytics.Event
	agents  []analytics.Agent
}

func (l *Loader) newRun(load analytics.Load, t Tracker, stop time.Time) *run {
	return &run{Loader: l, load: load, tracker: t, stop: stop, position: load.Reached, progress: progress{begun: time.Now(), remaining: -1}}
}

// all does what can be done until it is time to stop.
func (r *run) all(ctx context.Context) error {
	if err := r.prepare(ctx); err != nil {
		return err
	}
	if !r.finite {
		if err := r.payDebts(ctx); err != nil {
			return err
		}
	}
	for failures := 0; ; {
		before := r.position
		over, err := r.sweep(ctx)
		if err := errors.Join(r.flush(ctx, over), ctx.Err()); err != nil {
			return err
		}
		if err == nil || r.late() {
			return nil
		}
		if r.position.After(before) {
			failures = 0
		}
		if failures++; failures == refusals || !passing(err) {
			return err
		}
		r.d.Log.WarnContext(ctx, "Tracker is asked again", slog.String("load", r.load.Name), slog.Any(obs.Error, err))
		if err := r.d.Sleep(ctx, again<<failures); err != nil {
			return err
		}
	}
}

// prepare asks what is the same for all tickets.
func (r *run) prepare(ctx context.Context) (err error) {
	if r.rule, err = r.d.Rule.Get(ctx); err != nil {
		return err
	}
	statuses, err := r.tracker.Statuses(ctx)
	if err != nil {
		return fmt.Errorf("read statuses: %w", err)
	}
	r.phases = newPhases(statuses, r.d.Catalogue)
	names, unknown := r.phases.names(statuses)
	if r.changed(unknown) {
		r.d.Log.WarnContext(ctx, "nobody has said what these statuses mean: they count as open", slog.Any("statuses", unknown))
	}
	if err := r.d.Store.InsertStatuses(ctx, names, r.d.Now()); err != nil {
		return err
	}
	r.d.Hook("statuses")
	if r.finite {
		r.progress.remaining, err = r.ahead(ctx)
	}
	r.d.Hook("begun")
	return err
}

// changed reports whether there are unknown statuses that were not told of yet.
func (l *Loader) changed(unknown []string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	told := slices.Equal(l.unknown, unknown)
	l.unknown = unknown
	return !told && len(unknown) > 0
}

// ahead counts what a history has before it.
func (r *run) ahead(ctx context.Context) (int64, error) {
	queues := r.d.Catalogue.Queues()
	from, err := r.tracker.CountUpdated(ctx, r.load.Reached, queues...)
	if err != nil {
		return -1, fmt.Errorf("count tickets: %w", err)
	}
	beyond, err := r.tracker.CountUpdated(ctx, r.until, queues...)
	if err != nil {
		return -1, fmt.Errorf("count tickets: %w", err)
	}
	return int64(max(from-beyond, 0)), nil
}

// payDebts tries the tickets that were left out before.
func (r *run) payDebts(ctx context.Context) error {
	issues, err := r.d.Records.OwedTickets(ctx, owedAtOnce)
	if err != nil {
		return err
	}
	for _, id := range issues {
		if r.late() {
			return nil
		}
		read, err := r.readByID(ctx, id)
		switch {
		case err == nil:
			r.add(read)
			r.settled = append(r.settled, id)
		case errors.Is(err, errLate):
		case lost(err):
			r.counted.Gone++
			r.settled = append(r.settled, id)
		default:
			r.owe(ctx, id, err)
		}
	}
	return nil
}

// sweep goes through the tickets from the mark on. over: there are no more.
func (r *run) sweep(ctx context.Context) (over bool, err error) {
	page := make([]tracker.Issue, 0, pageSize)
	take := func() (more bool, err error) {
		more, err = r.page(ctx, page)
		page = page[:0]
		if err == nil && len(r.rows.tickets)+len(r.rows.events) >= r.d.Rows {
			err = r.flush(ctx, false)
		}
		return more, err
	}
	for issue, err := range r.tracker.UpdatedSince(ctx, r.position.Add(-overlap), r.d.Catalogue.Queues()...) {
		if err != nil {
			_, taken := take()
			return false, errors.Join(taken, fmt.Errorf("search tickets: %w", err))
		}
		if issue.UpdatedAt.After(r.until) {
			break
		}
		if page = append(page, issue); len(page) < pageSize {
			continue
		}
		if more, err := take(); err != nil || !more {
			return false, err
		}
	}
	if more, err := take(); err != nil || !more {
		return false, err
	}
	r.position = later(r.position, r.until)
	return true, nil
}

// flush inserts what was read, and notes how far the load has come.
func (r *run) flush(ctx context.Context, over bool) error {
	tickets := len(r.rows.tickets)
	if err := r.insert(ctx); err != nil {
		return err
	}
	if over && r.finite {
		r.progress.remaining = r.progress.passed // Tracker counted by whole seconds
	}
	a := analytics.Advance{
		Name: r.load.Name, Reached: r.position, Tickets: int64(tickets), Remaining: r.progress.left(),
		Finished: over && r.finite, Owed: r.owed, Settled: r.settled,
	}
	if err := r.d.Records.AdvanceLoad(ctx, a); err != nil {
		return err
	}
	r.d.Hook("advanced")
	r.owed, r.settled, r.load.Reached, r.done = nil, nil, r.position, over
	r.tell(ctx, tickets)
	return nil
}

// insert writes events first: a ticket that is in is complete.
func (r *run) insert(ctx context.Context) error {
	if err := r.d.Store.InsertEvents(ctx, r.rows.events); err != nil {
		return err
	}
	r.d.Hook("events")
	if err := r.d.Store.InsertAgents(ctx, r.rows.agents); err != nil {
		return err
	}
	r.d.Hook("agents")
	if err := r.d.Store.InsertTickets(ctx, r.rows.tickets, r.d.Now()); err != nil {
		return err
	}
	r.d.Hook("tickets")
	r.counted.Tickets += len(r.rows.tickets)
	r.counted.Rows += len(r.rows.tickets) + len(r.rows.events) + len(r.rows.agents)
	r.rows = rows{}
	return nil
}

func (r *run) late() bool { return !time.Now().Before(r.stop) }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
