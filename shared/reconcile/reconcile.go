// Package reconcile runs the duties of the timer: what was lost, forgotten or left
// half-done is found here and goes on. Each duty has one holder at a time, its own
// share of the time, and no influence on the others.
package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"supportbot/shared/obs"
	"supportbot/shared/ycf"
)

// Duty is one thing to be done regularly. Count is for the log.
type Duty struct {
	Name string
	Time time.Duration // at most this long
	Run  func(ctx context.Context) (count int, err error)
}

// Service runs duties in their order, the urgent ones first.
type Service struct {
	Duties []Duty
	Leases interface {
		// Duty runs f if nobody else does this duty now.
		Duty(ctx context.Context, name string, lease time.Duration, f func(context.Context) error) (done bool, err error)
	}
	Log *slog.Logger
}

// Handle does every duty once. The error says which ones failed; the timer comes
// again anyway.
func (s *Service) Handle(ctx context.Context, _ *ycf.TimerEvent) error {
	var problems []error
	for _, d := range s.Duties {
		if err := s.run(ctx, d); err != nil {
			problems = append(problems, fmt.Errorf("duty %s: %w", d.Name, err))
		}
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

func (s *Service) run(ctx context.Context, d Duty) error {
	start, count := time.Now(), 0
	done, err := s.Leases.Duty(ctx, d.Name, d.Time, func(ctx context.Context) (err error) {
		return ycf.Guard(func() error {
			count, err = d.Run(ctx)
			return err
		})
	})
	if done && (count > 0 || err != nil) {
		s.Log.InfoContext(ctx, "duty", slog.String("duty", d.Name), slog.Int("count", count),
			slog.Int64(obs.Duration, time.Since(start).Milliseconds()), slog.Bool("ok", err == nil))
	}
	return err
}
