package job

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"supportbot/shared/obs"
)

// Numbers of the reconciler.
const (
	// RepublishAfter is how long a due head of an idle lane may be without a hint.
	RepublishAfter = 60 * time.Second
	// PublishAhead is how long before its time a head gets a delayed hint: until the
	// next pass, so that what was planned for later than the queue's longest delay
	// begins on time.
	PublishAhead = 75 * time.Second
	// Keep is how long keys and finished jobs are kept.
	Keep = 30 * 24 * time.Hour

	reconcileBatch = 500
	// cleanRounds is how many batches of old rows go in one pass; the next one goes on.
	cleanRounds = 20
)

// ReconcileStore is what the reconciler needs of the database.
type ReconcileStore interface {
	// Rescue takes back the running jobs of lanes whose lease is over.
	Rescue(ctx context.Context, limit int) ([]Inserted, error)
	// Forgotten gives heads of idle lanes that have no fresh hint and are due, or
	// will be within PublishAhead: of the lanes behind after, in their order.
	Forgotten(ctx context.Context, after string, limit int) ([]Inserted, error)
	// SweepHeld deals with jobs whose awaited job has ended.
	SweepHeld(ctx context.Context) (int64, error)
	// Untold gives jobs in review of which nobody was told yet.
	Untold(ctx context.Context, limit int) ([]Job, error)
	// Told marks a review as told and inserts the notices, as one.
	Told(ctx context.Context, id int64, notices []New) ([]Inserted, error)
	// Clean deletes what is older than Keep.
	Clean(ctx context.Context, limit int) (int64, error)
}

// Reconciler makes up for lost hints and dead workers. Every pass is safe to run
// twice and at the same time.
type Reconciler struct {
	Store     ReconcileStore
	Publisher *Publisher
	Log       *slog.Logger
	// Review says whom to tell of a job that needs review; nil tells nobody.
	Review func(Job) []New
}

// Pass does the duties once, the urgent ones first. It goes on after a duty that
// failed and gives the first error.
func (r *Reconciler) Pass(ctx context.Context) error {
	var first error
	for _, duty := range []struct {
		name string
		run  func(context.Context) (int, error)
	}{
		{"rescue", r.rescue}, {"held", r.held}, {"publish", r.publish}, {"review", r.review}, {"clean", r.clean},
	} {
		n, err := duty.run(ctx)
		if err != nil && first == nil {
			first = fmt.Errorf("duty %s: %w", duty.name, err)
		}
		if n > 0 {
			r.Log.InfoContext(ctx, "duty", slog.String("duty", duty.name), slog.Int("count", n))
		}
	}
	return first
}

func (r *Reconciler) rescue(ctx context.Context) (total int, err error) {
	for {
		jobs, err := r.Store.Rescue(ctx, reconcileBatch)
		if err != nil {
			return total, err
		}
		total += len(jobs)
		if len(jobs) < reconcileBatch {
			return total, nil
		}
	}
}

func (r *Reconciler) held(ctx context.Context) (int, error) {
	n, err := r.Store.SweepHeld(ctx)
	return int(n), err
}

// publish sends the hints that are missing, lane by lane: those that cannot be sent
// keep no others back, and stay forgotten until the next pass.
func (r *Reconciler) publish(ctx context.Context) (total int, err error) {
	for after := ""; ; {
		jobs, err := r.Store.Forgotten(ctx, after, reconcileBatch)
		if err != nil {
			return total, err
		}
		r.Publisher.Publish(ctx, jobs)
		total += len(jobs)
		if len(jobs) < reconcileBatch {
			return total, nil
		}
		after = jobs[len(jobs)-1].Lane // in the database's order, which is not Go's
	}
}

func (r *Reconciler) review(ctx context.Context) (total int, err error) {
	jobs, err := r.Store.Untold(ctx, reconcileBatch)
	if err != nil {
		return 0, err
	}
	for _, j := range jobs {
		var notices []New
		if r.Review != nil {
			notices = r.Review(j)
		}
		made, err := r.Store.Told(ctx, j.ID, notices)
		if err != nil {
			return total, err
		}
		r.Log.ErrorContext(ctx, "job waits for review", slog.Int64(obs.Job, j.ID), slog.String(obs.Kind, j.Kind),
			slog.String(obs.CorrelationID, j.CorrelationID))
		r.Publisher.Publish(ctx, made)
		total++
	}
	return total, nil
}

func (r *Reconciler) clean(ctx context.Context) (total int, err error) {
	for range cleanRounds {
		n, err := r.Store.Clean(ctx, reconcileBatch)
		total += int(n)
		if err != nil || n < reconcileBatch {
			return total, err
		}
	}
	return total, nil
}
