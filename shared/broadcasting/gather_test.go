package broadcasting

import (
	"context"
	"errors"
	"sync"
	"testing"
)

// TestGatherer: what is asked for while a statement is under way shares the next
// one, and everybody gets their own answer.
func TestGatherer(t *testing.T) {
	t.Parallel()
	entered, release := make(chan int), make(chan struct{})
	g := &gatherer[int, int]{do: func(_ context.Context, all []int) ([]int, error) {
		entered <- len(all)
		<-release
		out := make([]int, len(all))
		for i, n := range all {
			out[i] = 10 * n
		}
		return out, nil
	}}
	var callers sync.WaitGroup
	ask := func(n int) {
		callers.Add(1)
		go func() {
			defer callers.Done()
			if got, err := g.ask(context.Background(), n); err != nil || got != 10*n {
				t.Errorf("asked %d: got %d, %v", n, got, err)
			}
		}()
	}
	ask(1)
	if n := <-entered; n != 1 {
		t.Fatalf("the first waits for %d others", n-1)
	}
	const rest = most + 50
	for n := 2; n < 2+rest; n++ {
		ask(n)
	}
	for waits := 0; waits < rest; {
		g.mu.Lock()
		waits = len(g.waiting)
		g.mu.Unlock()
	}
	release <- struct{}{}
	sizes := []int{}
	for range 2 {
		sizes = append(sizes, <-entered)
		release <- struct{}{}
	}
	callers.Wait()
	if sizes[0] != most || sizes[1] != rest-most {
		t.Errorf("statements of %v, want %d and %d", sizes, most, rest-most)
	}
	// At rest it begins anew.
	go func() { <-entered; release <- struct{}{} }()
	if got, err := g.ask(context.Background(), 7); err != nil || got != 70 {
		t.Errorf("got %d, %v", got, err)
	}
}

func TestGatherer_Error(t *testing.T) {
	t.Parallel()
	why := errors.New("away")
	g := &gatherer[int, int]{do: func(context.Context, []int) ([]int, error) { return nil, why }}
	for range 3 {
		if _, err := g.ask(context.Background(), 1); !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
	}
}
