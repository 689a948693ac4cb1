// Package backendtest gives each test a real database of its own: one PostgreSQL
// and one Redis are started per test process, in memory, and die with it.
//
// A machine without the binaries skips the test with the reason; where CI=true it
// fails, and nothing else stands in.
package backendtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/backend"
)

const startTimeout = 2 * time.Minute

// once starts one server per process and remembers how that went.
type once struct {
	sync.Once
	server *backend.Server
	url    string
	err    error
}

var (
	postgres once
	redis    once
	bases    atomic.Int64
)

// Postgres gives the address of a fresh database at the newest schema, dropped
// after the test. Every test of a process passes the same migrate. With
// TEST_DATABASE_URL set that server is used instead of a started one.
func Postgres(tb testing.TB, migrate func(ctx context.Context, url string) error) string {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	postgres.Do(func() { postgres.err = postgres.startPostgres(ctx, migrate) })
	need(tb, postgres.err)
	name := fmt.Sprintf("t%d_%d", os.Getpid(), bases.Add(1))
	must(tb, exec(ctx, postgres.url, fmt.Sprintf("CREATE DATABASE %s TEMPLATE %s STRATEGY FILE_COPY", name, template())))
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		if err := exec(ctx, postgres.url, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			tb.Logf("drop database: %v", err)
		}
	})
	return database(postgres.url, name)
}

func (o *once) startPostgres(ctx context.Context, migrate func(context.Context, string) error) error {
	o.url = os.Getenv("TEST_DATABASE_URL")
	if o.url == "" {
		server, err := backend.Postgres(ctx, backend.Options{})
		if err != nil {
			return err
		}
		o.server, o.url = server, server.URL()
	}
	if err := exec(ctx, o.url, "CREATE DATABASE "+template()); err != nil {
		return err
	}
	return migrate(ctx, database(o.url, template()))
}

// Redis gives a client's address (redis://...) of a Redis that this process has
// for itself. Tests of one process share it: they tell themselves apart by their
// keys (bot and chat ids), or use RedisServer.
func Redis(tb testing.TB) string {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	redis.Do(func() {
		if redis.url = os.Getenv("TEST_REDIS_URL"); redis.url == "" {
			if redis.server, redis.err = backend.Redis(ctx, backend.Options{}); redis.err == nil {
				redis.url = redis.server.URL()
			}
		}
	})
	need(tb, redis.err)
	return redis.url
}

// RedisServer starts a Redis for this test alone, to be stopped, wiped or killed.
func RedisServer(tb testing.TB, opts backend.Options) *backend.Server {
	tb.Helper()
	return own(tb, func(ctx context.Context) (*backend.Server, error) { return backend.Redis(ctx, opts) })
}

// PostgresServer starts a PostgreSQL for this test alone, at the newest schema.
func PostgresServer(tb testing.TB, opts backend.Options, migrate func(ctx context.Context, url string) error) *backend.Server {
	tb.Helper()
	return own(tb, func(ctx context.Context) (*backend.Server, error) {
		s, err := backend.Postgres(ctx, opts)
		if err != nil {
			return nil, err
		}
		if err := migrate(ctx, s.URL()); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		return s, nil
	})
}

// PgBouncer starts a PgBouncer in transaction mode before the database at url and
// gives the address behind it.
func PgBouncer(tb testing.TB, url string) string {
	tb.Helper()
	return own(tb, func(ctx context.Context) (*backend.Server, error) {
		return backend.PgBouncer(ctx, backend.Options{}, url)
	}).URL()
}

func own(tb testing.TB, start func(context.Context) (*backend.Server, error)) *backend.Server {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	s, err := start(ctx)
	need(tb, err)
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Logf("close backend: %v", err)
		}
	})
	return s
}

// need skips the test when a backend is not installed, except in CI.
func need(tb testing.TB, err error) {
	tb.Helper()
	if errors.Is(err, backend.ErrNotInstalled) && os.Getenv("CI") != "true" {
		tb.Skipf("skipped, no backend: %v", err)
	}
	must(tb, err)
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func template() string { return fmt.Sprintf("template_%d", os.Getpid()) }

func database(server, name string) string {
	u, err := url.Parse(server)
	if err != nil {
		return server
	}
	u.Path = "/" + name
	return u.String()
}

func exec(ctx context.Context, server, sql string) error {
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, sql); err != nil {
		return fmt.Errorf("%s: %w", sql, err)
	}
	return nil
}
