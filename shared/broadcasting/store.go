// Package broadcasting sends broadcasts: it plans them into batches and works on
// one batch at a time in each messenger.
//
// For each recipient: a place within the limits, then the claim (one statement
// that also checks that the broadcast still runs and that this person may still be
// written to), the call, the outcome. Claimed is only what is being sent right
// now, so that after a crash at most the calls in flight are uncertain.
package broadcasting

import (
	"context"
	"time"

	"supportbot/shared/broadcast"
	"supportbot/shared/job"
)

// store is what planning and sending need of the database.
type store interface {
	Broadcast(ctx context.Context, id int64) (broadcast.Broadcast, error)
	// Plan snapshots the recipients into batches, makes their jobs and sets the
	// broadcast running (finished when there is nobody), as one transaction and only
	// while the planning job's lease holds (job.ErrLost). Repeated after success it
	// changes nothing. The jobs are those to be published: the first of each lane.
	Plan(ctx context.Context, p broadcast.Plan) (jobs []job.Inserted, err error)
	// Batch gives a batch with its counts as they are now.
	Batch(ctx context.Context, id int64) (broadcast.Batch, error)
	// Recover ends the claims of runs that are dead: given back where the messenger
	// drops repetitions, else uncertain. wait is how long until the youngest claim
	// of another run may be ended too; 0 = there is none.
	Recover(ctx context.Context, batch int64, claim string, idempotent bool) (wait time.Duration, err error)
	// Next gives recipients after n without outcome or claim whose time has come, by n.
	Next(ctx context.Context, batch int64, after, limit int) ([]broadcast.Recipient, error)
	// Skip writes that these were skipped, unless they are claimed or have an outcome.
	Skip(ctx context.Context, batch int64, reasons map[int]string) error
	// ClaimRecipients claims those of ns that may be written to now, and only while the
	// broadcast runs: otherwise it claims none and says what state it is in. Who must
	// be skipped is skipped by the same statement. The claimed come with the address
	// and locale as they are now.
	ClaimRecipients(ctx context.Context, batch int64, claim string, ns []int) (got []broadcast.Recipient, state broadcast.State, err error)
	// Write writes outcomes of recipients that this claim holds, or that were turned
	// uncertain while it held them; others are left alone.
	Write(ctx context.Context, batch int64, claim string, rs []broadcast.Result) error
	// Rest says how many of a batch have no outcome, and in how long the first of
	// them may be tried (0: now).
	Rest(ctx context.Context, batch int64) (open int, in time.Duration, err error)
	// Count recounts a batch from its recipients and stores that.
	Count(ctx context.Context, batch int64) (broadcast.Counts, error)
	// Overtaken reports whether a due job of higher priority waits in the lane.
	Overtaken(ctx context.Context, lane string, priority int) (bool, error)
	// Settle does the second phase of a pause or cancel, or finishes, if no claim is
	// open any more; it gives the state that holds then.
	Settle(ctx context.Context, id int64) (broadcast.State, error)
}

// live is what is shown while a broadcast runs, without asking the database. Losing
// it loses nothing.
type live interface {
	// Show notes what one batch of a broadcast has, and the messages a second of its run.
	Show(ctx context.Context, b broadcast.Broadcast, of broadcast.Batch, rate float64) error
	SetState(ctx context.Context, id int64, s broadcast.State) error
}
