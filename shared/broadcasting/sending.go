package broadcasting

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"supportbot/shared/broadcast"
	"supportbot/shared/job"
	"supportbot/shared/pace"
)

const (
	// inFlight is how many calls may be under way at once: the latency of the
	// messenger must not lower the rate.
	inFlight = 64
	// placesAhead is how many calls may wait for their places at once: a worker that
	// comes late for one has not missed the next.
	placesAhead = 8
	// page is how many recipients are read ahead.
	page = 500
	// LongWait: who would have to wait longer for a place is left for later.
	LongWait = 15 * time.Second
	// longWaits in a row, and it is not the chats but the messenger.
	longWaits = 3
	// troubles in a row, and the messenger is out of order.
	troubles = 5
	// peers is how many chats share a call where one call can address many.
	peers = 25
)

// sending is one run of a batch.
type sending struct {
	s      *Service
	r      *job.Run
	b      broadcast.Broadcast
	seen   broadcast.Broadcast // as it was when the run last looked; only of whoever looks
	speed  float64             // messages a second, likewise
	batch  broadcast.Batch
	counts broadcast.Counts
	sender Sender
	claim  string
	texts  *messages
	each   *rate.Limiter // messages a second of this run
	even   *rate.Limiter // calls a second as they leave: see evenly

	claims  *gatherer[claiming, claimed]
	results *gatherer[[]broadcast.Result, struct{}]
	slots   chan struct{} // calls under way
	ahead   chan struct{} // calls that wait for their places
	flights sync.WaitGroup
	before  int64        // outcomes of earlier runs
	sent    atomic.Int64 // outcomes of this one that are written
	writing atomic.Int64 // calls whose results could not be written yet
	stage   sync.Mutex

	mu      sync.Mutex
	stopped error         // why it stops
	wait    time.Duration // ...and for how long
	trouble int           // calls in a row that the messenger could not take
	waits   int           // calls in a row whose places were too far away
	quit    context.CancelFunc
}

func (s *Service) sending(r *job.Run, b broadcast.Broadcast, batch broadcast.Batch, sender Sender) *sending {
	g := &sending{
		s: s, r: r, b: b, seen: b, batch: batch, counts: batch.Counts, sender: sender, claim: r.Token(),
		slots: make(chan struct{}, inFlight), ahead: make(chan struct{}, placesAhead),
		texts: &messages{kind: b.Kind, content: b.Content, sender: sender, buttons: s.d.Buttons},
		even:  rate.NewLimiter(rate.Inf, 1),
	}
	g.each = rate.NewLimiter(rate.Inf, max(g.size(), placesAhead))
	g.before = int64(batch.Counts.Total - batch.Counts.Open())
	g.claims = &gatherer[claiming, claimed]{do: g.claimAll}
	g.results = &gatherer[[]broadcast.Result, struct{}]{do: g.writeAll}
	return g
}

// run sends until nobody is left who can be sent to now, or something stops it. It
// gives why it stopped, and leaves no call in flight unless one takes too long.
func (g *sending) run(ctx context.Context) error {
	watched := make(chan struct{})
	running, quit := context.WithCancel(ctx)
	defer func() { quit(); <-watched }()
	g.quit = quit
	if err := g.look(running); err == nil { // before anything goes out
		go func() { defer close(watched); g.watch(running) }()
		g.dispatch(running)
	} else {
		close(watched)
	}
	g.land(ctx)
	// The rate was this broadcast's. If the lane is somebody else's by now, they set
	// theirs again within a second.
	g.setRate(context.WithoutCancel(ctx), 0)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped == nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return g.stopped
}

// stop ends the run; the first reason counts.
func (g *sending) stop(why error, wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped == nil {
		g.stopped, g.wait = why, wait
		g.quit()
	}
}

// land waits for the calls in flight, and longer where only the database is missing
// and there is the time.
func (g *sending) land(ctx context.Context) {
	landed := make(chan struct{})
	go func() { g.flights.Wait(); close(landed) }()
	most := flightTime
	if ctx.Err() == nil {
		most += writeTime
		if end, ok := ctx.Deadline(); ok {
			most = max(flightTime, min(most, time.Until(end)))
		}
	}
	tick := time.NewTicker(writeAgain)
	defer tick.Stop()
	for began := time.Now(); ; {
		select {
		case <-landed:
			return
		case <-tick.C:
			if took := time.Since(began); took > most || took > flightTime && g.writing.Load() == 0 {
				return
			}
		}
	}
}

