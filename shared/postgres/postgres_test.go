package postgres_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/env"
	"supportbot/shared/postgres"
	"supportbot/shared/postgres/schema"
)

// open gives a store on a database of the test's own.
func open(t testing.TB, conns int) *postgres.DB {
	t.Helper()
	db, _ := openURL(t, conns)
	return db
}

func openURL(t testing.TB, conns int) (*postgres.DB, string) {
	t.Helper()
	url := backendtest.Postgres(t, schema.Migrate)
	return connect(t, url, conns), url
}

func connect(t testing.TB, url string, conns int) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(postgres.Config{URL: env.NewSecret(url), MaxConns: conns})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// exec changes the database behind the store's back: time that passes, crashes.
func exec(t testing.TB, url, sql string, args ...any) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(context.Background(), sql, args...); err != nil {
		t.Fatal(err)
	}
}
