package ycf

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Lazy builds a function's dependencies at its first call and keeps them for the
// life of the instance. Only success is kept: after a failure the next call
// builds anew, so an instance that started while its database was away heals by
// itself. Calls that come while a build runs share its outcome.
type Lazy[T any] struct {
	// Build makes the value. Its context ends after Timeout and not with the
	// call that happened to come first.
	Build   func(ctx context.Context) (T, error)
	Timeout time.Duration // 0: no limit

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

	try.err = Guard(func() (err error) {
		try.value, err = l.build(ctx)
		return err
	})
	if try.err != nil {
		l.mu.Lock()
		l.try = nil
		l.mu.Unlock()
	}
	close(try.done)
	return try.value, try.err
}

func (l *Lazy[T]) build(ctx context.Context) (T, error) {
	ctx = context.WithoutCancel(ctx)
	if l.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, l.Timeout)
		defer cancel()
	}
	value, err := l.Build(ctx)
	if err != nil {
		var none T
		return none, fmt.Errorf("build function: %w", err)
	}
	return value, nil
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
