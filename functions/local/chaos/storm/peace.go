package storm

import (
	"context"
	"fmt"
	"time"
)

const (
	restWait = 8 * time.Minute // for everything to come to rest
	// after it came to rest: calls of triggers that were lost are made good by the poll.
	oddWait  = 3 * time.Minute
	settling = 500 * time.Millisecond

	// What the last fault left behind may still come twice, when a lease of its is over:
	// books that balance have to do so again that long after it.
	afterwards = 10 * time.Second

	// In a hurry the same by rounds: how many until everything has to be at rest, and how
	// long each is at the most.
	rounds = 8
	round  = 4 * time.Second
)

// peace is what goes on after the last fault.
type peace struct {
	*sheet
	w        *world
	began    time.Time
	quiet    time.Time // since when nothing is left to be done; zero: something is
	balanced time.Time // when the books balanced first, and have since; zero: they do not
	rounds   int       // that have passed in a hurry
	turned   time.Time // when the last one began
	first    int       // the round in which the books balanced first
	told     bool      // the postscript is written
}

// settle waits until everything has come to rest and the books balance, and do so again
// when what may come late has come; or will not. The books are there in the end, whatever
// ended it.
func (s *sheet) settle(ctx context.Context, w *world) error {
	p := &peace{sheet: s, w: w, began: time.Now(), turned: time.Now()}
	for {
		over, err := p.look(ctx)
		if err == nil && over {
			return s.count(ctx, w)
		}
		if err == nil {
			err = sleep(ctx, settling)
		}
		if err == nil && w.Hurry && time.Since(p.turned) > round {
			err = p.turn(ctx)
		}
		if err != nil {
			return p.broken(ctx, err)
		}
	}
}

// look looks whether it is over.
func (p *peace) look(ctx context.Context) (over bool, err error) {
	held, err := p.w.still(ctx)
	if err != nil {
		return false, err
	}
	late := time.Since(p.began) > restWait || p.rounds > rounds
	if held != "" && !late {
		p.quiet, p.balanced = time.Time{}, time.Time{}
		p.last(held)
		return false, nil
	}
	if p.quiet.IsZero() {
		p.quiet = time.Now()
	}
	if !p.balanced.IsZero() && !p.again() {
		return false, nil
	}
	if err := p.balances(ctx); err != nil {
		return false, err
	}
	switch {
	case held != "":
		p.balance.wrong("work is left: %s", p.w.left(ctx))
		return true, nil
	case late, time.Since(p.quiet) > oddWait:
		return true, nil
	case p.balance.Late > 0:
		p.balanced = time.Time{}
		p.last(p.balance.Wrong[0])
		return false, nil
	case p.balanced.IsZero():
		p.even()
		return false, nil
	}
	return true, nil
}

// last notes what came to rest, until the books balance first.
func (p *peace) last(held string) {
	if p.converged == 0 {
		p.held = held
	}
}

// even notes that the books balance, and has the postscript written when it may be.
func (p *peace) even() {
	if p.converged == 0 {
		p.converged = time.Since(p.began)
	}
	if !p.w.Hurry && !p.told {
		if p.postscripts, p.told = p.w.postscript(); p.told {
			p.quiet = time.Now()
		}
		return
	}
	p.balanced, p.first = time.Now(), p.rounds
}

// again: what may come late has come.
func (p *peace) again() bool {
	if p.w.Hurry {
		return p.rounds > p.first
	}
	return time.Since(p.balanced) > p.w.Lease+afterwards
}

func (p *peace) balances(ctx context.Context) error {
	b, err := p.w.books(ctx)
	if err != nil {
		return err
	}
	p.balance = b.Balance()
	return nil
}

// turn lets time pass, for the next round.
func (p *peace) turn(ctx context.Context) error {
	err := p.w.elapse(ctx)
	p.turned = time.Now()
	p.rounds++
	return err
}

// broken says where it stands when something ended the peace before its time.
func (p *peace) broken(ctx context.Context, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTime)
	defer cancel()
	if worse := p.balances(ctx); worse != nil {
		return fmt.Errorf("%w; %w; left is %s", err, worse, p.w.left(ctx))
	}
	p.balance.wrong("the peace was broken off: %v; left is %s", err, p.w.left(ctx))
	return err
}
