// Package loader loads analytics: tickets with their histories from Tracker, counts
// of messages and broadcasts from Postgres.
//
// A load of tickets goes through everything that was updated since its mark, the
// oldest first. A ticket's rows depend on what Tracker tells of it and on nothing
// else, their keys are Tracker's, and a ticket's own row follows its events: so a
// load may break off anywhere, go on later, overlap with itself and run beside
// another one. The mark moves only when the rows are in.
//
// Two loads use the same code. The live one goes on for ever, hour by hour. A
// history goes from a time that an operator chooses to its own begin, which is not
// before that of the live load; it takes as many calls as it needs, and gives way to
// the live load and to the bot (pace.Loads, pace.History).
//
// A search does not find everything again: the live load asks by id for open tickets
// that none has found for a day, some in each run.
//
// How far loads have come is in Postgres. Where it tells of tickets and ClickHouse has
// none, ClickHouse was lost: then all of them begin anew.
package loader

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"time"

	"supportbot/shared/analytics"
	"supportbot/shared/catalogue"
	"supportbot/shared/news"
	"supportbot/shared/obs"
	"supportbot/shared/tracker"
)

// Tracker is what a load needs of Tracker's client. Errors are *tracker.Error.
type Tracker interface {
	UpdatedSince(ctx context.Context, since time.Time, queues ...string) iter.Seq2[tracker.Issue, error]
	CountUpdated(ctx context.Context, since time.Time, queues ...string) (int, error)
	Issue(ctx context.Context, idOrKey string) (tracker.Issue, error)
	Changes(ctx context.Context, issue, after string) ([]tracker.Change, error)
	Comments(ctx context.Context, issue, after string) ([]tracker.Comment, error)
	Statuses(ctx context.Context) ([]tracker.Status, error)
}

// Records is what loads keep in Postgres, and what they read there.
type Records interface {
	Duty(ctx context.Context, name string, lease time.Duration, f func(context.Context) error) (done bool, err error)
	BeginLoad(ctx context.Context, l analytics.Load) (analytics.Load, error)
	Load(ctx context.Context, name string) (*analytics.Load, error)
	AdvanceLoad(ctx context.Context, a analytics.Advance) error
	// ForgetLoads forgets all loads that have loaded something, and the mark counts.
	ForgetLoads(ctx context.Context, counts string) (forgotten bool, err error)
	OwedTickets(ctx context.Context, limit int) ([]string, error)
	CountMessages(ctx context.Context, since time.Time) ([]analytics.Messages, error)
	CountBatches(ctx context.Context, since time.Time) ([]analytics.Batch, error)
	Watermark(ctx context.Context, name string) (time.Time, error)
	RaiseWatermark(ctx context.Context, name string, at time.Time) error
}

// Store is where the rows go. Each insert may be repeated.
type Store interface {
	InsertEvents(ctx context.Context, events []analytics.Event) error
	InsertAgents(ctx context.Context, agents []analytics.Agent) error
	InsertTickets(ctx context.Context, tickets []analytics.Ticket, loaded time.Time) error
	InsertStatuses(ctx context.Context, statuses []analytics.StatusName, loaded time.Time) error
	InsertMessages(ctx context.Context, counts []analytics.Messages) error
	InsertBatches(ctx context.Context, batches []analytics.Batch) error
	// Known tells which versions were loaded at since or later.
	Known(ctx context.Context, issues []string, since time.Time) (map[analytics.Version]bool, error)
	// Unseen gives open tickets that were last loaded before a time, those that wait
	// longest first, without the issues named.
	Unseen(ctx context.Context, before time.Time, most int, without []string) ([]analytics.Loaded, error)
	// InsertGone adds tickets that Tracker shows no more; to load them again revokes it.
	InsertGone(ctx context.Context, gone []analytics.Loaded, noticed time.Time) error
	// Empty reports whether no ticket was ever loaded.
	Empty(ctx context.Context) (bool, error)
}

// Deps are what a Loader works with.
type Deps struct {
	Live, History Tracker // each at its own pace
	Records       Records
	Store         Store
	Rule          *news.Rule
	Catalogue     *catalogue.Catalogue
	Log           *slog.Logger
	Now           func() time.Time
	// Clock tells up to when there may be anything to load: by the clock of the Records,
	// since that of a process which is ahead would pass over what is yet to change. nil: Now.
	Clock func(ctx context.Context) (time.Time, error)
	// Sleep waits between two tries; nil: by the clock.
	Sleep func(ctx context.Context, d time.Duration) error
	// Rows is how many rows make an insert; 0: 5,000.
	Rows int
	// Hook is called after each step of a load (Points); nil outside crash tests.
	Hook func(point string)
}

// Points are the steps after which a load may break off.
var Points = []string{
	"messages", "batches", "counted", "statuses", "begun", "read", "events", "agents", "tickets", "advanced", "visited",
}

// Loader runs loads.
type Loader struct {
	d Deps

	mu      sync.Mutex
	unknown []string // statuses that were told of
}

// New makes a Loader.
func New(d Deps) *Loader {
	if d.Sleep == nil {
		d.Sleep = sleep
	}
	if d.Clock == nil {
		d.Clock = func(context.Context) (time.Time, error) { return d.Now(), nil }
	}
	if d.Rows <= 0 {
		d.Rows = 5000
	}
	if d.Hook == nil {
		d.Hook = func(string) {}
	}
	return &Loader{d: d}
}

