package backend_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"

	"supportbot/shared/backend"
)

// ask runs statements on a ClickHouse and gives the text that the last one selects.
func ask(t *testing.T, url string, statements ...string) (text string, err error) {
	t.Helper()
	opts, err := clickhouse.ParseDSN(url)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := clickhouse.Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	last := len(statements) - 1
	for _, s := range statements[:last] {
		if err := conn.Exec(context.Background(), s); err != nil {
			return "", err
		}
	}
	return text, conn.QueryRow(context.Background(), statements[last]).Scan(&text)
}

func TestClickHouse_KeepsItsData(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	s := start(t, backend.ClickHouse, backend.Options{Dir: dir})
	if _, err := ask(t, s.NativeURL(), "CREATE DATABASE kept", "CREATE TABLE kept.notes (text String) ENGINE = MergeTree ORDER BY text", "SELECT '1'"); err != nil {
		t.Fatal(err)
	}
	for name, end := range map[string]func() error{"stop": s.Stop, "kill": s.Kill} {
		if _, err := ask(t, s.NativeURL(), "INSERT INTO kept.notes VALUES ('"+name+"')", "SELECT '1'"); err != nil {
			t.Fatal(err)
		}
		if err := end(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := ask(t, s.NativeURL(), "SELECT '1'"); err == nil {
			t.Fatalf("%s: it still answers", name)
		}
		if err := s.Start(context.Background()); err != nil {
			t.Fatalf("start after %s: %v", name, err)
		}
		got, err := ask(t, s.NativeURL(), "SELECT arrayStringConcat(groupArray(text), ' ') FROM kept.notes")
		if err != nil || !strings.Contains(got, name) {
			t.Errorf("after %s: got %q, %v", name, got, err)
		}
	}
}

func TestClickHouse_Settings(t *testing.T) {
	t.Parallel()
	s := start(t, backend.ClickHouse, backend.Options{Settings: map[string]string{"max_concurrent_queries": "17"}})
	got, err := ask(t, s.NativeURL(), "SELECT value FROM system.server_settings WHERE name = 'max_concurrent_queries'")
	if err != nil || got != "17" {
		t.Errorf("got %q, %v, want 17", got, err)
	}
}
