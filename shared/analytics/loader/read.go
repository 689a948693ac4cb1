package loader

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"supportbot/shared/analytics"
	"supportbot/shared/obs"
	"supportbot/shared/tracker"
)

const (
	// atOnce is how many tickets are read side by side, so that Tracker's latency
	// does not lower the pace.
	atOnce = 8
	tries  = 3 // of one call that fails
	// outage is how many tickets in a row make a failure one of Tracker's and not of
	// a ticket's.
	outage = 3
)

// errLate says that there was no time for a ticket, or that it is too early for it.
var errLate = errors.New("it is left to the next load")

// read is a ticket's rows.
type read struct {
	ticket analytics.Ticket
	events []analytics.Event
	agents []analytics.Agent
}

// page reads those of the issues that are not in yet. more: there is time to go on.
// Tickets that cannot be read are owed, unless Tracker fails altogether: then the
// position stays before the first of them.
func (r *run) page(ctx context.Context, issues []tracker.Issue) (more bool, err error) {
	todo, err := r.news(ctx, issues)
	if err != nil {
		return false, err
	}
	results, problems := r.readAll(ctx, todo)
	r.d.Hook("read")
	var failing []int // in a row
	next := 0
	for _, i := range issues {
		if next == len(todo) || todo[next].ID != i.ID {
			if i.UpdatedAt.After(r.position) { // others had it read
				r.progress.passed++
			}
			r.pass(i, failing)
			continue
		}
		n := next
		next++
		switch err := problems[n]; {
		case err == nil:
			r.add(results[n])
		case lost(err):
			r.counted.Gone++
			r.d.Log.InfoContext(ctx, "a ticket is gone", slog.String("ticket", i.Key), slog.Any(obs.Error, err))
		case errors.Is(err, errIncomplete):
			r.counted.Incomplete++
			r.d.Log.WarnContext(ctx, "a ticket cannot be counted", slog.String("ticket", i.Key), slog.Any(obs.Error, err))
		case errors.Is(err, errLate):
			return false, nil
		case unauthorized(err):
			return false, err
		default:
			if failing = append(failing, n); len(failing) == outage {
				return false, err
			}
			continue
		}
		r.oweAll(ctx, todo, problems, failing)
		failing = nil
		r.progress.passed++
		r.pass(i, nil)
	}
	r.oweAll(ctx, todo, problems, failing)
	if len(issues) > 0 {
		r.position = later(r.position, issues[len(issues)-1].UpdatedAt)
	}
	return !r.late(), nil
}

// pass notes that a ticket is dealt with, unless one before it is not.
func (r *run) pass(i tracker.Issue, failing []int) {
	if len(failing) == 0 {
		r.position = later(r.position, i.UpdatedAt)
	}
}

// oweAll owes tickets that failed while others did not.
func (r *run) oweAll(ctx context.Context, todo []tracker.Issue, problems []error, failing []int) {
	for _, n := range failing {
		r.owe(ctx, todo[n].ID, problems[n])
	}
}

func (r *run) owe(ctx context.Context, issue string, err error) {
	r.counted.Owed++
	r.owed = append(r.owed, analytics.Owed{Issue: issue, Error: err.Error()})
	r.d.Log.ErrorContext(ctx, "a ticket is left out and tried again by the next load", slog.String("issue", issue), slog.Any(obs.Error, err))
}

// news leaves out what is in already.
func (r *run) news(ctx context.Context, issues []tracker.Issue) (todo []tracker.Issue, err error) {
	ids := make([]string, len(issues))
	for n, i := range issues {
		ids[n] = i.ID
	}
	known, err := r.d.Store.Known(ctx, ids, r.load.StartedAt)
	if err != nil {
		return nil, err
	}
	for _, i := range issues {
		if known[analytics.Version{Issue: i.ID, Version: i.Version, UpdatedAt: i.UpdatedAt.UnixMilli()}] {
			r.counted.Known++
			continue
		}
		todo = append(todo, i)
	}
	return todo, nil
}

