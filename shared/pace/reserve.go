package pace

import (
	"context"
	"slices"
	"time"
)

// leastRest keeps one who waits without a place from asking all the time.
const leastRest = 10 * time.Millisecond

// ahead is how far in the future this class may reserve.
func (l *Limiter) ahead() time.Duration {
	if l.class == Answers {
		return MaxAhead
	}
	return MaxAheadBroadcasts
}

// reserve asks the process's own bucket first, then Redis, and when Redis does not
// answer the process's share.
func (l *Limiter) reserve(ctx context.Context, limits []Limit, most time.Duration) (Grant, error) {
	most = min(most, l.ahead())
	now, widest := l.cfg.Now(), widest(limits)
	if wait := l.front.wait(widest, now); wait > most {
		return Grant{Wait: wait}, nil
	}
	if l.health.asks(now) {
		g, err := l.ask(ctx, limits, most)
		if err == nil {
			if g.OK {
				l.front.count(widest, now)
			}
			return g, nil
		}
	}
	if err := over(ctx); err != nil {
		return Grant{}, err
	}
	return l.alone.reserve(l.cfg.Now(), limits, most), nil
}

// widest gives the first of the shared limits that is one; limits come with the
// widest first.
func widest(limits []Limit) Limit {
	i := slices.IndexFunc(limits, func(l Limit) bool { return l.Shared && l.Rate > 0 })
	return limits[max(i, 0)]
}

// ask asks Redis, for no longer than Patience. What a caller's own context ended
// says nothing about Redis.
func (l *Limiter) ask(ctx context.Context, limits []Limit, most time.Duration) (Grant, error) {
	short, cancel := context.WithTimeout(ctx, l.cfg.Patience)
	defer cancel()
	g, err := l.store.Reserve(short, limits, most)
	if err == nil || over(ctx) == nil {
		l.health.saw(ctx, l.cfg.Now(), err)
	}
	return g, err
}

// tell writes something into Redis that has to be known even if the caller has no
// time left. While Redis is away, only this process knows it.
func (l *Limiter) tell(ctx context.Context, write func(context.Context) error) {
	if !l.health.asks(l.cfg.Now()) {
		return
	}
	short, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.cfg.Patience)
	defer cancel()
	l.health.saw(ctx, l.cfg.Now(), write(short))
}

// wait reserves a place and sleeps until it is there. A place that is further away
// than this class may reserve is waited for without one, as long as most allows.
func (l *Limiter) wait(ctx context.Context, limits []Limit, most time.Duration) error {
	begun := l.cfg.Now()
	if end, ok := ctx.Deadline(); ok {
		most = min(most, end.Sub(begun))
	}
	for {
		left := most - l.cfg.Now().Sub(begun)
		g, err := l.reserve(ctx, limits, left)
		switch {
		case err != nil:
			return err
		case g.OK:
			return sleep(ctx, g.Wait)
		case g.Wait > left:
			return &TooLong{Wait: g.Wait}
		}
		rest := g.Wait
		if rest > l.ahead() {
			rest -= l.ahead() / 2
		}
		if err := sleep(ctx, max(rest, leastRest)); err != nil {
			return err
		}
	}
}

// over says why a context has ended. Connections see its deadline a moment before
// the context does.
func over(ctx context.Context) error {
	if end, ok := ctx.Deadline(); ok && !time.Now().Before(end) && ctx.Err() == nil {
		return context.DeadlineExceeded
	}
	return context.Cause(ctx)
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
