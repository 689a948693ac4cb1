package storm

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"supportbot/shared/sandbox/fault"
)

// adversary does what a plan says.
type adversary struct {
	w *world

	mu      sync.Mutex
	tally   tally
	rules   []rule
	wipes   []time.Time // of Redis
	crashes []time.Time // of processes and Postgres
	thaws   []Thaw
	broken  []error // what of the adversary's own failed

	stores sync.Mutex // held while Postgres is away
	under  sync.WaitGroup
}

// rule is a fault that was put upon a service.
type rule struct {
	set  *fault.Set
	id   int
	kind string
}

func newAdversary(w *world) *adversary {
	return &adversary{w: w, tally: tally{}}
}

// run does the blows in their time, and returns when all of them are over and what they
// broke is whole again.
func (a *adversary) run(ctx context.Context, blows []blow) error {
	began := time.Now()
	for _, b := range blows {
		if sleep(ctx, time.Until(began.Add(b.at))) != nil {
			break
		}
		a.under.Add(1)
		go func() {
			defer a.under.Done()
			a.strike(ctx, b)
		}()
	}
	a.under.Wait()
	a.peace()
	if len(a.broken) > 0 {
		return fmt.Errorf("the adversary failed: %w", a.broken[0])
	}
	return ctx.Err()
}

func (a *adversary) strike(ctx context.Context, b blow) {
	n := b.who % len(a.w.places)
	place, service := a.w.places[n], b.who%len(services)
	switch b.kind {
	case killed:
		a.happen(b.kind)
		place.Present().Kill()
	case frozen, stranded:
		a.freeze(ctx, n, b)
	case restarted:
		a.fail(a.restart(ctx, b.many, b.last))
	case wiped:
		a.wipe(ctx)
	case skewed:
		a.count(skewed, 1, 1)
		place.Present().Skew(b.by)
	case crammed:
		a.count(crammed, 1, 0)
		a.fail(without(ctx, a.w.scratch(n), b.last))
	case revoked:
		a.revoke(ctx, service, b.last)
	case cut:
		a.w.queue.lie(true)
		_ = sleep(ctx, b.last)
		a.w.queue.lie(false)
	case refused:
		a.count(refused, b.many, 0)
		a.w.gateway.refuse.Add(int64(b.many))
	case forgotten:
		a.count(forgotten, b.many, 0)
		a.w.gateway.forget.Add(int64(b.many))
	case misled, ailing:
		a.put(service, b.kind, b.rule)
	}
}

func (a *adversary) fail(err error) {
	if err == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.broken = append(a.broken, err)
}

// happen notes a fault that is met when it happens, and crashes something.
func (a *adversary) happen(kind string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tally.done(kind)
	a.crashes = append(a.crashes, time.Now())
}

func (a *adversary) count(kind string, injected, met int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tally.inject(kind, injected)
	a.tally.meet(kind, met)
}

// peace takes back every fault that is left.
func (a *adversary) peace() {
	for _, place := range a.w.places {
		place.Present().Thaw()
		place.Present().Skew(0)
	}
	a.w.queue.behave()
	a.w.gateway.peace()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range a.rules {
		a.tally.meet(r.kind, r.set.Remove(r.id))
	}
	a.tally.meet(refused, int(a.w.gateway.refused.Load()))
	a.tally.meet(forgotten, int(a.w.gateway.forgotten.Load()))
	a.tally.add(a.w.queue.tally())
}

// A storm so long over so many is to meet everything that is in it.
const (
	wholeStorm  = 2 * time.Minute
	wholePeople = 200
)

// tell writes down what excuses differences.
func (a *adversary) tell(b *Books) {
	a.mu.Lock()
	defer a.mu.Unlock()
	b.Wipes, b.Crashes, b.Thaws = slices.Clone(a.wipes), slices.Clone(a.crashes), slices.Clone(a.thaws)
	if a.w.Storm >= wholeStorm && a.w.Customers >= wholePeople {
		b.Unmet = a.tally.unmet()
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
