package model_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"supportbot/shared/job"
)

const (
	schedules = 200
	warmUp    = 6 // actions one after the other before a schedule
	length    = 4 // actions of each party, side by side with the others'
	duel      = 2 // the same where both workers want one lane at once
)

// deed is an action and what whoever did it was told.
type deed struct {
	action action
	told   string
}

// Two workers and everybody else act at the same time. What they were told and what they
// leave has to be what some order of their actions makes of the model.
func TestModel_SideBySide(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	g := &gate{d.connect(), d.connect()}
	for seed := range uint64(schedules) {
		r := rand.New(rand.NewPCG(seed, 0))
		o := []order{strict, loose, apart, urgent}[r.IntN(4)]
		history, n := []action{first, second, by(workerA, claim, 0), on(expire, 0)}, duel
		if seed%4 == 0 {
			history, n = wander(r, o), length
		}
		before, crew := d.warm(o, history)
		parties, after := d.sideBySide(r, g, crew, o, n)
		left := d.world(d.image(after), before)
		if !explained(before, parties, left) {
			t.Errorf("seed %d: no order explains %v\nfrom %+v\nto   %+v", seed, parties, before, left)
		}
	}
}

// wander gives actions that can happen one after the other.
func wander(r *rand.Rand, o order) []action {
	history := []action{first, second}
	w := newWorld(o)
	for i := range warmUp {
		w, _ = next(w, history[i])
		if i > 0 {
			list := w.actions()
			history = append(history, list[r.IntN(len(list))])
		}
	}
	return history
}

// warm brings two jobs of an order into some state.
func (d *desk) warm(o order, history []action) (world, crew) {
	d.t.Helper()
	d.exec(`DELETE FROM jobs`)
	d.exec(`DELETE FROM lanes`)
	w, c := newWorld(o), newCrew()
	for _, a := range history {
		if _, err := d.act(context.Background(), &c, o, a); err != nil {
			d.t.Fatal(err)
		}
		w, _ = next(w, a)
	}
	return w, c
}

// sideBySide lets workers A and B and the others do n actions each at the same time.
func (d *desk) sideBySide(r *rand.Rand, g *gate, start crew, o order, n int) (parties [3][]deed, after crew) {
	d.t.Helper()
	var crews [3]crew
	var all sync.WaitGroup
	var over atomic.Int32
	open := g.close(d.t)
	for i := range 3 {
		own := rand.New(rand.NewPCG(r.Uint64(), 0))
		crews[i] = start
		all.Add(1)
		go func() {
			defer all.Done()
			defer over.Add(1)
			for range n {
				a := crews[i].choose(own, owner(i), o)
				parties[i] = append(parties[i], halves(deed{a, d.insist(&crews[i], o, a)})...)
			}
		}()
	}
	open(func(waiting int) bool { return waiting+int(over.Load()) >= 3 })
	all.Wait()
	after = crews[0]
	after.tokens[1], after.doing[1], after.at[1] = crews[1].tokens[1], crews[1].doing[1], crews[1].at[1]
	return parties, after
}

// halves are the transactions of a deed: republishing finds heads first, and sends hints for
// them when much may have happened.
func halves(d deed) []deed {
	if d.action.verb != republish {
		return []deed{d}
	}
	all := []deed{{on(find, none), d.told}}
	for j := range int8(2) {
		if strings.Contains(d.told, name(j)) {
			all = append(all, deed{on(publish, j), ""})
		}
	}
	return all
}

// insist does an action again that the database ended in favour of another: nothing of it
// has happened.
func (d *desk) insist(c *crew, o order, a action) string {
	for {
		told, err := d.act(context.Background(), c, o, a)
		var pg *pgconn.PgError
		if errors.As(err, &pg) && pg.Code == "40P01" {
			continue
		}
		if err != nil {
			d.t.Errorf("%v: %v", a, err)
		}
		return told
	}
}

// gate keeps the jobs' rows locked until everybody waits for one or has nothing left to do,
// so that what happens at the same time does meet.
type gate struct{ lock, watch *pgx.Conn }

func (g *gate) close(t *testing.T) (open func(enough func(waiting int) bool)) {
	t.Helper()
	ctx := context.Background()
	tx, err := g.lock.Begin(ctx)
	if err == nil {
		_, err = tx.Exec(ctx, `SELECT FROM jobs ORDER BY id FOR UPDATE`)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func(enough func(int) bool) {
		waiting := 0
		for err == nil && !enough(waiting) {
			err = g.watch.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`).Scan(&waiting)
		}
		if err := errors.Join(err, tx.Commit(ctx)); err != nil {
			t.Error(err)
		}
	}
}

// choose takes an action of a worker, who knows only what it was told, or of the others.
func (c *crew) choose(r *rand.Rand, who owner, o order) action {
	w := newWorld(o)
	for j := range w.jobs {
		w.jobs[j].state = job.Running
		w.lanes[j].live = true
	}
	w.doing = c.doing
	list := slices.DeleteFunc(w.actions(), func(a action) bool {
		return a.worker != who && (who != ghost || a.worker != nobody)
	})
	return list[r.IntN(len(list))]
}

// explained: some order of the parties' actions leads from a world to another.
func explained(from world, parties [3][]deed, to world) bool {
	type point struct {
		w    world
		done [3]int
	}
	to.budget = 0
	seen := map[point]bool{}
	var search func(p point) bool
	search = func(p point) bool {
		p.w.budget = 0
		if seen[p] {
			return false
		}
		seen[p] = true
		over := true
		for i, deeds := range parties {
			if p.done[i] == len(deeds) {
				continue
			}
			over = false
			then := p
			then.done[i]++
			for _, w := range may(p.w, deeds[p.done[i]]) {
				then.w = w
				if search(then) {
					return true
				}
			}
		}
		return over && p.w == to
	}
	return search(point{w: from})
}

// may gives the worlds that a deed may lead to while others act, which is more than when
// it has the database for itself:
//   - what finds rows locked passes them by (publish, rescue),
//   - a job that begins to wait while the other ends is told by the next sweep only,
//   - a hint may be for a job that ends while the claim waits for its lane,
//   - "left" may be true for what came or went meanwhile: somebody looks in vain.
func may(w world, d deed) (worlds []world) {
	try := func(w world, told string) {
		if agrees(d.told, told) || d.told == strings.Replace(told, "left false", "left true", 1) {
			worlds = append(worlds, w.settled())
		}
	}
	try(next(w, d.action))
	switch d.action.verb {
	case publish:
		try(w, "")
	case rescue:
		for _, skipped := range [][]int{{0}, {1}, {0, 1}} {
			some := w
			told := some.rescue(skipped...)
			try(some, told)
		}
	case finish:
		untold := w
		other := &untold.jobs[1-untold.doing[d.action.worker]]
		waits := other.waits
		other.waits = false
		untold, told := next(untold, d.action)
		untold.jobs[1-w.doing[d.action.worker]].waits = waits
		try(untold, told)
	case claim:
		if l := w.laneOf(int(d.action.job)); !w.jobs[d.action.job].open() && w.lanes[l].free() {
			told := w.take(l, d.action.worker)
			try(w, told)
		}
	}
	return worlds
}

func (d deed) String() string { return fmt.Sprintf("%v = %q", d.action, d.told) }
