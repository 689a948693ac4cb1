package gauge

import (
	"context"
	"errors"
	"log/slog"
)

// Source measures a part of the platform. What it gives beside an error counts.
type Source func(ctx context.Context) ([]Sample, error)

// Service is the duty that measures.
type Service struct {
	Sources []Source
	Store   interface {
		PutGauges(ctx context.Context, samples []Sample) error
	}
	Log *slog.Logger
}

// Run measures, writes one line to the log and keeps the reading. A source that fails
// costs only its own samples.
func (s *Service) Run(ctx context.Context) (samples int, err error) {
	all := []Sample{}
	var problems []error
	for _, source := range s.Sources {
		some, err := source(ctx)
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
