package bench

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"

	"supportbot/shared/backend"
	"supportbot/shared/env"
	"supportbot/shared/postgres/schema"
	"supportbot/shared/redisdb"
)

// stage is the databases of one part, in a folder of their own on disk.
type stage struct {
	dir             string
	postgres, redis *backend.Server
	clickhouse      *backend.Server // of analytics alone; else nil
	remove          func()
	runs            int // of pgbench
}

// migrated is the database that the others are copies of.
const migrated = "migrated"

func newStage(ctx context.Context, o options) (s *stage, err error) {
	s = &stage{}
	if s.dir, s.remove, err = scratch(o); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	at := func(name string) backend.Options {
		return backend.Options{Durable: true, Dir: filepath.Join(s.dir, name)}
	}
	if s.postgres, err = backend.Postgres(ctx, at("postgres")); err != nil {
		return nil, err
	}
	if s.redis, err = backend.Redis(ctx, at("redis")); err != nil {
		return nil, err
	}
	base, err := s.database(ctx, migrated, "template1")
	if err != nil {
		return nil, err
	}
	return s, schema.Migrate(ctx, base)
}

func (s *stage) close() {
	var problems []error
	for _, b := range []*backend.Server{s.postgres, s.redis, s.clickhouse} {
		if b != nil {
			problems = append(problems, b.Close())
		}
	}
	if err := errors.Join(problems...); err != nil {
		fmt.Println("stop databases:", err)
	}
	s.remove()
}

// database makes a copy of another one, to which nobody may be connected, and gives
// its address.
func (s *stage) database(ctx context.Context, name, from string) (string, error) {
	if err := execute(ctx, s.postgres.URL(), fmt.Sprintf("CREATE DATABASE %s TEMPLATE %s", name, from)); err != nil {
		return "", fmt.Errorf("make database %s: %w", name, err)
	}
	return s.address(name), nil
}

func (s *stage) drop(ctx context.Context, name string) error {
	if err := execute(ctx, s.postgres.URL(), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
		return fmt.Errorf("drop database %s: %w", name, err)
	}
	return nil
}

// forget empties Redis.
func (s *stage) forget(ctx context.Context) error {
	client, err := redisdb.Open(redisdb.Config{URL: env.NewSecret(s.redis.URL())})
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	if err := client.FlushAll(ctx).Err(); err != nil {
		return fmt.Errorf("empty Redis: %w", err)
	}
	return nil
}

func (s *stage) address(name string) string {
	u, err := url.Parse(s.postgres.URL())
	if err != nil {
		panic(err) // made by our own package
	}
	u.Path = "/" + name
	return u.String() // with a query: sslmode
}
