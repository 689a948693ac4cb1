package job

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"supportbot/shared/obs"
)

// Lease is how long whoever works on a lane keeps it unheard of, unless it is told
// otherwise (Worker.Lease).
const Lease = 60 * time.Second

// RenewEvery is how often a lease of that length is renewed.
func RenewEvery(lease time.Duration) time.Duration { return lease / 3 }

// leaseMargin is how much of the lease an external call must find left.
const leaseMargin = 5 * time.Second

// Clock reads the process's two clocks. A frozen instance stops the monotonic
// one, an adjusted machine moves the wall clock: a lease counts as over when
// either says so.
type Clock struct {
	Mono func() time.Duration
	Wall func() time.Time
}

// SystemClock is the clock of the machine.
func SystemClock() Clock {
	start := time.Now()
	return Clock{
		Mono: func() time.Duration { return time.Since(start) },
		Wall: func() time.Time { return time.Now().Round(0) },
	}
}

// instant is one moment on both clocks.
type instant struct {
	mono time.Duration
	wall time.Time
}

func (c Clock) now() instant { return instant{c.Mono(), c.Wall()} }

// lease is the right to work on a lane, as its holder sees it.
type lease struct {
	clock Clock
	lasts time.Duration
	lane  string
	token string

	mu    sync.Mutex
	asked instant // before the last successful claim or renewal was asked for
}

// valid reports whether enough of the lease is left to start an external call.
func (l *lease) valid() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.now()
	left := l.lasts - leaseMargin
	return now.mono-l.asked.mono < left && now.wall.Sub(l.asked.wall) < left
}

func (l *lease) extended(asked instant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = asked
}

type renewal func(ctx context.Context, lane, token string) error

// keep renews the lease until ctx ends. When a renewal fails, lost is called: the
// work must not go on. A store that cannot be reached, or does not answer until
// the next tick, is asked again as long as the lease is good.
func (l *lease) keep(ctx context.Context, every <-chan time.Time, renew renewal, log *slog.Logger, lost func(error)) {
	due := false
	for {
		if !due {
			select {
			case <-ctx.Done():
				return
			case <-every:
			}
		}
		var err error
		due, err = l.renew(ctx, every, renew)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return
		case errors.Is(err, ErrLost), !l.valid():
			lost(err)
			return
		default:
			log.WarnContext(ctx, "lease renewal failed", slog.String(obs.Lane, l.lane), slog.Any(obs.Error, err))
		}
	}
}

// renew asks for one renewal and gives it up at the next tick; due reports that.
func (l *lease) renew(ctx context.Context, every <-chan time.Time, renew renewal) (due bool, err error) {
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	asked := l.clock.now()
	answer := make(chan error, 1)
	go func() { answer <- renew(ctx, l.lane, l.token) }()
	select {
	case err = <-answer:
	case <-every:
		due = true
		giveUp()
		err = <-answer
	}
	if err == nil {
		l.extended(asked)
	}
	return due, err
}
