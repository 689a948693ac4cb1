// Package wire puts the loader of analytics together. It links neither messengers
// nor the queue, which a load has no use for.
package wire

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"supportbot/shared/analytics/loader"
	"supportbot/shared/catalogue"
	"supportbot/shared/clickhouse"
	"supportbot/shared/env"
	"supportbot/shared/news"
	"supportbot/shared/pace"
	"supportbot/shared/postgres"
	"supportbot/shared/redisdb"
	v3 "supportbot/shared/tracker/v3"
)

// Function is the loader with what it has opened.
type Function struct {
	loader *loader.Loader
	close  []func()
}

// New opens the parts; it calls nobody yet. hook is called after each step of a load
// (loader.Points); nil outside crash tests.
func New(e *env.Reader, log *slog.Logger, hook func(point string)) (*Function, error) {
	cfg := config{
		db: postgres.ConfigFrom(e), redis: redisdb.ConfigFrom(e), clickhouse: clickhouse.ConfigFrom(e),
		tracker: v3.ConfigFrom(e), pace: pace.ConfigFrom(e), book: catalogue.ConfigFrom(e), prefix: e.String("REPLY_PREFIX", "/reply"),
	}
	if err := e.Err(); err != nil {
		return nil, err
	}
	f := &Function{}
	if err := f.open(cfg, log, hook); err != nil {
		f.Close() // the next call opens all of it anew
		return nil, err
	}
	return f, nil
}

// config is what the parts are made of.
type config struct {
	db         postgres.Config
	redis      redisdb.Config
	clickhouse clickhouse.Config
	tracker    v3.Config
	pace       pace.Config
	book       catalogue.Config
	prefix     string
}

func (f *Function) open(cfg config, log *slog.Logger, hook func(string)) error {
	db, err := postgres.Open(cfg.db)
	if err != nil {
		return err
	}
	f.close = append(f.close, db.Close)
	redis, err := redisdb.Open(cfg.redis)
	if err != nil {
		return err
	}
	f.close = append(f.close, func() { _ = redis.Close() })
	rows, err := clickhouse.Open(cfg.clickhouse)
	if err != nil {
		return err
	}
	f.close = append(f.close, func() { _ = rows.Close() })
	limiter := pace.New(cfg.pace, redisdb.NewPace(redis, redisdb.PaceConfig{}), log)
	live, err := f.tracker(cfg.tracker, limiter.Class(pace.Loads))
	if err != nil {
		return err
	}
	history, err := f.tracker(cfg.tracker, limiter.Class(pace.History))
	if err != nil {
		return err
	}
	book, err := catalogue.Load(cfg.book)
	if err != nil {
		return fmt.Errorf("load catalogue: %w", err)
	}
	f.loader = loader.New(loader.Deps{
		Live: live, History: history, Records: db, Store: rows, Rule: &news.Rule{Prefix: cfg.prefix, Myself: live.Myself},
		Catalogue: book, Log: log, Now: time.Now, Clock: db.Now, Hook: hook,
	})
	return nil
}

func (f *Function) tracker(cfg v3.Config, limiter *pace.Limiter) (*v3.Client, error) {
	cfg.Pace, cfg.Refused = limiter.Tracker, limiter.TrackerRefused
	c, err := v3.New(cfg)
	if err == nil {
		f.close = append(f.close, c.Close)
	}
	return c, err
}

// Handle does what the event of a call asks for.
func (f *Function) Handle(ctx context.Context, event []byte) (loader.Report, error) {
	req, err := loader.ParseRequest(event)
	if err != nil {
		return loader.Report{}, err
	}
	if req.Since.IsZero() {
		return f.loader.Live(ctx)
	}
	return f.loader.Since(ctx, req.Since)
}

// Close closes what was opened.
func (f *Function) Close() {
	for _, c := range f.close {
		c()
	}
}
