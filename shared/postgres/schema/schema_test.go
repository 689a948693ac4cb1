package schema_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"supportbot/migrations"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/postgres/schema"
)

func TestMigrate_TwiceAndAtTheSameTime(t *testing.T) {
	t.Parallel()
	url := backendtest.Postgres(t, nil)
	var all sync.WaitGroup
	for range 3 {
		all.Add(1)
		go func() {
			defer all.Done()
			if err := schema.Migrate(context.Background(), url); err != nil {
				t.Error(err)
			}
		}()
	}
	all.Wait()
	if err := schema.Migrate(context.Background(), url); err != nil {
		t.Errorf("once more: %v", err)
	}
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	var applied int
	if err := conn.QueryRow(context.Background(), `SELECT count(*) FROM goose_db_version WHERE version_id > 0`).Scan(&applied); err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(migrations.Postgres, "postgres/*.sql")
	if err != nil || applied != len(files) {
		t.Errorf("%d migrations applied of %d files, %v", applied, len(files), err)
	}
}

// A release that meets the schema of a later one leaves it alone.
func TestMigrate_NeverBackwards(t *testing.T) {
	t.Parallel()
	url := backendtest.Postgres(t, schema.Migrate)
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(context.Background(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (90000, true)`); err != nil {
		t.Fatal(err)
	}
	var newer *schema.Newer
	if err := schema.Migrate(context.Background(), url); !errors.As(err, &newer) || newer.Has != 90000 || newer.Known == 0 {
		t.Errorf("got %v, want a schema that is newer", err)
	}
}

// What a frozen instance has locked is free again after a while.
func TestMigrate_EndsFrozenTransactions(t *testing.T) {
	t.Parallel()
	url := backendtest.Postgres(t, nil)
	if err := schema.Migrate(context.Background(), url); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	var most string
	if err := conn.QueryRow(context.Background(), `SHOW idle_in_transaction_session_timeout`).Scan(&most); err != nil || most != "30s" {
		t.Errorf("a transaction may rest for %q, %v; want 30s", most, err)
	}
}

// An erasure that was cancelled, when that could be, keeps no later one back.
func TestMigrate_CancelledErasures(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, backendtest.Postgres(t, schema.Migrate))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	file, err := fs.ReadFile(migrations.Postgres, "postgres/00013_erasures.sql")
	if err != nil {
		t.Fatal(err)
	}
	const made = `INSERT INTO jobs (queue, kind, key, lane, strict, payload, state) VALUES ('deliveries', $1, $2, 'l', true, '{}', $3)`
	for _, row := range [][]any{
		{"person.erase", "erase:1", "cancelled"}, {"person.erase", "erase:2", "completed"}, {"ticket.create", "draft:1", "cancelled"},
	} {
		if _, err := conn.Exec(ctx, made, row...); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.Exec(ctx, string(file)); err != nil {
		t.Fatal(err)
	}
	for key, free := range map[string]bool{"erase:1": true, "erase:2": false, "draft:1": false} {
		if _, err := conn.Exec(ctx, made, "person.erase", key, "accepted"); (err == nil) != free {
			t.Errorf("the key %s: %v, want it free: %t", key, err, free)
		}
	}
}

func TestMigrate_BadAddressIsNotRepeated(t *testing.T) {
	t.Parallel()
	err := schema.Migrate(context.Background(), "postgres://user:canary@[broken")
	if err == nil || regexp.MustCompile("canary").MatchString(err.Error()) {
		t.Errorf("error %v; it must not repeat the password", err)
	}
}

func TestFiles_AreNumberedWithoutGaps(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(migrations.Postgres, "postgres/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range files {
		if want := fmt.Sprintf("postgres/%05d_", i+1); f[:len(want)] != want {
			t.Errorf("file %s, want it to begin with %s", f, want)
		}
	}
}
