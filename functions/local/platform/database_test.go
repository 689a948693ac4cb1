package platform_test

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"supportbot/functions/local/chaos/elapse"
)

// exec changes the database behind the platform's back.
func (w *world) exec(sql string, args ...any) {
	w.t.Helper()
	if err := w.tryExec(sql, args...); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) tryExec(sql string, args ...any) error {
	conn, err := pgx.Connect(w.ctx, w.env["DATABASE_URL"])
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.Background()) }()
	_, err = conn.Exec(w.ctx, sql, args...)
	return err
}

// count asks the database for a number.
func (w *world) count(sql string, args ...any) (n int) {
	w.t.Helper()
	conn, err := pgx.Connect(w.ctx, w.env["DATABASE_URL"])
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if err := conn.QueryRow(w.ctx, sql, args...).Scan(&n); err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// until waits for a number in the database.
func (w *world) until(what string, want int, sql string, args ...any) {
	w.t.Helper()
	conn, err := pgx.Connect(w.ctx, w.env["DATABASE_URL"])
	if err != nil {
		w.t.Fatalf("%s: %v", what, err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	w.poll(what, func() bool {
		var got int
		return conn.QueryRow(w.ctx, sql, args...).Scan(&got) == nil && got == want
	})
}

// poll waits for what nobody gives a signal of.
func (w *world) poll(what string, is func() bool) {
	w.t.Helper()
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-w.ctx.Done():
			w.t.Fatalf("timed out: %s; jobs: %s", what, w.jobs())
		}
	}
}

// quiet waits until nothing is left to be done: every update is delivered, no
// conversation owes anything, every job has ended.
func (w *world) quiet() {
	w.t.Helper()
	r := w.redis()
	defer func() { _ = r.Close() }()
	w.poll("the services' calls are delivered and no conversation owes anything", func() bool {
		n, err := r.ZCard(w.ctx, "conversations:pending").Result()
		return err == nil && n == 0 && w.telegram.Undelivered() == 0 && w.vk.Undelivered() == 0
	})
	w.until("every job has ended", 0, `SELECT count(*) FROM jobs WHERE open`)
}

// jobs shows the jobs that have not completed.
func (w *world) jobs() string {
	conn, err := pgx.Connect(context.Background(), w.env["DATABASE_URL"])
	if err != nil {
		return err.Error()
	}
	defer func() { _ = conn.Close(context.Background()) }()
	rows, err := conn.Query(context.Background(), `SELECT concat_ws(' ', id, kind, key, state, stage, attempts, losses, run_at - clock_timestamp(), held_for, last_error)
		FROM jobs WHERE state <> 'completed' ORDER BY id`)
	if err != nil {
		return err.Error()
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err.Error()
	}
	return "\n" + strings.Join(all, "\n")
}

func (w *world) redis() *redis.Client {
	w.t.Helper()
	o, err := redis.ParseURL(w.env["REDIS_URL"])
	if err != nil {
		w.t.Fatal(err)
	}
	return redis.NewClient(o)
}

// pass lets time pass in both databases: every lease, wait and age is so much
// further on.
func (w *world) pass(d time.Duration) {
	w.t.Helper()
	if err := w.tryPass(d); err != nil {
		w.t.Fatalf("let time pass: %v", err)
	}
}

func (w *world) tryPass(d time.Duration) error {
	conn, err := pgx.Connect(w.ctx, w.env["DATABASE_URL"])
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.Background()) }()
	o, err := redis.ParseURL(w.env["REDIS_URL"])
	if err != nil {
		return err
	}
	r := redis.NewClient(o)
	defer func() { _ = r.Close() }()
	return elapse.Pass(w.ctx, conn, r, d)
}

// hold keeps everybody from working on a lane until it is let go.
func (w *world) hold(lane string) (letGo func()) {
	w.t.Helper()
	w.exec(`INSERT INTO lanes (name, lease_token, lease_until) VALUES ($1, gen_random_uuid(), clock_timestamp() + interval '1 day')
		ON CONFLICT (name) DO UPDATE SET lease_token = excluded.lease_token, lease_until = excluded.lease_until`, lane)
	return func() {
		w.t.Helper()
		w.exec(`UPDATE lanes SET lease_token = NULL, lease_until = NULL WHERE name = $1`, lane)
		w.exec(`UPDATE jobs SET published_at = NULL WHERE lane = $1 AND open`, lane)
	}
}
