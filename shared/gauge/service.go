package gauge

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"
)

// Source measures a part of the platform. What it gives beside an error counts.
type Source func(ctx context.Context) ([]Sample, error)

// Service is the duty that measures.
type Service struct {
	Sources []Source
	Store   interface {
		PutGauges(ctx context.Context, samples []Sample) error
	}
	// Limit is how long one source may take; 0: two seconds.
	Limit time.Duration
	Log   *slog.Logger
}

const sourceLimit = 2 * time.Second

// Run measures, writes one line to the log and keeps the reading. A source that fails,
// or does not answer, costs only its own samples.
func (s *Service) Run(ctx context.Context) (samples int, err error) {
	all := []Sample{}
	var problems []error
	for _, source := range s.Sources {
		some, err := s.ask(ctx, source)
		all, problems = append(all, some...), append(problems, err)
	}
	values := make(map[string]float64, len(all))
	for _, sample := range all {
		values[sample.Key()] = sample.Value
	}
	s.Log.InfoContext(ctx, "gauges", slog.Any("gauges", values))
	problems = append(problems, s.Store.PutGauges(ctx, all))
	return len(all), errors.Join(problems...)
}

func (s *Service) ask(ctx context.Context, source Source) ([]Sample, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(s.Limit, sourceLimit))
	defer cancel()
	return source(ctx)
}
