package conversation

import (
	"context"
	"time"

	"supportbot/shared/dialog"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/obs"
)

// Outcome says what became of an event, for the log.
type Outcome string

// The outcomes.
const (
	Handled     Outcome = "handled"
	Repeated    Outcome = "repeated" // delivered again
	Ignored     Outcome = "ignored"  // nothing follows from it
	Banned      Outcome = "banned"
	Flooding    Outcome = "flooding"
	Unavailable Outcome = "unavailable"
)

// Accepted is an event that is safe, with the work that the messenger need not
// wait for.
type Accepted struct {
	*turn
	Outcome Outcome
	Sent    int // replies that went out, for the log
	Queued  int // replies that became jobs

	pending  []dialog.Pending
	holds    bool
	recorded []string       // keys of entries whose jobs this process inserted
	inserted []job.Inserted // to be published
	known    *dialog.Profile
	forget   bool            // the kept copy of the person is wrong
	read     *dialog.Tickets // read while replies were rendered
	behind   bool            // a reply became a job: later ones follow it
	warning  bool            // nothing but the flood warning is to be sent
}

// Finish publishes hints and sends the replies, for a few seconds at most; it
// ignores the end of ctx, which is the request's. What it cannot do now is left
// to jobs, to the next event, or to CompleteStale.
func (a *Accepted) Finish(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	if a.warning {
		a.sendWarning(ctx)
		return
	}
	a.publish(ctx)
	if err := a.reply(ctx); err != nil {
		a.s.d.Log.WarnContext(ctx, "replies are left for later", obs.Error, err.Error())
	}
	a.publish(ctx)
}

// publish sends hints for what was inserted since the last time.
func (a *Accepted) publish(ctx context.Context) {
	jobs := a.inserted
	a.inserted = nil
	if len(jobs) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, publishTime)
	defer cancel()
	a.s.d.Publisher.Publish(ctx, jobs)
	a.s.d.Hook(StagePublished)
}

// reply completes the pending entries in order, if the lease is to be had.
func (a *Accepted) reply(ctx context.Context) error {
	if len(a.pending) == 0 {
		return nil
	}
	books, cancel := context.WithTimeout(ctx, replyTime+recordTime)
	defer cancel()
	if !a.holds || a.s.d.Now().Sub(a.asked) > dialog.LeaseTime/2 { // Postgres may have been slow
		recorded := ""
		if a.wasRecorded(a.in.key) {
			recorded = a.in.key
		}
		a.asked = a.s.d.Now()
		snap, err := a.s.d.Store.Take(books, a.in.Address, a.token, recorded)
		if err != nil || !snap.Holds {
			return err
		}
		a.pending, a.holds, a.snap.Tickets = snap.Pending, true, snap.Tickets
	}
	return a.drain(books, a.s.d.Now().Add(replyTime))
}

// drain works on the entries one by one; clearing one tells what came meanwhile.
func (a *Accepted) drain(ctx context.Context, deadline time.Time) error {
	for len(a.pending) > 0 {
		e := &a.pending[0]
		if !e.Recorded && !a.wasRecorded(e.Key) {
			if err := a.insert(ctx, e); err != nil {
				a.letGo(ctx, "")
				return err
			}
			a.s.d.Hook(StageRecorded)
		}
		if err := a.send(ctx, *e, deadline); err != nil {
			a.letGo(ctx, e.Key)
			return err
		}
		a.s.d.Hook(StageSent)
		if err := a.clear(ctx, e.Key); err != nil {
			return err
		}
		a.s.d.Hook(StageFinished)
	}
	return nil
}

// clear takes a finished entry away and learns what is pending now.
func (a *Accepted) clear(ctx context.Context, key string) error {
	done := dialog.Done{
		Address: a.in.Address, Token: a.token, Key: key,
		Profile: a.known, Forget: a.forget, Tickets: a.read,
	}
	asked := a.s.d.Now()
	snap, err := a.s.d.Store.Finish(ctx, done)
	if err != nil {
		return err
	}
	a.known, a.forget, a.read = nil, false, nil
	a.asked, a.holds, a.pending = asked, snap.Holds, nil
	if snap.Holds {
		a.pending, a.snap.Tickets = snap.Pending, snap.Tickets
	}
	return nil
}

// warn tells a flooding customer, once, as well as that goes.
func (t *turn) warn() *Accepted {
	a := t.done(Flooding)
	a.warning = true
	return a
}

func (a *Accepted) sendWarning(ctx context.Context) {
	if a.in.group() {
		return
	}
	deadline := a.s.d.Now().Add(replyTime)
	chosen := ""
	if p := a.snap.Profile; p != nil {
		chosen = p.Person.Locale
	}
	text := dialog.Text(dialog.Locale(chosen, a.in.User.Locale), "flood")
	for i, part := range a.sender.Plain(text) {
		o := messenger.Outgoing{Chat: a.in.Address.Chat, Part: part, Key: replyKey(a.in.key, i)}
		err := a.call(ctx, a.in.Address, deadline, func(ctx context.Context) error {
			_, err := a.sender.Send(ctx, o)
			return err
		})
		if err != nil {
			a.s.d.Log.WarnContext(ctx, "flood warning was not sent", obs.Error, err.Error())
			return
		}
		a.Sent++
	}
}
