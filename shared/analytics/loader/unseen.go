package loader

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"supportbot/shared/analytics"
	"supportbot/shared/obs"
	"supportbot/shared/tracker"
)

const (
	// unseenFor is how long an open ticket was not loaded when it is asked for by its
	// id. No search finds one that was deleted, nor one that an agent opened and moved
	// to a queue of which no category knows: without being asked for it would be open
	// for ever.
	unseenFor = 24 * time.Hour
	// unseenAtOnce bounds what one run asks for: some 150 calls.
	unseenAtOnce = 50
	// owedMost are not asked for twice in a run.
	owedMost = 1000
)

// visit reads open tickets that no search has found for long. Those that Tracker shows
// no more count no more.
func (r *run) visit(ctx context.Context) error {
	owed, err := r.d.Records.OwedTickets(ctx, owedMost)
	if err != nil {
		return err
	}
	unseen, err := r.d.Store.Unseen(ctx, r.d.Now().Add(-unseenFor), unseenAtOnce, owed)
	if err != nil {
		return err
	}
	gone, failed := r.visitAll(ctx, unseen)
	if len(r.rows.tickets)+len(r.owed) > 0 {
		if err := r.flush(ctx, true); err != nil {
			return errors.Join(failed, err)
		}
	}
	if err := r.d.Store.InsertGone(ctx, gone, r.d.Now()); err != nil {
		return errors.Join(failed, err)
	}
	r.counted.Gone += len(gone)
	r.d.Hook("visited")
	return failed
}

// visitAll reads tickets one by one and gives those that are gone. A Tracker that
// fails ends it.
func (r *run) visitAll(ctx context.Context, unseen []analytics.Loaded) (gone []analytics.Loaded, failed error) {
	var refused []analytics.Loaded
	for _, v := range unseen {
		read, err := r.readByID(ctx, v.Issue)
		switch {
		case err == nil:
			r.add(read)
		case errors.Is(err, errLate):
		case passing(err) || unauthorized(err):
			return gone, fmt.Errorf("look at open tickets: %w", err)
		case forbidden(err):
			refused = append(refused, v)
		case lost(err):
			r.d.Log.InfoContext(ctx, "a ticket is gone", slog.String("issue", v.Issue), slog.Any(obs.Error, err))
			gone = append(gone, v)
		default:
			r.owe(ctx, v.Issue, err)
		}
	}
	if len(refused) > 0 && !r.sees() {
		r.d.Log.WarnContext(ctx, "Tracker shows this account no ticket at all: those that it refuses stay open", slog.Int("refused", len(refused)))
		return gone, nil
	}
	for _, v := range refused {
		r.d.Log.InfoContext(ctx, "a ticket is out of reach", slog.String("issue", v.Issue))
	}
	return append(gone, refused...), nil
}

// sees reports whether Tracker has shown any ticket to this run. If it has not, a
// refusal may be the account's and not a ticket's.
func (r *run) sees() bool { return r.counted.Tickets+r.counted.Known+len(r.rows.tickets) > 0 }

// readByID reads a ticket that no search has found. One that has just changed waits
// for the next load, as it does in a sweep: its history may lack the last entry.
func (r *run) readByID(ctx context.Context, id string) (read, error) {
	var issue tracker.Issue
	err := r.retried(ctx, func() (err error) {
		issue, err = r.tracker.Issue(ctx, id)
		return err
	})
	if err != nil {
		return read{}, err
	}
	if issue.UpdatedAt.After(r.until) {
		return read{}, errLate
	}
	return r.read(ctx, issue)
}

// forbidden: the ticket was moved to where we may not look, or a right is missing.
func forbidden(err error) bool {
	var e *tracker.Error
	return errors.As(err, &e) && e.Status == http.StatusForbidden
}
