package storm

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"

	"supportbot/shared/backend"
	"supportbot/shared/sandbox/fault"
)

func (a *adversary) freeze(ctx context.Context, n int, b blow) {
	p := a.w.places[n].Present()
	a.happen(b.kind)
	p.Freeze()
	_ = sleep(ctx, b.last)
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

// revokeMost is how many times as long as planned a token may stay revoked.
const revokeMost = 10

// revoke makes a service refuse every call for its token: for so long, and on when nobody
// calls it meanwhile.
func (a *adversary) revoke(ctx context.Context, service int, d time.Duration) {
	s, set := services[service], a.w.faults[service]
	met := 0
	for tries := 0; met == 0 && tries < revokeMost && ctx.Err() == nil; tries++ {
		var ids []int
		for _, method := range s.all {
			ids = append(ids, set.First(fault.Fault{Method: method, Kind: fault.Status, Status: s.denied}))
		}
		_ = sleep(ctx, d)
		for _, id := range ids {
			met += set.Remove(id)
		}
	}
	a.count(revoked+": "+s.name, 1, met)
}
