package job

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// A handler's error is its decision: any plain error is a failure that counts as
// an attempt; the errors made here are something else.

// Later parks the job: it runs again after d, and no attempt is counted.
func Later(d time.Duration, why error) error { return &decision{VerdictParked, d, "", why} }

// Unavailable parks a job because the service that it needs is away. An outage is
// not the job's failure and must not use up its attempts; but a job that has
// waited a day for one is failing.
func Unavailable(r *Run, why error) error { return Within(r, Patience, why) }

// Within is Unavailable for something that is not worth waiting a day for: once
// the job has been at it for longer than most, the failure counts.
func Within(r *Run, most time.Duration, why error) error {
	if r.Age > most {
		return why
	}
	return Later(unavailableWait/2+rand.N(unavailableWait), why)
}

// Budget is how long a job may be at it in all, waits included but for those in which it
// was held; a person gets what is told to wait after that. It is well over Patience: what is left of it are the waits
// that others ask for. Broadcasts (loose lanes) have no budget: a person sees each of
// them, and may have planned it for weeks.
const Budget = 72 * time.Hour

// Patience is how long a service that is away is no failure of the jobs that need it.
const Patience = 24 * time.Hour

const unavailableWait = 20 * time.Second

// Review gives the job to a person: the outcome cannot be known, or repeating
// cannot help.
func Review(why error) error { return &decision{VerdictReview, 0, "", why} }

// HoldFor makes the job wait until the job with that key completes. If it has
// completed already the job runs again at once; if it was cancelled, or there is
// none, this one goes to review.
func HoldFor(key string) error {
	return &decision{VerdictHeld, 0, key, errors.New("waits for another job")}
}

// ErrCancelled is what Run.Begin gives when somebody asked to cancel the job; a
// handler passes it on.
var ErrCancelled error = &decision{VerdictCancel, 0, "", errors.New("cancelled on request")}

type decision struct {
	verdict Verdict
	delay   time.Duration
	heldFor string
	why     error
}

func (d *decision) Error() string { return fmt.Sprintf("%s: %v", d.verdict, d.why) }
func (d *decision) Unwrap() error { return d.why }

// Attempts is how many failures a job may have before it goes to review.
const Attempts = 8

// MaxLosses is how many leases a job may lose without a new stage.
const MaxLosses = 5

const (
	firstBackoff = 5 * time.Second
	lastBackoff  = 15 * time.Minute
)

// Backoff is the wait after the n-th failure (n >= 1): a random time up to 5 s
// doubled n-1 times, at most 15 minutes (full jitter), but never under 100 ms.
func Backoff(n int) time.Duration {
	ceiling := lastBackoff
	if n < 10 {
		ceiling = min(firstBackoff<<max(n-1, 0), lastBackoff)
	}
	return max(rand.N(ceiling), 100*time.Millisecond)
}
