package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"supportbot/shared/backend"
	"supportbot/shared/postgres/schema"
	"supportbot/shared/sandbox"
)

// stores are the embedded databases that were started.
type stores struct {
	servers []*backend.Server
	remove  string // a folder that goes with the process
}

// openStores starts what the environment does not name, with the durability of
// production, and brings the database to the newest schema. The stand-ins begin
// anew with each run, and so does what was stored about them; with real services
// the data stays. where says so in words.
func openStores(ctx context.Context, vars variables, fakes *sandbox.Running) (started stores, where string, err error) {
	dir, where := dataDir, "its data stays in "+dataDir
	if fakes.Telegram != nil || fakes.VK != nil || fakes.Tracker != nil {
		if dir, err = os.MkdirTemp("", "supportbot-"); err != nil {
			return started, "", fmt.Errorf("make data folder: %w", err)
		}
		if err = os.Chmod(dir, 0o755); err != nil { // the database runs as another user
			return started, "", fmt.Errorf("open data folder: %w", err)
		}
		started.remove, where = dir, "the sandbox's data goes with it"
	}
	start := func(name, variable string, open func(context.Context, backend.Options) (*backend.Server, error)) error {
		s, err := open(ctx, backend.Options{Durable: true, Dir: filepath.Join(dir, name)})
		if err != nil {
			return err
		}
		started.servers = append(started.servers, s)
		vars[variable] = s.URL()
		return nil
	}
	if vars.or("DATABASE_URL", "") == "" {
		err = start("postgres", "DATABASE_URL", backend.Postgres)
	}
	if err == nil && vars.or("REDIS_URL", "") == "" {
		err = start("redis", "REDIS_URL", backend.Redis)
	}
	if err == nil {
		if err = schema.Migrate(ctx, vars.or("DATABASE_URL", "")); err != nil {
			err = fmt.Errorf("prepare database: %w", err)
		}
	}
	if err != nil {
		started.close()
		return stores{}, "", err
	}
	return started, where, nil
}

func (s stores) close() {
	var problems []error
	for _, server := range s.servers {
		problems = append(problems, server.Close())
	}
	if s.remove != "" {
		problems = append(problems, os.RemoveAll(s.remove))
	}
	if err := errors.Join(problems...); err != nil {
		fmt.Println("stop databases:", err)
	}
}
