package news

import (
	"errors"
	"net/http"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/tracker"
)

// writeWait is how long writes without a known end use up no attempts.
const writeWait = time.Hour

// Decide turns an error of Tracker's into the decision of the job that met it. A
// token that is not valid is an outage like any other: an operator mends it, and
// the jobs go on. So are writes without a known end, for a while, but for those
// that Tracker itself says to have failed at.
func Decide(r *job.Run, err error) error {
	var e *tracker.Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case e.Kind == tracker.RateLimited:
		return job.Later(max(e.RetryAfter, time.Second), err)
	case e.Kind == tracker.Temporary, e.Status == http.StatusUnauthorized:
		return job.Unavailable(r, err)
	case e.Kind == tracker.Uncertain && e.Status != http.StatusInternalServerError:
		return job.Within(r, writeWait, err)
	}
	return err
}