const (
	liveName    = analytics.LiveLoad
	historyName = "history since "

	// settled is how old an update has to be: Tracker's lists lag a second or two,
	// and a history that lacks its last entry would not be read again.
	settled = 2 * time.Minute
	// overlap is how far a load looks back behind its mark. What is in already costs
	// no more than a place in a list.
	overlap = 10 * time.Minute

	longest = 10 * time.Minute // of one run
	spare   = 20 * time.Second // for the last insert
	least   = 5 * time.Second  // a run that cannot have more does nothing
)

// Live loads the counts, the tickets that were updated since the last run, and some of
// the open ones that were not seen for long.
func (l *Loader) Live(ctx context.Context) (Report, error) {
	return l.leased(ctx, "analytics", func(ctx context.Context, stop time.Time) (Report, error) {
		now, err := l.d.Clock(ctx)
		if err != nil {
			return Report{}, err
		}
		counted := l.counts(ctx, now)
		begin := now.Add(-settled)
		load, err := l.d.Records.BeginLoad(ctx, analytics.Load{Name: liveName, Since: begin, Reached: begin, StartedAt: l.d.Now()})
		if err != nil {
			return Report{}, errors.Join(counted, err)
		}
		r := l.newRun(load, l.d.Live, stop)
		r.until = begin
		if err = r.all(ctx); err == nil && r.done {
			err = r.visit(ctx)
		}
		return r.report(), errors.Join(counted, err)
	})
}

// Since loads tickets that were last updated at since or later, up to when it was
// called first: what the live load has or had before it is read again, so that a gap
// in it is filled. Report.Done says that it is over; until then it has to be called
// again. It changes nothing when it was over before.
func (l *Loader) Since(ctx context.Context, since time.Time) (Report, error) {
	since = since.UTC()
	name := historyName + since.Format(time.RFC3339)
	return l.leased(ctx, "analytics:history", func(ctx context.Context, stop time.Time) (Report, error) {
		now, err := l.d.Clock(ctx)
		if err != nil {
			return Report{}, err
		}
		until := now.Add(-settled)
		if _, err := l.d.Records.BeginLoad(ctx, analytics.Load{Name: liveName, Since: until, Reached: until, StartedAt: l.d.Now()}); err != nil {
			return Report{}, err
		}
		load, err := l.d.Records.BeginLoad(ctx, analytics.Load{Name: name, Since: since, Until: until, Reached: since, StartedAt: l.d.Now()})
		if err != nil {
			return Report{}, err
		}
		r := l.newRun(load, l.d.History, stop)
		r.until, r.finite = load.Until, true
		if load.FinishedAt.IsZero() {
			err = r.all(ctx)
		} else {
			r.done = true
		}
		return r.report(), err
	})
}

// leased runs f unless somebody else does; stop is when it has to begin nothing new.
func (l *Loader) leased(ctx context.Context, duty string, f func(ctx context.Context, stop time.Time) (Report, error)) (rep Report, err error) {
	lease := longest
	if end, ok := ctx.Deadline(); ok {
		lease = min(lease, time.Until(end))
	}
	if lease < spare+least {
		return Report{}, fmt.Errorf("load: %s is too short a time", lease.Round(time.Second))
	}
	begun := time.Now()
	held, err := l.d.Records.Duty(ctx, duty, lease, func(ctx context.Context) error {
		if err := l.notice(ctx); err != nil {
			return err
		}
		rep, err = f(ctx, begun.Add(lease-spare))
		return err
	})
	rep.Busy = !held && err == nil
	l.close(ctx, duty, rep, time.Since(begun), err)
	if err != nil {
		return rep, fmt.Errorf("load: %w", err)
	}
	return rep, nil
}

// notice begins all loads anew where ClickHouse was lost. One that runs meanwhile
// loses its place and no more.
func (l *Loader) notice(ctx context.Context) error {
	empty, err := l.d.Store.Empty(ctx)
	if err != nil || !empty {
		return err
	}
	forgotten, err := l.d.Records.ForgetLoads(ctx, countsMark)
	if forgotten {
		l.d.Log.WarnContext(ctx, "ClickHouse has none of the tickets that were loaded: all loads begin anew")
	}
	return err
}

// close writes the closing line of a call.
func (l *Loader) close(ctx context.Context, duty string, rep Report, took time.Duration, err error) {
	attrs := append(rep.attributes(), slog.String("duty", duty), slog.Int64(obs.Duration, took.Milliseconds()))
	switch {
	case err != nil:
		attrs = append(attrs, slog.String(obs.Outcome, "broken off"), slog.Any(obs.Error, err))
		l.d.Log.LogAttrs(ctx, slog.LevelError, "load broke off, the next one goes on", attrs...)
	case rep.Busy:
		l.d.Log.InfoContext(ctx, "another load of this kind runs", slog.String("duty", duty), slog.String(obs.Outcome, "busy"))
	default:
		outcome := "more to do"
		if rep.Done {
			outcome = "done"
		}
		l.d.Log.LogAttrs(ctx, slog.LevelInfo, "load has ended", append(attrs, slog.String(obs.Outcome, outcome))...)
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
