package postgres_test

import (
	"context"
	"testing"
	"time"

	"supportbot/shared/job"
)

// A job is late when nobody works its lane, not when others before it had their turn.
func TestHealth_Late(t *testing.T) {
	t.Parallel()
	db, url := openURL(t, 2)
	ctx := context.Background()
	made, err := db.Insert(ctx, []job.New{newJob("first", "a", 1), newJob("second", "a", 2), newJob("runs", "b", 1)})
	if err != nil {
		t.Fatal(err)
	}
	exec(t, url, `UPDATE jobs SET run_at = run_at - interval '1 hour'`)
	late := func(what, lane string, want time.Duration) {
		t.Helper()
		h, err := db.Health(ctx)
		if err != nil || h.Lane != lane || h.Late < want || h.Late > want+time.Minute {
			t.Errorf("%s: lane %q is late by %s, %v, want %q by %s or some more", what, h.Lane, h.Late, err, lane, want)
		}
	}
	late("nobody came", "a", time.Hour)
	failed(t, db, made[0].ID, job.VerdictCompleted, "")
	if _, err := db.Claim(ctx, "tickets", made[2].ID, tokenB); err != nil {
		t.Fatal(err)
	}
	late("just released", "a", 0)
	exec(t, url, `UPDATE lanes SET used_at = used_at - interval '10 min' WHERE name = 'a'`)
	late("released and left", "a", 10*time.Minute)

	// A worker that held its lane for half an hour died twenty minutes ago.
	exec(t, url, `UPDATE lanes SET used_at = used_at - interval '50 min', lease_until = clock_timestamp() - interval '20 min' WHERE name = 'b'`)
	late("a lease is over", "b", 20*time.Minute)
	if _, err := db.Rescue(ctx, 10); err != nil {
		t.Fatal(err)
	}
	late("its job is rescued", "b", 20*time.Minute)
}

// What is asked every minute costs what is open, whatever is kept, and of what waits in a
// lane only the head.
func TestHealth_ReadsNothingThatIsOver(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	s.exec(`INSERT INTO jobs (queue, kind, key, lane, strict, payload, state, finished_at)
		SELECT 'tickets', 'k', 'over ' || n, 'lane ' || n % 100, true, '{}', 'completed', now() - interval '2 days' FROM generate_series(1, 20000) n`)
	s.exec(`INSERT INTO jobs (queue, kind, key, lane, strict, payload, held_at)
		SELECT 'tickets', 'k', 'open ' || n, 'lane ' || n % 4, true, '{}', CASE WHEN n % 10 = 0 THEN now() END FROM generate_series(1, 400) n`)
	s.exec(`VACUUM ANALYZE jobs`)
	const stats = `SELECT seq_scan, coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables WHERE relname = 'jobs'`
	read := func(ask func() error) (scans, rows int64) {
		t.Helper()
		var scansBefore, rowsBefore int64
		if err := s.conn.QueryRow(s.ctx, stats).Scan(&scansBefore, &rowsBefore); err != nil {
			t.Fatal(err)
		}
		if err := ask(); err != nil {
			t.Fatal(err)
		}
		s.settleStats()
		if err := s.conn.QueryRow(s.ctx, stats).Scan(&scans, &rows); err != nil {
			t.Fatal(err)
		}
		return scans - scansBefore, rows - rowsBefore
	}
	s.settleStats()
	for name, look := range map[string]struct {
		at   func() error
		most int64 // rows
	}{
		"health":  {func() error { _, err := s.db.Health(s.ctx); return err }, 50},
		"gauges":  {func() error { _, err := s.db.Measure(s.ctx); return err }, 3 * 400},
		"cleaner": {func() error { _, err := s.db.Clean(s.ctx, 100); return err }, 50},
	} {
		if scans, rows := read(look.at); scans != 0 || rows > look.most {
			t.Errorf("%s read all jobs %d times, %d rows by index", name, scans, rows)
		}
	}
}
