package operate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	analyticsloader "supportbot/functions/analytics-loader/wire"
	"supportbot/shared/analytics/loader"
)

// loadTime is how long one call of the loader may take, as in the cloud.
const loadTime = 10 * time.Minute

// load loads the history of tickets, call by call as the deployment would, until all
// is in. It may be broken off at any time and started again.
func (o *Operator) load(ctx context.Context, args []string) error {
	if len(args) != 2 || args[0] != "--since" {
		return fmt.Errorf("%w: since when?", ErrUsage)
	}
	since, err := loader.ParseSince(args[1])
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUsage, err)
	}
	event, err := json.Marshal(map[string]string{"since": since.Format(time.RFC3339)})
	if err != nil {
		return err
	}
	f, err := analyticsloader.New(o.Env, slog.New(slog.NewTextHandler(o.Out, &slog.HandlerOptions{Level: slog.LevelWarn})), nil)
	if err != nil {
		return err
	}
	defer f.Close()
	for {
		r, err := o.loadOnce(ctx, f, event)
		switch {
		case err != nil:
			return err
		case r.Busy:
			return errors.New("somebody else loads the history at this moment: try again when that is over")
		case r.Done:
			o.say("everything since %s is loaded", since.Format(clock))
			return nil
		}
	}
}

func (o *Operator) loadOnce(ctx context.Context, f *analyticsloader.Function, event []byte) (loader.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	r, err := f.Handle(ctx, event)
	if err != nil || r.Busy {
		return r, err
	}
	o.say("%d tickets (%d rows), %d were in; %.1f a second", r.Tickets, r.Rows, r.Known, r.PerSecond)
	if r.Gone+r.Incomplete+r.Owed > 0 {
		o.say("  %d are gone, %d cannot be counted, %d are left to the next load", r.Gone, r.Incomplete, r.Owed)
	}
	switch {
	case r.Remaining > 0 && r.EndsAt.IsZero():
		o.say("  %d to go", r.Remaining)
	case r.Remaining > 0:
		o.say("  %d to go, until about %s", r.Remaining, r.EndsAt.Local().Format(clock))
	}
	return r, nil
}
