// Package reconcile runs the duties of the timer: what was lost, forgotten or left
// half-done is found here and goes on. Each duty has one holder at a time, its own
// share of the time, and no influence on the others.
package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/obs"
	"supportbot/shared/ycf"
)

// Duty is one thing to be done regularly. Count is for the log.
type Duty struct {
	Name  string
	Time  time.Duration // at most this long
	Run   func(ctx context.Context) (count int, err error)
	Quiet bool // it does something each time and writes a line of its own
	// Every is how long one process lets it rest; 0: it is done in each pass.
	Every time.Duration
}

// Service runs duties in their order, the urgent ones first.
type Service struct {
	Duties []Duty
	Leases interface {
		// Duty runs f if nobody else does this duty now.
		Duty(ctx context.Context, name string, lease time.Duration, f func(context.Context) error) (done bool, err error)
	}
	// Passed notes that all duties ended well, and how long they took; nil: nobody asks.
	Passed func(ctx context.Context, took time.Duration) error
	Log    *slog.Logger
	// Wall is the clock by which duties rest; nil: the machine's. A monotonic clock stands
	// still while the instance is frozen, which may be most of the time.
	Wall func() time.Time

	mu   sync.Mutex
	last map[string]time.Time // of the duties with Every: when this process began them
}

// Handle does every duty once. The error says which ones failed; the timer comes
// again anyway.
func (s *Service) Handle(ctx context.Context, _ *ycf.TimerEvent) error {
	start, wall := time.Now(), s.Wall
	if wall == nil {
		wall = job.SystemClock().Wall
	}
	var problems []error
	for _, d := range s.Duties {
		if s.rests(d, wall()) {
			continue
		}
		if err := s.run(ctx, d); err != nil {
			problems = append(problems, fmt.Errorf("duty %s: %w", d.Name, err))
		}
	}
	if problems == nil && s.Passed != nil {
		problems = append(problems, s.Passed(ctx, time.Since(start)))
	}
	err := errors.Join(problems...)
	switch {
	case err == nil:
	case errors.Is(context.Cause(ctx), context.Canceled): // somebody ends the process
		s.Log.InfoContext(ctx, "duties broken off", slog.Any(obs.Error, err))
	default:
		s.Log.ErrorContext(ctx, "duties failed", slog.Any(obs.Error, err))
	}
	return err
}

// rests: the duty was begun here a short while ago.
func (s *Service) rests(d Duty, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.Every == 0 {
		return false
	}
	if last, ok := s.last[d.Name]; ok && !now.Before(last) && now.Sub(last) < d.Every { // or the clock was set back
		return true
	}
	if s.last == nil {
		s.last = map[string]time.Time{}
	}
	s.last[d.Name] = now
	return false
}

func (s *Service) run(ctx context.Context, d Duty) error {
	start, count := time.Now(), 0
	done, err := s.Leases.Duty(ctx, d.Name, d.Time, func(ctx context.Context) (err error) {
		return ycf.Guard(func() error {
			count, err = d.Run(ctx)
			return err
		})
	})
	if done && (count > 0 && !d.Quiet || err != nil) {
		s.Log.InfoContext(ctx, "duty", slog.String("duty", d.Name), slog.Int("count", count),
			slog.Int64(obs.Duration, time.Since(start).Milliseconds()), slog.Bool("ok", err == nil))
	}
	return err
}
