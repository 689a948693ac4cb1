package broadcasting

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/time/rate"

	"supportbot/shared/broadcast"
	"supportbot/shared/obs"
)

// watchEvery is how often a run looks around: whether it has to stop, at what rate
// it is to send, what it can show.
const watchEvery = time.Second

// evenLeast is the pace, in calls a second, below which calls are not evened out: all
// that may have their places at once leave within a fraction of flightTime.
const evenLeast = 4 * placesAhead * float64(time.Second) / float64(flightTime)

// watch looks around until the run ends.
func (g *sending) watch(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for last, sent := time.Now(), int64(0); ; {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			total := g.sent.Load()
			g.speed = float64(total-sent) / now.Sub(last).Seconds()
			last, sent = now, total
			err := g.show(ctx, g.speed)
			if err == nil && g.speed > 0 {
				err = g.progressed(ctx)
			}
			if err != nil && ctx.Err() == nil {
				g.stop(err, 0)
				return
			}
			if err := g.look(ctx); err != nil {
				return
			}
		}
	}
}

// look stops the run when there is a reason to.
func (g *sending) look(ctx context.Context) error {
	wait, why := g.reason(ctx)
	if why != nil && ctx.Err() == nil {
		g.stop(why, wait)
	}
	return why
}

func (g *sending) reason(ctx context.Context) (wait time.Duration, err error) {
	if end, ok := ctx.Deadline(); ok && time.Until(end) < stopEarly {
		return 0, errTime
	}
	if err := g.r.Guard(ctx); err != nil {
		return 0, err
	}
	wait, err = g.b.Hours.Wait(g.s.d.Now())
	switch {
	case err != nil:
		return 0, err
	case wait > 0:
		return wait, errHours
	}
	b, err := g.s.d.Store.Broadcast(ctx, g.b.ID)
	if err == nil {
		g.seen = b
	}
	switch {
	case err != nil:
		return 0, err
	case b.State != broadcast.Running:
		return 0, errState
	}
	over, err := g.s.d.Store.Overtaken(ctx, g.r.Lane.Name, g.r.Priority)
	switch {
	case err != nil:
		return 0, err
	case over:
		return 0, errOvertaken
	}
	g.setRate(ctx, b.Rate)
	return 0, nil
}

// setRate sets the rate again and again: Redis may have been emptied. This run keeps
// to it also by itself, since no other sends in the lane: where a call carries
// several messages, and while Redis is away.
func (g *sending) setRate(ctx context.Context, perSecond float64) {
	limit := rate.Inf
	if perSecond > 0 {
		limit = rate.Limit(perSecond)
	}
	g.each.SetLimit(limit)
	calls := rate.Inf
	if g.s.d.Limit != nil {
		calls = rate.Limit(g.s.d.Limit(g.batch.Messenger))
	}
	if g.size() > 1 {
		g.evenly(calls)
		return
	}
	g.evenly(min(calls, limit))
	err := g.s.d.Pacer.SetBroadcastRate(ctx, g.batch.Messenger, g.batch.Bot, perSecond)
	if err != nil && ctx.Err() == nil {
		g.s.d.Log.WarnContext(ctx, "the rate of a broadcast was not set", obs.Error, err)
	}
}

// evenly lets calls leave at the pace of their places and a little faster. A place is
// had before the claim, and claims take now and then much longer than usual: without
// this, what had to wait for them would arrive at once. But a call that waits here is
// claimed: it must leave before a run that is stopped gives it up, so a slow pace is
// kept by the places alone.
func (g *sending) evenly(calls rate.Limit) {
	g.even.SetBurst(1 + int(min(calls, 10_000)/100))
	if calls < rate.Inf {
		calls = max(calls*1.05, rate.Limit(evenLeast))
	}
	g.even.SetLimit(calls)
}

// show recounts the batch and shows how far it is.
func (g *sending) show(ctx context.Context, speed float64) error {
	counts, err := g.s.d.Store.Count(ctx, g.batch.ID)
	if err != nil {
		return err
	}
	g.counts, g.batch.Counts = counts, counts
	if err := g.s.d.Live.Show(ctx, g.seen, g.batch, speed); err != nil && ctx.Err() == nil {
		g.s.d.Log.WarnContext(ctx, "progress was not shown", obs.Error, err)
	}
	return nil
}

// progressed records a new stage: a batch whose worker dies again and again, but
// gets on each time, is not a job that kills its worker. The stage counts what all runs
// have done: one that ends as early as the one before it has got on, too.
func (g *sending) progressed(ctx context.Context) error {
	g.stage.Lock()
	defer g.stage.Unlock()
	return g.r.Done(ctx, fmt.Sprintf("%s:%d", stageSend, g.before+g.sent.Load()), nil)
}
