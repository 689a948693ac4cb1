// Package clickhousetest gives each test a database of its own on a real ClickHouse.
package clickhousetest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/clickhouse"
	"supportbot/shared/env"
)

// New gives a client of a fresh, migrated database, dropped after the test, and its
// URL. The package's TestMain has to begin with backend.ServeClickHouse.
//
// CLICKHOUSE_URL names another server to use, with a user who may create databases.
func New(tb testing.TB) (db *clickhouse.DB, address string) {
	tb.Helper()
	address = Empty(tb)
	db = Open(tb, address)
	if err := db.Migrate(context.Background()); err != nil {
		tb.Fatal(err)
	}
	return db, address
}

// Empty gives the URL of a fresh database without tables, dropped after the test.
func Empty(tb testing.TB) string {
	tb.Helper()
	server := os.Getenv("CLICKHOUSE_URL")
	if server == "" {
		server = backendtest.ClickHouse(tb).URL()
	}
	return Database(tb, server)
}

var databases atomic.Int64

// Database makes a database on a server, dropped after the test.
func Database(tb testing.TB, server string) string {
	tb.Helper()
	name := fmt.Sprintf("test_%d_%d_%d", os.Getpid(), time.Now().Unix(), databases.Add(1))
	admin := Open(tb, server)
	if err := admin.Exec(context.Background(), "CREATE DATABASE "+name); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := admin.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" SYNC"); err != nil {
			tb.Errorf("drop database of test: %v", err)
		}
	})
	u, err := url.Parse(server)
	if err != nil {
		tb.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

// Open opens a database for this test.
func Open(tb testing.TB, address string) *clickhouse.DB {
	tb.Helper()
	db, err := clickhouse.Open(clickhouse.Config{URL: env.NewSecret(address)})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = db.Close() })
	return db
}

// Rows gives what a query selects, a line for each row in the order of the lines.
func Rows(tb testing.TB, db *clickhouse.DB, query string) (lines []string) {
	tb.Helper()
	res, err := db.Select(context.Background(), "SELECT toString(tuple(q.*)) AS line FROM ("+query+") q ORDER BY line", nil)
	if err != nil {
		tb.Fatal(err)
	}
	for _, row := range res.Rows {
		var line string
		if err := json.Unmarshal(row[0], &line); err != nil {
			tb.Fatal(err)
		}
		lines = append(lines, line)
	}
	return lines
}
