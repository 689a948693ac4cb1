package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"supportbot/shared/job"
	"supportbot/shared/postgres"
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
	exec(t, url, `UPDATE jobs SET state = 'completed', finished_at = now() WHERE key = 'first'`)
	var conns [2]*pgx.Conn
	for i := range conns {
		if conns[i], err = pgx.Connect(ctx, url); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conns[i].Close(context.Background()) })
	}
	// Whoever waits looks once, after a second, and ends itself: the sweep does, unless the
	// machine is so busy that it has looked before there was anything to be seen.
	for swept := false; !swept; {
		exec(t, url, `UPDATE jobs SET held_at = now(), held_for = 'first' WHERE key <> 'first'`)
		swept = sweptAcross(ctx, t, db, conns, made[1].ID, made[2].ID)
	}
}

// sweptAcross sweeps while another one locks two jobs, the later one first. It is false
// when the database has ended the other one.
func sweptAcross(ctx context.Context, t *testing.T, db *postgres.DB, conns [2]*pgx.Conn, earlier, later int64) bool {
	t.Helper()
	other, err := conns[0].Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	lock := func(id int64) error {
		_, err := other.Exec(ctx, `SELECT FROM jobs WHERE id = $1 FOR UPDATE`, id)
		return err
	}
	if err := lock(later); err != nil {
		t.Fatal(err)
	}
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
	lockErr := lock(earlier)
	if err := other.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-swept; err != nil {
		t.Fatal(err)
	}
	var refused *pgconn.PgError
	if lockErr != nil && (!errors.As(lockErr, &refused) || refused.Code != "40P01") {
		t.Fatal(lockErr)
	}
	return lockErr == nil
}
