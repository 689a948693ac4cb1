package model_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"supportbot/shared/job"
)

const (
	schedules = 150
	warmUp    = 6 // actions one after the other before each schedule
	length    = 4 // actions of each party, side by side with the others'
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
	for seed := range uint64(schedules) {
		r := rand.New(rand.NewPCG(seed, 0))
		o := []order{strict, loose, apart}[r.IntN(3)]
		before, crew := d.warm(r, o)
		parties, after := d.sideBySide(r, crew, o)
		left := d.world(d.image(after), before)
		if !explained(before, parties, left) {
			t.Errorf("seed %d: no order explains %v\nfrom %+v\nto   %+v", seed, parties, before, left)
		}
	}
}

// warm brings two jobs of an order into some state.
func (d *desk) warm(r *rand.Rand, o order) (world, crew) {
	d.t.Helper()
	d.exec(`DELETE FROM jobs`)
	d.exec(`DELETE FROM lanes`)
	w, c := newWorld(o), newCrew()
	for i := range warmUp + 2 {
		a := on(insert, int8(i))
		if i >= 2 {
			list := w.actions()
			a = list[r.IntN(len(list))]
		}
		if _, err := d.act(context.Background(), &c, o, a); err != nil {
			d.t.Fatal(err)
		}
		w, _ = next(w, a)
	}
	return w, c
}

// sideBySide lets workers A and B and the others act at the same time.
func (d *desk) sideBySide(r *rand.Rand, start crew, o order) (parties [3][]deed, after crew) {
	d.t.Helper()
	var crews [3]crew
	var all sync.WaitGroup
	ready := make(chan struct{})
	for i := range 3 {
		own := rand.New(rand.NewPCG(r.Uint64(), 0))
		crews[i] = start
		all.Add(1)
		go func() {
			defer all.Done()
			<-ready
			for range length {
				a := crews[i].choose(own, owner(i), o)
				told, err := d.act(context.Background(), &crews[i], o, a)
				if err != nil {
					d.t.Errorf("%v: %v", a, err)
				}
				parties[i] = append(parties[i], deed{a, told})
			}
		}()
	}
	close(ready)
	all.Wait()
	after = crews[0]
	after.tokens[1], after.doing[1], after.at[1] = crews[1].tokens[1], crews[1].doing[1], crews[1].at[1]
	return parties, after
}

// choose takes an action of a worker, who knows only what it was told, or of the others.
// What consists of several transactions is left out.
func (c *crew) choose(r *rand.Rand, who owner, o order) action {
	w := newWorld(o)
	for j := range w.jobs {
		w.jobs[j].state = job.Running
		w.lanes[j].live = true
	}
	w.doing = c.doing
	list := slices.DeleteFunc(w.actions(), func(a action) bool {
		return a.verb == republish || a.worker != who && (who != ghost || a.worker != nobody)
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