// dispatch goes through the batch once, until the last call has its place.
func (g *sending) dispatch(ctx context.Context) {
	defer g.placed(ctx)
	for after := 0; ; {
		list, err := g.s.d.Store.Next(ctx, g.batch.ID, after, page)
		if err != nil {
			g.stop(err, 0)
			return
		}
		if len(list) == 0 {
			return
		}
		list = g.whole(list)
		after = list[len(list)-1].N
		if list, err = g.skip(ctx, list); err != nil {
			g.stop(err, 0)
			return
		}
		for _, c := range g.calls(list) {
			if !g.launch(ctx, c) {
				return
			}
		}
	}
}

// skip writes off those who cannot be written to now, without a place each.
func (g *sending) skip(ctx context.Context, list []broadcast.Recipient) (rest []broadcast.Recipient, err error) {
	reasons := map[int]string{}
	for _, r := range list {
		if r.Refused != "" {
			reasons[r.N] = r.Refused
		} else {
			rest = append(rest, r)
		}
	}
	if len(reasons) == 0 {
		return rest, nil
	}
	return rest, g.s.d.Store.Skip(ctx, g.batch.ID, reasons)
}

// launch waits for a slot and starts a call, which waits for its place by itself. It
// says whether to go on.
func (g *sending) launch(ctx context.Context, c call) bool {
	if !enter(ctx, g.slots) {
		return false
	}
	if !g.turn(ctx, len(c.to)) || !enter(ctx, g.ahead) {
		<-g.slots
		return false
	}
	g.flights.Add(1)
	go func() {
		defer g.flights.Done()
		defer func() { <-g.slots }()
		placed := g.place(ctx, c)
		<-g.ahead
		if placed {
			g.perform(context.WithoutCancel(ctx), c)
		}
	}()
	return true
}

// turn waits until so many messages more are within the rate, and says whether to go
// on. It asks anew again and again, since the rate may change meanwhile. What the run
// would not live to see is left to one that begins then: it begins with a full bucket.
func (g *sending) turn(ctx context.Context, n int) bool {
	for {
		r := g.each.ReserveN(time.Now(), n)
		wait := r.Delay()
		if wait <= watchEvery {
			return sleep(ctx, wait)
		}
		r.Cancel()
		if end, ok := ctx.Deadline(); ok && time.Until(end) < wait {
			g.placed(ctx) // a stop would take their places from those before
			g.stop(errRate, wait)
			return false
		}
		if !sleep(ctx, watchEvery) {
			return false
		}
	}
}

// sleep says whether the context still lives after it.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

func enter(ctx context.Context, room chan<- struct{}) bool {
	select {
	case room <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// placed waits until no call waits for its place.
func (g *sending) placed(ctx context.Context) {
	for range placesAhead {
		if !enter(ctx, g.ahead) {
			return
		}
	}
}

// place waits for a call's place; without one it is left for later, or the run stops.
func (g *sending) place(ctx context.Context, c call) bool {
	var long *pace.TooLong
	err := g.s.d.Pacer.Wait(ctx, c.to[0].Address, LongWait)
	if err == nil {
		g.mu.Lock()
		g.waits = 0
		g.mu.Unlock()
		return true
	}
	switch {
	case errors.As(err, &long) && c.many: // there is no chat's own limit to wait for
		g.stop(errPaused, long.Wait)
	case errors.As(err, &long):
		g.postpone(ctx, c, long.Wait)
	}
	return false
}

// postpone leaves a chat alone that has to wait. When it is one after the other, it
// is the messenger that has to be left alone.
func (g *sending) postpone(ctx context.Context, c call, wait time.Duration) {
	g.mu.Lock()
	g.waits++
	all := g.waits >= longWaits
	g.mu.Unlock()
	if all {
		g.stop(errPaused, wait)
		return
	}
	var later []broadcast.Result
	ns := make([]int, len(c.to))
	for i, r := range c.to {
		ns[i] = r.N
		later = append(later, broadcast.Result{N: r.N, NotBefore: wait})
	}
	ctx = context.WithoutCancel(ctx) // a stop in between would leave a claim without a call
	if _, _, err := g.s.d.Store.ClaimRecipients(ctx, g.batch.ID, g.claim, ns); err != nil {
		g.stop(err, 0)
		later = back(c.to) // perhaps only the answer got lost
	}
	_ = g.write(ctx, later)
}
