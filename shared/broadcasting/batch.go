package broadcasting

import (
	"context"
	"errors"
	"fmt"
	"time"

	"supportbot/shared/broadcast"
	"supportbot/shared/job"
	"supportbot/shared/obs"
)

const (
	// stopEarly is how long before its context ends a batch stops to claim: what is
	// in flight has to come to its end, and outcomes have to be written.
	stopEarly = 8 * time.Second
	// flightTime is how long a stopped batch waits for the calls in flight.
	flightTime = 10 * time.Second
	// writeTime is how long outcomes wait for a database that is away, and writeAgain
	// how long they leave it alone between.
	writeTime  = 30 * time.Second
	writeAgain = 200 * time.Millisecond
	// shelf is when a batch that a person has stopped looks again by itself: short,
	// since a resume may come between the stop and its being written; a paused job is
	// held and does not run anyway.
	shelf = 10 * time.Second
	// recovery is how long a messenger that is out of order is left alone.
	recovery = 20 * time.Second
)

// batch sends one batch, or as much of it as can be sent now. It is parked, never
// failed, by whatever only takes time.
func (s *Service) batch(ctx context.Context, r *job.Run) (job.Outcome, error) {
	var in broadcast.BatchJob
	if err := r.Decode(&in); err != nil {
		return job.Outcome{}, err
	}
	b, err := s.d.Store.Broadcast(ctx, in.Broadcast)
	if err != nil {
		return job.Outcome{}, err
	}
	batch, err := s.d.Store.Batch(ctx, in.Batch)
	if err != nil {
		return job.Outcome{}, err
	}
	sender, ok := s.d.Senders(batch.Messenger, batch.Bot)
	if !ok {
		return job.Outcome{}, job.Review(fmt.Errorf("no sender for %s:%s", batch.Messenger, batch.Bot))
	}
	g := s.sending(r, b, batch, sender)
	stale, err := s.d.Store.Recover(ctx, batch.ID, g.claim, sender.Limits().Idempotent)
	if err != nil {
		return job.Outcome{}, err
	}
	stopped := g.run(ctx)
	if errors.Is(stopped, job.ErrLost) {
		return job.Outcome{}, stopped
	}
	return s.end(ctx, g, stopped, stale)
}

// end says what becomes of the batch's job.
func (s *Service) end(ctx context.Context, g *sending, stopped error, stale time.Duration) (job.Outcome, error) {
	over := ctx.Err() != nil
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopEarly)
	defer cancel()
	speed := g.speed // until the next batch shows its own
	if stopped != nil {
		speed = 0
	}
	if err := g.show(ctx, speed); err != nil {
		return job.Outcome{}, g.failure(err)
	}
	state, err := s.d.Store.Settle(ctx, g.b.ID)
	if err != nil {
		return job.Outcome{}, g.failure(err)
	}
	if err := s.d.Live.SetState(ctx, g.b.ID, state); err != nil {
		s.d.Log.WarnContext(ctx, "state of a broadcast was not shown", obs.Error, err)
	}
	open, in, err := s.d.Store.Rest(ctx, g.batch.ID)
	if err != nil {
		return job.Outcome{}, g.failure(err)
	}
	switch {
	case state == broadcast.Cancelling || state == broadcast.Cancelled:
		return job.Outcome{}, job.ErrCancelled
	case open == 0:
		return job.Outcome{Result: g.counts}, nil
	case state == broadcast.Pausing || state == broadcast.Paused:
		return job.Outcome{}, job.Later(shelf, errState)
	case errors.Is(stopped, errOvertaken), errors.Is(stopped, errTime), errors.Is(stopped, errState):
		return job.Outcome{}, job.Later(0, stopped)
	case errors.Is(stopped, errHours), errors.Is(stopped, errPaused), errors.Is(stopped, errRate), errors.Is(stopped, errTrouble):
		return job.Outcome{}, job.Later(g.wait, stopped)
	case over:
		return job.Outcome{}, stopped
	case stopped != nil:
		return job.Outcome{}, g.failure(stopped)
	}
	// Everybody was tried who could be: what is left waits for its time, or for the
	// claims of a run that is probably dead.
	return job.Outcome{}, job.Later(max(in, stale, time.Second), errors.New("the rest has to wait"))
}

// failure counts as an attempt only if the run got nowhere: a batch must not end in
// review because the database was restarted each hour.
func (g *sending) failure(err error) error {
	if g.sent.Load() > 0 {
		return job.Later(time.Second, err)
	}
	return err
}
