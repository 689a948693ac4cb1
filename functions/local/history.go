package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	analyticsloader "supportbot/functions/analytics-loader/wire"
	"supportbot/shared/catalogue"
	"supportbot/shared/env"
	"supportbot/shared/sandbox"
	"supportbot/shared/sandbox/history"
)

const trackerRate = "TRACKER_RATE_PER_SECOND"

// standInRate is calls to the stand-in for Tracker per second: it has no limit, and a
// history of fifty thousand tickets would take hours at Tracker's.
const standInRate = "5000"

// loadSlice is how long a call of the loader may take, so that a person sees how far
// it is.
const loadSlice = 45 * time.Second

// offerHistory lets the sandbox's page make a history in the stand-in and have it
// loaded as the command load would.
func offerHistory(lookup func(string) (string, bool), p *sandbox.Past) error {
	e := env.NewReaderFrom(lookup)
	zone, cfg := e.String("TIME_ZONE", "Europe/Moscow"), catalogue.ConfigFrom(e)
	if err := e.Err(); err != nil {
		return err
	}
	book, err := catalogue.Load(cfg)
	if err != nil {
		return fmt.Errorf("load catalogue: %w", err)
	}
	if p.Zone, err = time.LoadLocation(zone); err != nil {
		return fmt.Errorf("TIME_ZONE: %w", err)
	}
	for _, c := range book.Categories {
		p.Categories = append(p.Categories, history.Category{Key: c.Key, Type: c.Type, Priority: c.Priority})
	}
	p.Load = func(ctx context.Context, since time.Time, told func(left int)) error {
		return loadHistory(ctx, lookup, since, told)
	}
	return nil
}

func loadHistory(ctx context.Context, lookup func(string) (string, bool), since time.Time, told func(left int)) error {
	event, err := json.Marshal(map[string]string{"since": since.Format(time.RFC3339)})
	if err != nil {
		return err
	}
	f, err := analyticsloader.New(env.NewReaderFrom(lookup), logger("load"), nil)
	if err != nil {
		return err
	}
	defer f.Close()
	for {
		slice, cancel := context.WithTimeout(ctx, loadSlice)
		r, err := f.Handle(slice, event)
		cancel()
		switch {
		case err != nil:
			return err
		case r.Busy:
			return errors.New("somebody else loads a history at this moment")
		case r.Done:
			return nil
		}
		told(int(r.Remaining))
	}
}
