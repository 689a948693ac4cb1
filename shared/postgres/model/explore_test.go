package model_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// node is a world that was reached, by the shortest way.
type node struct {
	world world
	image image
	by    action
	from  *node
	depth int
}

func (n *node) path() string {
	var steps []string
	for ; n.from != nil; n = n.from {
		steps = append([]string{n.by.String()}, steps...)
	}
	return strings.Join(steps, "; ")
}

// explorer goes from world to world, breadth first: each action in each world that is
// at most depth steps away is done once, on the real database.
type explorer struct {
	*desk
	seen   map[world]bool
	queue  []*node
	edges  int
	wrongs int
}

func explore(t *testing.T, depth int, starts ...*node) {
	t.Helper()
	e := &explorer{desk: newDesk(t), seen: map[world]bool{}}
	var from []*node
	for _, s := range starts {
		from = append(from, e.prelude(s))
	}
	e.queue, e.seen = nil, map[world]bool{}
	for _, n := range from {
		n.depth = 0
		e.reach(n)
	}
	for len(e.queue) > 0 && e.wrongs < 5 {
		n := e.queue[0]
		e.queue = e.queue[1:]
		if n.depth < depth+deeper(t) {
			e.leave(n)
		}
	}
	var transactions int
	e.scan(`SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()`, &transactions)
	t.Logf("%d states, %d edges, about %d transactions", len(e.seen), e.edges, transactions)
}

// deeper is how many steps farther to go than usual.
func deeper(t *testing.T) int {
	t.Helper()
	more, err := strconv.Atoi(cmp.Or(os.Getenv("MODEL_DEEPER"), "0"))
	if err != nil {
		t.Fatalf("MODEL_DEEPER: %v", err)
	}
	return more
}

// leave takes each step from a world; those that should change nothing need no copy of
// it each.
func (e *explorer) leave(n *node) {
	e.t.Helper()
	var still []action
	for _, a := range n.world.actions() {
		if to, _ := next(n.world, a); to == n.world {
			still = append(still, a)
		} else {
			e.step(n, a)
		}
	}
	e.stay(n, still)
	n.image = image{}
}

// stay does what should change nothing, one after the other.
func (e *explorer) stay(n *node, actions []action) {
	e.t.Helper()
	e.edges += len(actions)
	e.restore(n.image)
	crew := n.image.crew
	for _, a := range actions {
		to := &node{by: a, from: n}
		told, err := e.act(context.Background(), &crew, n.world.order, a)
		if err != nil {
			e.t.Fatalf("%s: %v", to.path(), err)
		}
		if _, want := next(n.world, a); !agrees(told, want) {
			e.wrong(to, fmt.Errorf("is %q, the model says %q", told, want))
		}
	}
	after := e.image(crew)
	if world := e.world(after, n.world); world != n.world {
		e.wrong(n, fmt.Errorf("one of %v changed something: %+v -> %+v", actions, n.world, world))
	}
	if err := (step{before: n.image, after: after, from: n.world, to: n.world}).broken(); err != nil {
		e.wrong(n, fmt.Errorf("one of %v: %w", actions, err))
	}
}

// reach remembers a world unless it was reached already, perhaps with the workers' names
// exchanged.
func (e *explorer) reach(n *node) {
	if !e.seen[n.world] && !e.seen[n.world.swapped()] {
		e.seen[n.world] = true
		e.queue = append(e.queue, n)
	}
}

// step takes one step from a world and reaches the next.
func (e *explorer) step(n *node, a action) *node {
	e.t.Helper()
	e.edges++
	e.restore(n.image)
	want, wantTold := next(n.world, a)
	before := n.image
	if wantTold == lost {
		before = e.image(n.image.crew) // to compare all of it
	}
	to := &node{by: a, from: n, depth: n.depth + 1}
	crew := n.image.crew
	told, err := e.act(context.Background(), &crew, n.world.order, a)
	if err != nil {
		e.t.Fatalf("%s: %v", to.path(), err)
	}
	to.image = e.image(crew)
	to.world = e.world(to.image, n.world)
	to.world.budget = want.budget
	if to.world != want || !agrees(told, wantTold) {
		e.wrong(to, fmt.Errorf("is %q %+v, the model says %q %+v", told, to.world, wantTold, want))
		return to
	}
	if err := (step{a, told, before, to.image, n.world, to.world}).broken(); err != nil {
		e.wrong(to, err)
	}
	e.reach(to)
	return to
}

// agrees: of several jobs that wait in a lane, look may give any.
func agrees(got, want string) bool { return slices.Contains(strings.Split(want, " or "), got) }

func (e *explorer) wrong(n *node, err error) {
	e.t.Helper()
	e.wrongs++
	e.t.Errorf("after %s: %v", n.path(), err)
}

// prelude takes the steps of a start's history.
func (e *explorer) prelude(n *node) *node {
	e.t.Helper()
	if n.from == nil {
		return n
	}
	return e.step(e.prelude(n.from), n.by)
}
