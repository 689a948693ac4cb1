package job

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Errors of the store.
var (
	// ErrLost: the lease is no longer ours, nothing was written. Stop at once.
	ErrLost = errors.New("lease lost")
	// ErrMismatch: the key exists with another fingerprint.
	ErrMismatch = errors.New("the same key was used for something else")
	// ErrNotFound: there is no such job, or it is not in a state that allows this.
	ErrNotFound = errors.New("no such job, or not in a state that allows this")
)

// Job is a row as its worker sees it.
type Job struct {
	ID            int64
	Queue         string
	Kind          string
	Version       int
	Key           string
	Lane          Lane
	Priority      int
	Sequence      int64
	State         State
	Stage         string          // last confirmed stage; "" at first
	StageData     json.RawMessage // what was recorded with it
	StageAge      time.Duration   // how long ago that was when the job was claimed, by the database's clock
	Attempts      int             // failures so far
	Losses        int             // leases lost since the last new stage
	Replays       int             // how often a person has replayed it
	Payload       json.RawMessage
	Result        json.RawMessage
	CorrelationID string
	CreatedAt     time.Time
	// Age is how long ago it was begun first, or first after its last replay, when it was
	// claimed: by the database's clock, without the time in which it was held.
	Age time.Duration
}

// Claim is what a worker got when it asked for a lane.
type Claim struct {
	// Lane is "" when there is nothing to do: the job is unknown, has ended,
	// belongs to another queue, or somebody else holds its lane.
	Lane string
	// Job is the lane's head, now running; nil when none is due. The lane has
	// been released again in that case.
	Job *Job
	// Left: the lane was released and has open jobs. None of them can run yet, or
	// came meanwhile: Head says which is the first.
	Left bool
	// Review names jobs that this claim found to have lost their lease once too
	// often.
	Review []int64
}

// Verdict is how a run of a job ended.
type Verdict string

// The verdicts.
const (
	VerdictCompleted Verdict = "completed"
	VerdictFailed    Verdict = "failed"    // counts as an attempt; again after Delay, or review when they are used up
	VerdictParked    Verdict = "parked"    // again after Delay, no attempt
	VerdictStopped   Verdict = "stopped"   // the function's time is over: again at once, no attempt
	VerdictReview    Verdict = "review"    // a person has to decide
	VerdictHeld      Verdict = "held"      // waits for the job HeldFor
	VerdictCancel    Verdict = "cancelled" // the handler saw the request at a checkpoint
)

// Finish ends a run. It is one transaction.
type Finish struct {
	Job     *Job
	Token   string
	Verdict Verdict
	Result  json.RawMessage // for VerdictCompleted
	Insert  []New           // for VerdictCompleted: jobs that follow from it
	Error   string          // without secrets and personal data
	Delay   time.Duration
	HeldFor string
	// Next asks for the lane's next due job in the same transaction. Without it,
	// or when none is due, the lane is released.
	Next bool
}

// Finished is what Finish did.
type Finished struct {
	State State // of the finished job
	Next  *Job
	Left  bool // as in Claim
	// Inserted are the jobs of Finish.Insert, to be published.
	Inserted []Inserted
}

// Store is what a worker needs of the database. Every method that takes a token
// gives ErrLost when the lease is no longer the token's.
type Store interface {
	// Claim takes the lane of a job and its head, on the database's clock.
	Claim(ctx context.Context, queue string, id int64, token string) (Claim, error)
	// Renew extends the lane's lease.
	Renew(ctx context.Context, lane, token string) error
	// Stage records a stage; cancel reports whether somebody asked to cancel.
	Stage(ctx context.Context, id int64, token, stage string, data json.RawMessage) (cancel bool, err error)
	// Finish ends a run.
	Finish(ctx context.Context, f Finish) (Finished, error)
	// Head gives the lane's first job if it is open and the lane is idle, also
	// when it is not due yet; ok is false when there is none.
	Head(ctx context.Context, lane string) (head Inserted, ok bool, err error)
	// Published records that hints were sent.
	Published(ctx context.Context, ids []int64) error
}
