// Package job is the one durable thing of the platform: all work that outlives a
// request is a row in Postgres, and this package says how such a row is made,
// claimed, worked and finished.
//
// The row is the truth. A queue message carries only the job's id and is a hint
// that may come twice, late, in any order or never. A row is its own outbox: it is
// inserted together with what it follows from, in state accepted, and published
// after the commit; the reconciler publishes what was left behind.
//
//	accepted -> queued -> running -> completed
//	                ^        |-> queued again (failure: backoff with jitter)
//	                |        |-> needs_review -> replay -> accepted
//	                |        '-> cancelled
//
// Within a lane one job runs at a time, in the order of priority, sequence, id.
// The right to work on a lane is a lease of 60 s; every write of a running job is
// guarded by the lease's token, so a worker that lost its lease can change nothing.
package job

import (
	"encoding/json"
	"time"
)

// State is where a job is in its life.
type State string

// The states.
const (
	Accepted    State = "accepted"     // in the database, not yet published
	Queued      State = "queued"       // a hint was sent
	Running     State = "running"      // a worker holds the lane's lease
	Completed   State = "completed"    // done; the result is kept
	NeedsReview State = "needs_review" // a person has to decide: attempts used up, or an outcome that nobody can know
	Cancelled   State = "cancelled"    // given up on request
)

// States lists them.
var States = []State{Accepted, Queued, Running, Completed, NeedsReview, Cancelled}

// Over: nothing happens to the job any more, unless a person decides it.
func (s State) Over() bool { return !s.open() }

// Lane is an order of jobs. In a strict lane nothing overtakes the first job,
// also while it waits for its time (a conversation). In a loose lane the first
// job that is due runs (broadcasts). All jobs of one lane belong to one queue
// and are of one strictness.
type Lane struct {
	Name  string
	Loose bool
}

// New is a job to be inserted. The first insert of a key wins; repeating it
// changes nothing.
type New struct {
	Queue   string // the queue whose function works on it
	Kind    string // what is to be done, e.g. "ticket.create"
	Version int    // of the payload's form; 0 counts as 1
	Key     string // what makes the work one; kept 30 days after completion
	// Fingerprint is set only for keys that API callers choose: the same key with
	// another fingerprint is ErrMismatch.
	Fingerprint   string
	Lane          Lane
	Priority      int           // higher runs first
	Sequence      int64         // lower runs first among equals; then the id
	Payload       any           // becomes JSON
	Delay         time.Duration // not before this much later, by the database's clock
	CorrelationID string
	Gather        *Gather
}

// Gather makes a job wait for siblings: inserts of the same key add themselves
// to the payload, which is a list of Member, while the job has not started. One
// that comes later becomes a job of its own under Gather.Member as its key, with
// the payload as a list of one.
type Gather struct {
	Member string        // what makes this part one (the update's key)
	Wait   time.Duration // each part extends the wait by this much...
	Cap    time.Duration // ...but never beyond this much after the first
}

// Member is one element of a gathered job's payload.
type Member struct {
	Key     string          `json:"key"`
	Payload json.RawMessage `json:"payload"`
}

// Inserted says where an inserted job can be found.
type Inserted struct {
	ID    int64
	Key   string
	Queue string
	Lane  string
	State State
	// New: this insert made the job; false: the key was there already.
	New bool
	// RunIn is how long it takes until the job is due; <= 0: it is due now.
	RunIn time.Duration
}
