package bench

import (
	"context"
	"time"
)

// contender does as much as it can for about d and gives its rate per second.
type contender func(ctx context.Context, d time.Duration) (float64, error)

// contest lets the contenders take turns and gives the rates of each round. Each
// begins right after a checkpoint, so that none pays for another's pages.
func contest(ctx context.Context, o options, url string, all ...contender) ([][]float64, error) {
	rates := make([][]float64, len(all))
	for range o.rounds {
		for i, c := range all {
			if err := execute(ctx, url, "CHECKPOINT"); err != nil {
				return nil, err
			}
			rate, err := c(ctx, o.round)
			if err != nil {
				return nil, err
			}
			rates[i] = append(rates[i], rate)
		}
	}
	return rates, nil
}

// ratioOf is the median of what the rounds' rates of a are of those of b.
func ratioOf(a, b []float64) float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] / b[i]
	}
	return median(out)
}
