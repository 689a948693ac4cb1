package ycf

import (
	"context"
	"fmt"
	"sync"
)

// Lazy builds a function's dependencies at its first call and keeps them for the
// life of the instance. Only success is kept: after a failure the next call builds
// anew, so an instance heals by itself. Calls that come while a build runs share its
// outcome.
type Lazy[T any] struct {
	// Build makes the value. It connects to nobody: what cannot be reached is the
	// matter of the call that needs it.
	Build func() (T, error)

	mu  sync.Mutex
	try *attempt[T] // running or successful; nil: to be made
}

type attempt[T any] struct {
	done  chan struct{}
	value T
	err   error
}

// Get gives the value. Its errors are Build's, a *Panic of Build, or that of a
// ctx which ended while another call's build was running.
func (l *Lazy[T]) Get(ctx context.Context) (T, error) {
	l.mu.Lock()
	if try := l.try; try != nil {
		l.mu.Unlock()
		return try.wait(ctx)
	}
	try := &attempt[T]{done: make(chan struct{})}
	l.try = try
	l.mu.Unlock()

	try.err = Guard(func() error {
		value, err := l.Build()
		if err != nil {
			return fmt.Errorf("build function: %w", err)
		}
		try.value = value
		return nil
	})
	if try.err != nil {
		l.mu.Lock()
		l.try = nil
		l.mu.Unlock()
	}
	close(try.done)
	return try.value, try.err
}

func (a *attempt[T]) wait(ctx context.Context) (T, error) {
	select {
	case <-a.done:
		return a.value, a.err
	default:
	}
	select {
	case <-a.done:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, fmt.Errorf("wait for the function's build: %w", ctx.Err())
	}
}
