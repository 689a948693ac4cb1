package broadcasting

import (
	"context"
	"sync"
)

// gatherer lets many callers share one statement: while one is under way, what is
// asked for meanwhile waits, and the next statement does all of it. A single caller
// never waits.
type gatherer[In, Out any] struct {
	// do does all of it; there is one Out per In.
	do func(ctx context.Context, all []In) ([]Out, error)

	mu      sync.Mutex
	busy    bool
	waiting []*asked[In, Out]
}

type asked[In, Out any] struct {
	in   In
	out  Out
	err  error
	done chan struct{} // closed when out or err is there
	lead chan struct{} // closed when this caller has to do it for all that wait
}

// most is how many share one statement.
const most = 256

func (g *gatherer[In, Out]) ask(ctx context.Context, in In) (Out, error) {
	a := &asked[In, Out]{in: in, done: make(chan struct{}), lead: make(chan struct{})}
	g.mu.Lock()
	g.waiting = append(g.waiting, a)
	if !g.busy {
		g.busy = true
		close(a.lead)
	}
	g.mu.Unlock()
	select {
	case <-a.done:
	case <-a.lead:
		g.run(ctx)
		<-a.done
	}
	return a.out, a.err
}

// run does what waits, the caller's own first, and hands over to the next.
func (g *gatherer[In, Out]) run(ctx context.Context) {
	g.mu.Lock()
	n := min(len(g.waiting), most)
	batch := g.waiting[:n:n]
	g.waiting = g.waiting[n:]
	g.mu.Unlock()

	ins := make([]In, n)
	for i, a := range batch {
		ins[i] = a.in
	}
	outs, err := g.do(ctx, ins)

	g.mu.Lock()
	if len(g.waiting) > 0 {
		close(g.waiting[0].lead)
	} else {
		g.busy = false
	}
	g.mu.Unlock()
	for i, a := range batch {
		if a.err = err; err == nil {
			a.out = outs[i]
		}
		close(a.done)
	}
}
