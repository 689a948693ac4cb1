package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	analyticsloader "supportbot/functions/analytics-loader/wire"
	migrate "supportbot/functions/migrate/wire"
	"supportbot/shared/backend"
	"supportbot/shared/clickhouse"
	"supportbot/shared/env"
	"supportbot/shared/obs"
	"supportbot/shared/queue/trigger"
	"supportbot/shared/ycf"
)

const (
	loadEvery   = time.Minute // a person watches; in the cloud it is an hour
	loadTimeout = 10 * time.Minute
	lookEvery   = 5 * time.Second // for a ClickHouse that is still being fetched
)

// reserveAnalytics gives the ClickHouse that will be started an address, so that
// everybody can know it before it is there.
func reserveAnalytics(vars variables) (port int, err error) {
	if vars.or("CLICKHOUSE_URL", "") != "" {
		return 0, nil
	}
	if port, err = backend.FreePort(); err != nil {
		return 0, err
	}
	vars["CLICKHOUSE_URL"] = fmt.Sprintf("http://default@127.0.0.1:%d/default", port)
	return port, nil
}

// analytics starts ClickHouse in dir, unless the environment names one (port 0), and
// loads until ctx ends. The platform neither waits for it nor needs it.
func analytics(ctx context.Context, vars variables, dir string, port int) {
	log := logger("analytics-loader")
	if port != 0 {
		server, err := startClickHouse(ctx, filepath.Join(dir, "clickhouse"), port, log)
		if err != nil {
			log.ErrorContext(ctx, "there are no analytics", slog.Any(obs.Error, err))
			return
		}
		if server == nil {
			return
		}
		defer func() { _ = server.Close() }()
	}
	if err := load(ctx, vars, log); err != nil && ctx.Err() == nil {
		log.ErrorContext(ctx, "there are no analytics", slog.Any(obs.Error, err))
	}
}

// startClickHouse waits until it is installed; nil when ctx ended before.
func startClickHouse(ctx context.Context, dir string, port int, log *slog.Logger) (*backend.Server, error) {
	for said := false; ; said = true {
		server, err := backend.ClickHouse(ctx, backend.Options{Durable: true, Dir: dir, Port: port})
		if !errors.Is(err, backend.ErrNotInstalled) {
			return server, err
		}
		if !said {
			log.WarnContext(ctx, "there are no analytics yet, they begin by themselves", slog.Any(obs.Error, err))
		}
		select {
		case <-ctx.Done():
			return nil, nil
		case <-time.After(lookEvery):
		}
	}
}

// load brings the schema up to date and runs the function as its timer does.
func load(ctx context.Context, vars variables, log *slog.Logger) error {
	e := env.NewReaderFrom(vars.get)
	cfg := clickhouse.ConfigFrom(e)
	if err := e.Err(); err != nil {
		return err
	}
	if err := migrate.Analytics(ctx, cfg); err != nil {
		return err
	}
	f, err := analyticsloader.New(env.NewReaderFrom(vars.get), log, nil)
	if err != nil {
		return err
	}
	defer f.Close()
	timer := trigger.Timer{Name: "analytics-loader", Every: loadEvery, Timeout: loadTimeout, Log: logger("timer"),
		Handle: func(ctx context.Context, ev *ycf.TimerEvent) error {
			_, err := f.Handle(ctx, []byte(ev.Payload()))
			return err
		}}
	timer.Run(ctx)
	return nil
}
