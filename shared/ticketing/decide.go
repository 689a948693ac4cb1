package ticketing

import (
	"context"

	"supportbot/shared/job"
	"supportbot/shared/news"
	"supportbot/shared/tracker"
)

// decide turns the failure of a call to Tracker into the job's decision. Unless
// nobody knows how the call ended, the stage from before it is restored.
func decide(ctx context.Context, r *job.Run, err error) error {
	kind := tracker.KindOf(err)
	if kind != tracker.Uncertain {
		if rerr := r.Refused(ctx); rerr != nil {
			return rerr
		}
	}
	switch kind {
	case tracker.Invalid, tracker.Frozen, tracker.NotFound:
		return job.Review(err) // the same call would be refused again
	}
	return news.Decide(r, err)
}