// readAll reads tickets side by side; results and problems are in their order. When
// as many in a row failed as are read at once, it begins no more.
func (r *run) readAll(ctx context.Context, issues []tracker.Issue) (results []read, problems []error) {
	results, problems = make([]read, len(issues)), make([]error, len(issues))
	var all sync.WaitGroup
	var failed atomic.Int32 // in a row
	places := make(chan struct{}, atOnce)
	for n, i := range issues {
		places <- struct{}{}
		if failed.Load() >= atOnce {
			problems[n] = errLate
			<-places
			continue
		}
		all.Add(1)
		go func() {
			defer func() { <-places; all.Done() }()
			if results[n], problems[n] = r.read(ctx, i); problems[n] == nil {
				failed.Store(0)
			} else if passing(problems[n]) {
				failed.Add(1)
			}
		}()
	}
	all.Wait()
	return results, problems
}

// errIncomplete says that Tracker does not tell what a ticket cannot be without.
var errIncomplete = errors.New("its id or times are missing")

// read reads one ticket's history.
func (r *run) read(ctx context.Context, issue tracker.Issue) (read, error) {
	if issue.ID == "" || issue.CreatedAt.IsZero() || issue.UpdatedAt.IsZero() {
		return read{}, errIncomplete
	}
	h := history{issue: issue, rule: r.rule, phases: r.phases}
	err := r.retried(ctx, func() (err error) {
		h.changes, err = r.tracker.Changes(ctx, issue.ID, "")
		return err
	})
	if err == nil {
		err = r.retried(ctx, func() (err error) {
			h.comments, err = r.tracker.Comments(ctx, issue.ID, "")
			return err
		})
	}
	if lost(err) {
		err = r.confirm(ctx, issue.ID, err)
	}
	if err != nil {
		return read{}, err
	}
	x := read{ticket: h.ticket(), events: h.events(), agents: h.agents()}
	x.ticket.Story = analytics.Tell(x.events)
	return x, nil
}

// confirm asks for a ticket whose history is not there. If the ticket is, its history
// is kept from us, as it is when a right of our account is missing: that makes no
// ticket gone.
func (r *run) confirm(ctx context.Context, issue string, missing error) error {
	err := r.retried(ctx, func() error {
		_, err := r.tracker.Issue(ctx, issue)
		return err
	})
	if err != nil {
		return err
	}
	return errors.New("the ticket is there, its history is not: " + missing.Error()) // not wrapped: it is not lost
}

func (r *run) add(x read) {
	r.rows.tickets = append(r.rows.tickets, x.ticket)
	r.rows.events = append(r.rows.events, x.events...)
	r.rows.agents = append(r.rows.agents, x.agents...)
}

// retried repeats a call. To be told to wait is no failure: it waits for as long as
// there is time.
func (r *run) retried(ctx context.Context, call func() error) error {
	for failures := 0; ; {
		if r.late() || ctx.Err() != nil {
			return errLate
		}
		err := call()
		if err == nil || !passing(err) {
			return err
		}
		wait := again << failures
		var e *tracker.Error
		if errors.As(err, &e) && e.Kind == tracker.RateLimited {
			wait = max(e.RetryAfter, time.Second)
		} else if failures++; failures == tries {
			return err
		}
		if time.Now().Add(wait).After(r.stop) {
			return errLate
		}
		if err := r.d.Sleep(ctx, wait); err != nil {
			return errLate
		}
	}
}

// passing: the same call may succeed later.
func passing(err error) bool {
	switch tracker.KindOf(err) {
	case tracker.Temporary, tracker.RateLimited, tracker.Uncertain:
		return true
	}
	return false
}

// unauthorized: the token is not accepted, which is nobody's ticket's fault.
func unauthorized(err error) bool {
	var e *tracker.Error
	return errors.As(err, &e) && e.Status == http.StatusUnauthorized
}

// lost: the ticket was deleted, or moved to where we may not look.
func lost(err error) bool {
	var e *tracker.Error
	return errors.As(err, &e) && (e.Kind == tracker.NotFound || e.Status == http.StatusForbidden)
}
