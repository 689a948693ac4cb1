package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/backend"
	"supportbot/shared/env"
	"supportbot/shared/postgres/schema"
	"supportbot/shared/redisdb"
	"supportbot/shared/sandbox"
)

// stores are the embedded databases that were started.
type stores struct {
	servers []*backend.Server
	dir     string // of all data
	remove  string // a folder that goes with the process
}

// embedded tells what an operator's command needs to reach the databases that were started.
func embedded(vars variables) []string {
	var set []string
	for _, name := range []string{"DATABASE_URL", "REDIS_URL"} {
		if url, ok := vars[name]; ok {
			set = append(set, name+"='"+url+"'")
		}
	}
	if set == nil {
		return nil
	}
	return []string{"For operator's commands, in another terminal: " + strings.Join(set, " ") + " go run ./functions/local jobs"}
}

// reachTime bounds the first connection to a database of one's own.
const reachTime = 10 * time.Second

// openStores starts what the environment does not name, with the durability of
// production, and brings the database to the newest schema. The stand-ins begin
// anew with each run, and so does what was stored about them; with real services
// the data stays. where says so in words.
func openStores(ctx context.Context, vars variables, fakes *sandbox.Running) (started stores, where string, err error) {
	if err := reach(ctx, vars); err != nil {
		return started, "", err
	}
	dir := dataDir
	if fakes.Telegram != nil || fakes.VK != nil || fakes.Tracker != nil {
		if dir, err = os.MkdirTemp("", "supportbot-"); err != nil {
			return started, "", fmt.Errorf("make data folder: %w", err)
		}
		if err = os.Chmod(dir, 0o755); err != nil { // the database runs as another user
			return started, "", fmt.Errorf("open data folder: %w", err)
		}
		started.remove, where = dir, "its data goes with it"
	} else if err = os.MkdirAll(dir, 0o755); err != nil {
		return started, "", fmt.Errorf("make data folder: %w", err)
	}
	started.dir = dir
	start := func(name, variable string, open func(context.Context, backend.Options) (*backend.Server, error)) error {
		s, err := open(ctx, backend.Options{Durable: true, Dir: filepath.Join(dir, name)})
		if err != nil {
			return err
		}
		started.servers = append(started.servers, s)
		vars[variable] = s.URL()
		return nil
	}
	if vars.or("DATABASE_URL", "") != "" {
		where = "its data stays in your database"
	} else if err = start("postgres", "DATABASE_URL", backend.Postgres); err == nil && where == "" {
		where = "its data stays in " + started.servers[0].Dir() // not always where it was asked to be
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

// reach connects to each database that the environment names: later, the
// platform would wait for it and try again and again.
func reach(ctx context.Context, vars variables) error {
	ctx, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	var problems []error
	if url := vars.or("DATABASE_URL", ""); url != "" {
		cfg, err := pgx.ParseConfig(url)
		if err != nil { // its text repeats the address
			problems = append(problems, errors.New("DATABASE_URL is not of the form postgres://user:password@host:port/database"))
		} else if conn, err := pgx.ConnectConfig(ctx, cfg); err != nil {
			problems = append(problems, errors.New("the database of DATABASE_URL does not answer: "+oneLine(err)))
		} else {
			problems = append(problems, conn.Close(ctx))
		}
	}
	if vars.or("REDIS_URL", "") != "" {
		client, err := redisdb.Open(redisdb.ConfigFrom(env.NewReaderFrom(vars.get)))
		if err == nil {
			err = errors.Join(client.Ping(ctx).Err(), client.Close())
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("the Redis of REDIS_URL does not answer: %w", err))
		}
	}
	return errors.Join(problems...)
}

// standsIn reports whether there are stand-ins: what was stored of them goes with them.
func (s stores) standsIn() bool { return s.remove != "" }

// unused finds databases that remember an earlier run. The stand-ins begin anew,
// with the same numbers, so that what is new would be taken for a repetition.
func unused(ctx context.Context, vars variables) error {
	conn, err := pgx.Connect(ctx, vars.or("DATABASE_URL", ""))
	if err != nil {
		return fmt.Errorf("look into database: %w", err)
	}
	var used bool
	err = conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM jobs)`, pgx.QueryExecModeSimpleProtocol).Scan(&used)
	if err = errors.Join(err, conn.Close(ctx)); err != nil {
		return fmt.Errorf("look into database: %w", err)
	}
	client, err := redisdb.Open(redisdb.ConfigFrom(env.NewReaderFrom(vars.get)))
	if err != nil {
		return err
	}
	keys, err := client.DBSize(ctx).Result()
	if err = errors.Join(err, client.Close()); err != nil {
		return fmt.Errorf("look into Redis: %w", err)
	}
	if used || keys > 0 {
		return errors.New("the databases of DATABASE_URL and REDIS_URL have to be empty for the sandbox: it begins anew with each run, " +
			"and what they remember would make it look like repetitions; leave the variables out, or name others")
	}
	return nil
}

// oneLine takes away what pgx repeats for each way to connect that it tried.
func oneLine(err error) string {
	return strings.Join(slices.Compact(strings.Split(err.Error(), "\n\t")), " ")
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
