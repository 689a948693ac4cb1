// Package storm plays the whole platform in bad weather: all functions in several
// processes against real databases and the strict stand-ins, hundreds of customers in
// both messengers, agents who answer, broadcasts in between; and an adversary who does to
// all of it what may happen in production, by a plan that follows from a seed. Then the
// faults end, and when everything has come to rest the books are balanced from what the
// stand-ins have on record: see Books.
package storm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"supportbot/shared/backend"
)

// Options say what is played.
type Options struct {
	Seed      uint64
	Calm      time.Duration // before the storm
	Storm     time.Duration
	Customers int
	Processes int
	Lease     time.Duration // of lanes
	// The databases, with default durability; Postgres has its schema. Both are the
	// storm's own: it restarts the one and empties the other.
	Postgres, Redis *backend.Server
	Dir             string // for temporary folders and the log, storm.log
	// Hurry lets leases and waits elapse when the storm is over, instead of waiting
	// for them. Nobody works while they do.
	Hurry bool
}

// ErrUnbalanced means that somebody lost something, or has it twice.
var ErrUnbalanced = errors.New("the books do not balance")

// Play plays, and writes the plan and the balance sheet to out.
func Play(ctx context.Context, o Options, out io.Writer) (err error) {
	blows := plan(o.Seed, o.Storm, o.Lease)
	s := &sheet{Options: o}
	s.head(out)
	for _, b := range blows {
		_, _ = fmt.Fprintln(out, b)
	}
	w, err := newWorld(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	s.faults = w.adversary.tally
	if err := s.weather(ctx, w, blows); err != nil {
		return fmt.Errorf("%w; left is %s", err, w.left(ctx))
	}
	if err = s.settle(ctx, w); s.balance != nil {
		s.print(out)
	}
	if err != nil {
		return fmt.Errorf("%w; the last was %s", err, s.held)
	}
	if len(s.balance.Wrong) > 0 {
		return fmt.Errorf("seed %d: %w", o.Seed, ErrUnbalanced)
	}
	return nil
}

// weather lets the customers live through calm and storm.
func (s *sheet) weather(ctx context.Context, w *world, blows []blow) error {
	ctx, cancel := context.WithCancel(ctx)
	var people sync.WaitGroup
	defer people.Wait()
	defer cancel()
	for _, c := range w.customers {
		people.Add(1)
		go func() {
			defer people.Done()
			c.live(ctx)
		}()
	}
	people.Add(1)
	go func() {
		defer people.Done()
		w.asked = w.news(ctx)
	}()
	if err := sleep(ctx, w.think); err != nil { // until they have begun
		return err
	}
	s.began = time.Now()
	if err := sleep(ctx, s.Calm); err != nil {
		return err
	}
	s.struck = time.Now()
	w.struck = s.struck
	w.queue.begin()
	if err := w.adversary.run(ctx, blows); err != nil {
		return err
	}
	s.over = time.Now()
	cancel()
	people.Wait()
	for _, c := range w.customers {
		if c.trouble != nil {
			return c.trouble
		}
	}
	return nil
}
