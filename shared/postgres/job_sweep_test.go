package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/job"
)

// Whoever changes the same jobs in another order, as an erasure may, does not keep the
// reconciler from letting go what waited: one of the two is ended by the database, and
// tries again.
func TestSweepHeld_AgainstAnotherOrder(t *testing.T) {
	t.Parallel()
	db, url := openURL(t, 4)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	made, err := db.Insert(ctx, []job.New{newJob("first", "a", 1), newJob("second", "b", 1), newJob("third", "c", 1)})
	if err != nil {
		t.Fatal(err)
	}
	exec(t, url, `UPDATE jobs SET held_at = now(), held_for = 'first' WHERE key <> 'first'`)
	exec(t, url, `UPDATE jobs SET state = 'completed', finished_at = now() WHERE key = 'first'`)
	var conns [2]*pgx.Conn
	for i := range conns {
		if conns[i], err = pgx.Connect(ctx, url); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conns[i].Close(context.Background()) })
	}
	other, err := conns[0].Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	lock := func(id int64) {
		t.Helper()
		if _, err := other.Exec(ctx, `SELECT FROM jobs WHERE id = $1 FOR UPDATE`, id); err != nil {
			t.Fatal(err)
		}
	}
	lock(made[2].ID)
	swept := make(chan error, 1)
	go func() {
		n, err := db.SweepHeld(ctx)
		if n != 2 && err == nil {
			t.Errorf("let go %d jobs", n)
		}
		swept <- err
	}()
	for waits := false; !waits; {
		if err := conns[1].QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waits); err != nil {
			t.Fatal(err)
		}
	}
	lock(made[1].ID) // it has waited for longer, so that it is the one to be ended
	if err := other.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-swept; err != nil {
		t.Error(err)
	}
}
