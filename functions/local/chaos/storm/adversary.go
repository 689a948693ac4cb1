package storm

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"supportbot/shared/backend"
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
	case frozen:
		a.freeze(ctx, n, b.last)
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

func (a *adversary) freeze(ctx context.Context, n int, d time.Duration) {
	p := a.w.places[n].Present()
	a.happen(frozen)
	p.Freeze()
	_ = sleep(ctx, d)
	a.mu.Lock()
	a.thaws = append(a.thaws, Thaw{n, time.Now()})
	a.crashes = append(a.crashes, time.Now())
	a.mu.Unlock()
	p.Thaw()
}

// manners are the ways in which a database ends.
var manners = []struct {
	name string
	end  func(*backend.Server) error
}{
	{"politely", (*backend.Server).Stop},
	{"at once", func(s *backend.Server) error {
		gone := s.Done()
		s.Signal(syscall.SIGQUIT)
		<-gone
		return nil
	}},
	{"by a crash", (*backend.Server).Kill},
}

func (a *adversary) restart(ctx context.Context, manner int, away time.Duration) error {
	a.stores.Lock()
	defer a.stores.Unlock()
	a.happen(restarted + " " + manners[manner].name)
	if err := manners[manner].end(a.w.Postgres); err != nil {
		return fmt.Errorf("end PostgreSQL: %w", err)
	}
	_ = sleep(ctx, away)
	a.mu.Lock()
	a.crashes = append(a.crashes, time.Now())
	a.mu.Unlock()
	if err := a.w.Postgres.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("start PostgreSQL: %w", err)
	}
	return nil
}

// wipe empties Redis, as a failover to an empty replica does.
func (a *adversary) wipe(ctx context.Context) {
	if err := a.w.redis.FlushAll(ctx).Err(); err != nil {
		a.fail(fmt.Errorf("wipe Redis: %w", err))
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tally.done(wiped)
	a.wipes = append(a.wipes, time.Now())
}

// without lets a folder be gone for a while: for the superuser no folder is unwritable.
func without(ctx context.Context, dir string, d time.Duration) error {
	if err := os.Rename(dir, dir+".gone"); err != nil {
		if os.IsNotExist(err) { // it is gone already
			return nil
		}
		return fmt.Errorf("take folder away: %w", err)
	}
	_ = sleep(ctx, d)
	if err := os.Rename(dir+".gone", dir); err != nil {
		return fmt.Errorf("give folder back: %w", err)
	}
	return nil
}

// put puts a fault upon a service, until it has been met or the storm is over.
func (a *adversary) put(service int, kind string, f fault.Fault) {
	set := a.w.faults[service]
	a.mu.Lock()
	defer a.mu.Unlock()
	kind = fmt.Sprintf("%s: %s, %s", kind, services[service].name, f.Kind)
	a.tally.inject(kind, f.Times)
	a.rules = append(a.rules, rule{set, set.Add(f), kind})
}

// revoke makes a service refuse every call for its token.
func (a *adversary) revoke(ctx context.Context, service int, d time.Duration) {
	s, set := services[service], a.w.faults[service]
	var ids []int
	for _, method := range s.all {
		ids = append(ids, set.First(fault.Fault{Method: method, Kind: fault.Status, Status: s.denied}))
	}
	_ = sleep(ctx, d)
	for _, id := range ids {
		a.count(revoked+": "+s.name, 0, set.Remove(id))
	}
	a.count(revoked+": "+s.name, 1, 0)
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
