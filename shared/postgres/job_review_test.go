package postgres_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/job"
)

// Whatever a person changes about a job waits for its lane: nobody claims there meanwhile,
// and no claim that has begun is overtaken.
func TestReview_LocksTheLane(t *testing.T) {
	t.Parallel()
	db, url := openURL(t, 6)
	ctx := context.Background()
	changes := map[string]func(id int64) error{
		"cancel": func(id int64) error { _, err := db.Cancel(ctx, id, "person:1"); return err },
		"pause":  func(id int64) error { return db.Pause(ctx, id) },
		"resume": func(id int64) error { _, err := db.Resume(ctx, id); return err },
		"replay": func(id int64) error { _, err := db.Replay(ctx, id, "person:1"); return err },
		"settle": func(id int64) error { return db.SettleReview(ctx, id, "person:1", "done by hand") },
	}
	ids := map[string]int64{}
	for name := range changes {
		made, err := db.Insert(ctx, []job.New{newJob(name, "lane", 1)})
		if err != nil {
			t.Fatal(err)
		}
		ids[name] = made[0].ID
	}
	if err := db.Pause(ctx, ids["resume"]); err != nil {
		t.Fatal(err)
	}
	exec(t, url, `UPDATE jobs SET state = 'needs_review', finished_at = clock_timestamp() WHERE key IN ('replay', 'settle')`)
	exec(t, url, `INSERT INTO lanes (name) VALUES ('lane') ON CONFLICT DO NOTHING`)
	var conns [2]*pgx.Conn
	for i := range conns {
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(ctx) })
		conns[i] = conn
	}
	claiming, err := conns[0].Begin(ctx)
	if err == nil {
		_, err = claiming.Exec(ctx, `SELECT FROM lanes FOR UPDATE`)
	}
	if err != nil {
		t.Fatal(err)
	}
	type end struct {
		name string
		err  error
	}
	ended := make(chan end, len(changes))
	for name, change := range changes {
		go func() { ended <- end{name, change(ids[name])} }()
	}
	left := len(changes)
	for waiting := 0; waiting < left; {
		select {
		case e := <-ended:
			left--
			t.Errorf("%s did not wait for the lane (%v)", e.name, e.err)
		default:
			if err := conns[1].QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`).Scan(&waiting); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := claiming.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	for range left {
		if e := <-ended; e.err != nil {
			t.Errorf("%s: %v", e.name, e.err)
		}
	}
}
