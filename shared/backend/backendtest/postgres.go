package backendtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/backend"
)

// Migrate brings an empty database up to date. It has to be a top-level function
// (postgres.Migrate), which is what templates are told apart by, and must have
// closed its connections when it returns.
type Migrate func(ctx context.Context, dsn string) error

const dbTimeout = time.Minute

// Postgres gives the DSN of a fresh, migrated database, dropped after the test
// together with whatever is still connected to it. A nil migrate leaves it empty.
//
// TEST_DATABASE_URL names another server to use, with a role that may create
// databases; there each database is migrated by itself.
func Postgres(tb testing.TB, migrate Migrate) string {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), dbTimeout)
	defer cancel()
	if foreign := os.Getenv("TEST_DATABASE_URL"); foreign != "" {
		dsn := createDatabase(ctx, tb, foreign, "")
		if migrate != nil {
			require(tb, migrate(ctx, dsn))
		}
		return dsn
	}
	server := process.postgres.get(tb).URL()
	name, err := process.templates.get(ctx, server, migrate)
	require(tb, err)
	return createDatabase(ctx, tb, server, name)
}

func createDatabase(ctx context.Context, tb testing.TB, server, template string) string {
	tb.Helper()
	name := databaseName("test")
	query := "CREATE DATABASE " + name
	if template != "" {
		// In memory copying files is twice as fast as writing the copy to the log.
		query += " TEMPLATE " + template + " STRATEGY FILE_COPY"
	}
	require(tb, execute(ctx, server, query))
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), dbTimeout)
		defer cancel()
		if err := execute(ctx, server, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
			tb.Errorf("drop database of test: %v", err)
		}
	})
	return withDatabase(server, name)
}

// templates are the migrated databases by the function that made them.
type templates struct {
	mu   sync.Mutex
	made map[uintptr]string
}

func (t *templates) get(ctx context.Context, server string, migrate Migrate) (string, error) {
	if migrate == nil {
		return "template0", nil
	}
	key := reflect.ValueOf(migrate).Pointer()
	t.mu.Lock()
	defer t.mu.Unlock()
	if name, ok := t.made[key]; ok {
		return name, nil
	}
	name := databaseName("template")
	if err := execute(ctx, server, "CREATE DATABASE "+name); err != nil {
		return "", fmt.Errorf("create template: %w", err)
	}
	if err := migrate(ctx, withDatabase(server, name)); err != nil {
		return "", fmt.Errorf("migrate template: %w", err)
	}
	// Closed connections linger a moment; a template has to have none.
	err := execute(ctx, server,
		"ALTER DATABASE "+name+" ALLOW_CONNECTIONS false",
		"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '"+name+"'")
	if err != nil {
		return "", fmt.Errorf("close template: %w", err)
	}
	if t.made == nil {
		t.made = map[uintptr]string{}
	}
	t.made[key] = name
	return name, nil
}

// execute uses a connection for these statements alone, so that nothing is left
// open between tests.
func execute(ctx context.Context, server string, statements ...string) error {
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Close(ctx)
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
	}
	return nil
}

var databases atomic.Int64

// databaseName is unique on a server that several processes use too.
func databaseName(kind string) string {
	return fmt.Sprintf("supportbot_%s_%d_%d_%d", kind, os.Getpid(), time.Now().Unix(), databases.Add(1))
}

func withDatabase(server, name string) string {
	u, err := url.Parse(server)
	if err != nil {
		return server
	}
	u.Path = "/" + name
	return u.String()
}

// process holds what a test process starts once. It is the one global of the
// project: tests of a package have nothing else in common.
var process = struct {
	postgres   shared
	redis      shared
	clickhouse shared
	templates  templates
	numbers    numbers
}{
	postgres: shared{start: backend.Postgres}, redis: shared{start: backend.Redis}, clickhouse: shared{start: backend.ClickHouse},
}

// keep holds the pipes of removeAfter open.
var keep sync.Map
