package bench

import (
	"context"
	"encoding/gob"
	"io"
	"log/slog"
	"time"

	"supportbot/shared/analytics"
	"supportbot/shared/analytics/loader"
	"supportbot/shared/catalogue"
	"supportbot/shared/clickhouse"
	"supportbot/shared/env"
	"supportbot/shared/news"
	"supportbot/shared/obs"
	"supportbot/shared/pace"
	"supportbot/shared/postgres"
	"supportbot/shared/redisdb"
	v3 "supportbot/shared/tracker/v3"
)

// block is what one insert brings: rows of one table.
type block struct {
	Events  []analytics.Event
	Agents  []analytics.Agent
	Tickets []analytics.Ticket
	Loaded  time.Time
}

func (b block) rows() int { return len(b.Events) + len(b.Agents) + len(b.Tickets) }

func (b block) insert(ctx context.Context, db *clickhouse.DB) error {
	switch {
	case b.Events != nil:
		return db.InsertEvents(ctx, b.Events)
	case b.Agents != nil:
		return db.InsertAgents(ctx, b.Agents)
	}
	return db.InsertTickets(ctx, b.Tickets, b.Loaded)
}

// ledger is a loader's store that takes the time and keeps a copy of each block. The
// loader uses it from one goroutine at a time.
type ledger struct {
	*clickhouse.DB
	copies *gob.Encoder

	rows, blocks                      int
	known, inserting, noting, copying time.Duration
	atTickets                         time.Time // when tickets were in, last
}

// InsertEvents implements loader.Store.
func (l *ledger) InsertEvents(ctx context.Context, events []analytics.Event) error {
	return l.insert(ctx, block{Events: events})
}

// InsertAgents implements loader.Store.
func (l *ledger) InsertAgents(ctx context.Context, agents []analytics.Agent) error {
	return l.insert(ctx, block{Agents: agents})
}

// InsertTickets implements loader.Store.
func (l *ledger) InsertTickets(ctx context.Context, tickets []analytics.Ticket, at time.Time) error {
	return l.insert(ctx, block{Tickets: tickets, Loaded: at})
}

func (l *ledger) insert(ctx context.Context, b block) error {
	if b.rows() == 0 {
		return nil
	}
	began := time.Now()
	if err := b.insert(ctx, l.DB); err != nil {
		return err
	}
	in := time.Now()
	l.inserting += in.Sub(began)
	l.rows += b.rows()
	l.blocks++
	err := l.copies.Encode(b)
	l.copying += time.Since(in)
	return err
}

// Known implements loader.Store.
func (l *ledger) Known(ctx context.Context, issues []string, since time.Time) (map[analytics.Version]bool, error) {
	began := time.Now()
	defer func() { l.known += time.Since(began) }()
	return l.DB.Known(ctx, issues, since)
}

// step is the loader's hook.
func (l *ledger) step(point string) {
	switch point {
	case "tickets":
		l.atTickets = time.Now()
	case "advanced":
		l.noting += time.Since(l.atTickets)
	}
}

// loader opens what the function of analytics-loader opens, with the ledger between
// it and ClickHouse.
func (l *ledger) loader(e *env.Reader) (_ *loader.Loader, done func(), err error) {
	var opened []func()
	done = func() {
		for _, c := range opened {
			c()
		}
	}
	defer func() {
		if err != nil {
			done()
		}
	}()
	log := obs.NewLogger(io.Discard, "analytics-loader", slog.LevelInfo)
	db, err := postgres.Open(postgres.ConfigFrom(e))
	if err != nil {
		return nil, nil, err
	}
	opened = append(opened, db.Close)
	redis, err := redisdb.Open(redisdb.ConfigFrom(e))
	if err != nil {
		return nil, nil, err
	}
	opened = append(opened, func() { _ = redis.Close() })
	if l.DB, err = clickhouse.Open(clickhouse.ConfigFrom(e)); err != nil {
		return nil, nil, err
	}
	opened = append(opened, func() { _ = l.DB.Close() })
	limiter := pace.New(pace.ConfigFrom(e), redisdb.NewPace(redis, redisdb.PaceConfig{}), log).Class(pace.History)
	cfg := v3.ConfigFrom(e)
	cfg.Pace, cfg.Refused = limiter.Tracker, limiter.TrackerRefused
	tracker, err := v3.New(cfg)
	if err != nil {
		return nil, nil, err
	}
	opened = append(opened, tracker.Close)
	book, err := catalogue.Load(catalogue.ConfigFrom(e))
	if err != nil {
		return nil, nil, err
	}
	return loader.New(loader.Deps{
		Live: tracker, History: tracker, Records: db, Store: l, Rule: &news.Rule{Prefix: "/reply", Myself: tracker.Myself},
		Catalogue: book, Log: log, Now: time.Now, Hook: l.step,
	}), done, e.Err()
}
