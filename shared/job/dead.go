package job

import "time"

// DeadLetter is a message that a queue gave up, because no call that got it ended well.
// The job that it hints at is in the database and goes on without it: the letter says
// that something breaks calls, and which job may be doing it.
type DeadLetter struct {
	ID       int64
	Queue    string // whose message it was
	Message  string // its id in the queue: kept once
	Job      int64  // that it hints at; 0: it is no hint of ours, or the job is gone
	Receives int    // how often it was received, as the queue says; 0: it does not
	// The job as it was when the letter was kept; nothing without one.
	State         State
	Stage         string
	Attempts      int
	CorrelationID string    // with a job: of whoever is erased, nothing is kept
	Body          string    // of what is no hint: what it says, at most DeadBody bytes
	SentAt        time.Time // zero: not told
	KeptAt        time.Time
}

// DeadBody is how much of a message is kept that is no hint, in bytes.
const DeadBody = 4 << 10

// FailureDead is Failure.What of a job whose hint became a dead letter.
const FailureDead = "dead"
