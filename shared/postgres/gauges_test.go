package postgres_test

import (
	"context"
	"maps"
	"testing"
	"time"

	"supportbot/shared/gauge"
	"supportbot/shared/job"
)

func TestMeasure(t *testing.T) {
	t.Parallel()
	db, url := openURL(t, 2)
	ctx := context.Background()
	due := newJob("due", "a", 1)
	later := newJob("later", "b", 1)
	later.Delay = time.Hour
	made, err := db.Insert(ctx, []job.New{due, newJob("behind it", "a", 2), later, newJob("runs", "c", 1), newJob("done", "d", 1), newJob("review", "e", 1), newJob("long ago", "f", 1), newJob("held", "g", 1)})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range map[int]job.Verdict{4: job.VerdictCompleted, 5: job.VerdictReview, 6: job.VerdictCompleted} {
		failed(t, db, made[i].ID, v, "")
	}
	if _, err := db.Claim(ctx, "tickets", made[3].ID, tokenA); err != nil {
		t.Fatal(err)
	}
	exec(t, url, `UPDATE jobs SET losses = 2 WHERE key = 'runs'`)
	exec(t, url, `UPDATE jobs SET held_at = now() WHERE key = 'held'`)
	exec(t, url, `UPDATE jobs SET run_at = run_at - interval '1 hour' WHERE key = 'due'`)
	exec(t, url, `UPDATE jobs SET finished_at = finished_at - interval '2 min' WHERE key = 'long ago'`)
	exec(t, url, `INSERT INTO analytics_loads (name, since, reached, started_at) VALUES ('tickets', now(), now() - interval '2 hours', now())`)
	if _, err := db.KeepDead(ctx, []job.DeadLetter{{Queue: "tickets", Message: "1", Job: made[0].ID}, {Queue: "tickets", Message: "2"}, {Queue: "tickets", Message: "3"}}); err != nil {
		t.Fatal(err)
	}
	if err := db.DutyDone(ctx, "pass", 1500*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	samples, err := db.Measure(ctx)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, s := range samples {
		got[s.Key()] = s.Value
	}
	for name, least := range map[string]float64{"jobs_oldest_due_seconds": 3600, "analytics_lag_seconds": 7200, "duty_age_seconds.pass": 0} {
		if v, ok := got[name]; !ok || v < least || v > least+600 {
			t.Errorf("%s is %v, want some more than %v", name, v, least)
		}
		delete(got, name)
	}
	want := map[string]float64{
		"jobs_due.tickets": 2, "jobs_running.tickets": 1, "jobs_held": 1, "jobs_lease_losses": 2, "jobs_in_review": 1,
		"jobs_ended.tickets.completed": 1, "jobs_ended.tickets.needs_review": 1,
		"dead_letters.true": 1, "dead_letters.false": 2, "duty_seconds.pass": 1.5,
	}
	if !maps.Equal(got, want) {
		t.Errorf("gauges %v, want %v", got, want)
	}
	for queue, want := range map[string]int{"tickets": 2, "broadcasts": 0} {
		if n, err := db.Backlog(ctx, queue); err != nil || n != want {
			t.Errorf("backlog of %s: %d, %v, want %d", queue, n, err, want)
		}
	}
}

func TestGauges_TheLastReading(t *testing.T) {
	t.Parallel()
	db, ctx := open(t, 2), context.Background()
	if r, _, err := db.Gauges(ctx); err != nil || !r.At.IsZero() {
		t.Errorf("before the first: %+v, %v", r, err)
	}
	for _, v := range []float64{1, 2.5} {
		if err := db.PutGauges(ctx, []gauge.Sample{{Name: "x", Labels: map[string]string{"queue": "tickets"}, Value: v}, {Name: "y"}}); err != nil {
			t.Fatal(err)
		}
	}
	r, now, err := db.Gauges(ctx)
	if err != nil || len(r.Samples) != 2 || r.Samples[0].Value != 2.5 || r.Samples[0].Key() != "x.tickets" || r.At.IsZero() || now.Before(r.At) {
		t.Errorf("got %+v at %s, %v", r, now, err)
	}
}

// A duty that fails takes its time and is not done.
func TestDuty_Noted(t *testing.T) {
	t.Parallel()
	db, ctx := open(t, 2), context.Background()
	for name, result := range map[string]error{"works": nil, "fails": context.Canceled} {
		if done, err := db.Duty(ctx, name, time.Minute, func(context.Context) error { return result }); !done || (err == nil) != (result == nil) {
			t.Fatalf("%s: %v, %v", name, done, err)
		}
	}
	samples, err := db.Measure(ctx)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, s := range samples {
		if s.Name == gauge.DutyAge || s.Name == gauge.DutyTook {
			got[s.Key()] = true
		}
	}
	if want := map[string]bool{"duty_age_seconds.works": true, "duty_seconds.works": true, "duty_seconds.fails": true}; !maps.Equal(got, want) {
		t.Errorf("duties %v, want %v", got, want)
	}
}

// What waits in another queue, however much, hides no backlog.
func TestBacklog_BehindAnothers(t *testing.T) {
	t.Parallel()
	db, url := openURL(t, 2)
	exec(t, url, `INSERT INTO jobs (queue, kind, key, lane, strict, payload)
		SELECT CASE WHEN n <= 100000 THEN 'tickets' ELSE 'broadcasts' END, 'k', n, 'lane ' || lpad(n::text, 6, '0'), true, '{}' FROM generate_series(1, 100010) n`)
	if n, err := db.Backlog(context.Background(), "broadcasts"); err != nil || n != 10 {
		t.Errorf("%d, %v, want 10", n, err)
	}
}
