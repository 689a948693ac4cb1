// Package backendtest gives each test its own piece of a real backend: a database
// cloned from a migrated template, a numbered database of a Redis, a pooler, a
// ClickHouse.
//
// A test process starts at most one of each, in memory, when the first test asks. They die with the process, and a small shell that outlives it
// removes their files, also after a crash. Where a backend is not installed, tests
// are skipped with the reason; with CI=true they fail.
package backendtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"supportbot/shared/backend"
)

// Goroutines are options for goleak: the backends' own goroutines, which live as long as
// the process, are no leaks, nor are idle connections of HTTP clients, which end when
// their servers see fit.
func Goroutines() []goleak.Option {
	return []goleak.Option{
		goleak.IgnoreAnyFunction("supportbot/shared/backend.(*process).run"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"),
	}
}

// shared starts a server once per process. A failure is remembered: the machine
// will not change, and each further try would cost the same time again.
type shared struct {
	start func(context.Context, backend.Options) (*backend.Server, error)
	once  sync.Once
	srv   *backend.Server
	err   error
}

func (s *shared) get(tb testing.TB) *backend.Server {
	tb.Helper()
	s.once.Do(func() {
		if s.srv, s.err = s.start(context.Background(), backend.Options{}); s.err == nil {
			s.err = removeAfter(s.srv.Dir())
		}
	})
	require(tb, s.err)
	return s.srv
}

// require ends the test if the backend could not be started.
func require(tb testing.TB, err error) {
	tb.Helper()
	if errors.Is(err, backend.ErrNotInstalled) && os.Getenv("CI") != "true" {
		tb.Skipf("skipped, needs a real backend: %v", err)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// own starts a server that belongs to one test.
func own(tb testing.TB, start func(context.Context, backend.Options) (*backend.Server, error), opts backend.Options) *backend.Server {
	tb.Helper()
	srv, err := start(context.Background(), opts)
	require(tb, err)
	if opts.Dir == "" {
		require(tb, removeAfter(srv.Dir()))
	}
	tb.Cleanup(func() {
		if err := srv.Close(); err != nil {
			tb.Error(err)
		}
	})
	return srv
}

// PostgresServer starts a PostgreSQL for this test alone, which may stop, kill and
// start it.
func PostgresServer(tb testing.TB, opts backend.Options) *backend.Server {
	tb.Helper()
	return own(tb, backend.Postgres, opts)
}

// RedisServer starts a Redis for this test alone, which may stop, kill, wipe and
// start it.
func RedisServer(tb testing.TB, opts backend.Options) *backend.Server {
	tb.Helper()
	return own(tb, backend.Redis, opts)
}

// PgBouncer starts a pooler in transaction mode before the database of dsn, for
// this test, and gives the DSN by way of it.
func PgBouncer(tb testing.TB, dsn string) string {
	tb.Helper()
	start := func(ctx context.Context, opts backend.Options) (*backend.Server, error) {
		return backend.PgBouncer(ctx, opts, dsn)
	}
	return own(tb, start, backend.Options{}).URL()
}

// removeAfter leaves a shell behind that removes dir once this process is gone:
// its standard input ends then, whatever the process died of. It is out of reach
// of the terminal's signals.
func removeAfter(dir string) error {
	const script = `read -r _; for i in 1 2 3 4 5 6 7 8 9 10; do rm -rf "$1" 2>/dev/null && exit; sleep 0.5; done`
	cmd := exec.Command("/bin/sh", "-c", script, "sh", dir)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("watch folder: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("watch folder: %w", err)
	}
	keep.Store(dir, pipe)
	return nil
}
