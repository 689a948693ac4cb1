package reconcile_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/env"
	"supportbot/shared/job"
	"supportbot/shared/postgres"
	"supportbot/shared/postgres/schema"
	"supportbot/shared/queue"
	"supportbot/shared/queue/memqueue"
	"supportbot/shared/reconcile"
)

// keeper is a store that may be away.
type keeper struct {
	*postgres.DB
	away error
}

func (k *keeper) KeepDead(ctx context.Context, letters []job.DeadLetter) (int, error) {
	if k.away != nil {
		return 0, k.away
	}
	return k.DB.KeepDead(ctx, letters)
}

// broken is a queue of which a part does not work.
type broken struct {
	*memqueue.Broker
	receive, remove error
	queue           string // of receive
}

func (b *broken) Receive(ctx context.Context, name string, limit int, wait time.Duration) ([]queue.Message, error) {
	if b.receive != nil && name == queue.Dead(b.queue) {
		return nil, b.receive
	}
	return b.Broker.Receive(ctx, name, limit, wait)
}

func (b *broken) Delete(ctx context.Context, name string, receipts ...string) error {
	if b.remove != nil {
		return b.remove
	}
	return b.Broker.Delete(ctx, name, receipts...)
}

// TestDead: hints whose calls break end in the database, once each, whatever fails on
// the way; their queue is empty only then.
func TestDead(t *testing.T) {
	t.Parallel()
	ctx, away := context.Background(), errors.New("away")
	db, err := postgres.Open(postgres.Config{URL: env.NewSecret(backendtest.Postgres(t, schema.Migrate)), MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	made, err := db.Insert(ctx, []job.New{{Queue: "tickets", Kind: "test", Key: "k", Lane: job.Lane{Name: "lane"}, Payload: 1}})
	if err != nil {
		t.Fatal(err)
	}
	clock := memqueue.NewManualClock(time.Now())
	var all []memqueue.Queue
	for _, name := range []string{"tickets", "deliveries"} {
		all = append(all, memqueue.Queue{Name: name, Visibility: time.Minute, MaxReceives: 2, Dead: queue.Dead(name)}, memqueue.Queue{Name: queue.Dead(name), Visibility: time.Minute})
	}
	broker := memqueue.New(clock, all...)
	// Twelve hints: of the job, of one that is gone, and ten that are none.
	hints := append(make([]queue.Hint, 10), queue.Hint{Job: made[0].ID, CorrelationID: "telegram:1:2"}, queue.Hint{Job: 1 << 40})
	if err := broker.Publish(ctx, "tickets", hints...); err != nil {
		t.Fatal(err)
	}
	if err := broker.Publish(ctx, "deliveries", queue.Hint{Job: made[0].ID}); err != nil {
		t.Fatal(err)
	}
	for range 3 { // the third time they are given up
		for _, name := range []string{"tickets", "tickets", "deliveries"} {
			if _, err := broker.Receive(ctx, name, 10, 0); err != nil {
				t.Fatal(err)
			}
		}
		clock.Advance(2 * time.Minute)
	}
	store, source := &keeper{DB: db}, &broken{Broker: broker, queue: "tickets"}
	d := &reconcile.Dead{Queues: []string{"tickets", "none", "deliveries"}, Source: source, Store: store, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	for i, step := range []struct {
		away, receive, remove error
		kept, left            int // of the two queues
	}{
		{away: away, kept: 0, left: 13},
		{remove: away, kept: 10 + 1, left: 13},
		{receive: away, kept: 0, left: 12},
		{kept: 2, left: 0},
		{},
	} {
		store.away, source.receive, source.remove = step.away, step.receive, step.remove
		kept, err := d.Run(ctx)
		if want := errors.Join(step.away, step.receive, step.remove); (err == nil) != (want == nil) || want != nil && !errors.Is(err, away) || kept != step.kept {
			t.Errorf("step %d: kept %d, %v, want %d, %v", i, kept, err, step.kept, want)
		}
		left := 0
		for _, name := range []string{"tickets", "deliveries"} {
			n, err := broker.Count(ctx, queue.Dead(name))
			if err != nil {
				t.Fatal(err)
			}
			left += n
		}
		if left != step.left {
			t.Errorf("step %d: %d messages are left, want %d", i, left, step.left)
		}
		clock.Advance(2 * time.Minute) // what was read and not deleted comes again
	}
	letters, err := db.DeadLetters(ctx, 1<<62, 100)
	if err != nil || len(letters) != len(hints)+1 {
		t.Fatalf("%d letters, %v, want %d", len(letters), err, len(hints)+1)
	}
	kinds := map[[2]bool]int{}
	for _, l := range letters {
		kinds[[2]bool{l.Job == made[0].ID, l.Body != ""}]++
		if l.SentAt.IsZero() || l.Receives == 0 || l.Queue == "tickets" && l.Job != 0 && l.CorrelationID != "telegram:1:2" {
			t.Errorf("letter %+v", l)
		}
	}
	// Of a job that is gone nothing is kept.
	if kinds[[2]bool{true, false}] != 2 || kinds[[2]bool{false, true}] != 10 || kinds[[2]bool{false, false}] != 1 {
		t.Errorf("by whether they have a job and a body: %v", kinds)
	}
	r, err := db.JobRecord(ctx, made[0].ID)
	if err != nil || len(r.Failures) != 1 || r.Failures[0].What != job.FailureDead || r.State != job.Accepted {
		t.Errorf("the job: %+v, %v", r, err)
	}
}

// TestService_Rests: a duty may rest between passes, by the clock on the wall; a pass in
// which all went well is noted.
func TestService_Rests(t *testing.T) {
	t.Parallel()
	db, err := postgres.Open(postgres.Config{URL: env.NewSecret(backendtest.Postgres(t, schema.Migrate)), MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	var fail error
	ran, passes := map[string]int{}, 0
	duty := func(name string, every time.Duration) reconcile.Duty {
		return reconcile.Duty{Name: name, Time: time.Minute, Every: every, Run: func(context.Context) (int, error) { ran[name]++; return 0, fail }}
	}
	wall := job.SystemClock().Wall()
	s := &reconcile.Service{
		Wall: func() time.Time { return wall }, Leases: db, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Duties: []reconcile.Duty{duty("always", 0), duty("seldom", 24*time.Hour)},
		Passed: func(context.Context, time.Duration) error { passes++; return nil },
	}
	for _, fail = range []error{nil, nil, errors.New("broken")} {
		if err := s.Handle(context.Background(), nil); (err == nil) != (fail == nil) {
			t.Errorf("got %v, want %v", err, fail)
		}
	}
	if ran["always"] != 3 || ran["seldom"] != 1 || passes != 2 {
		t.Errorf("ran %v, %d passes went well", ran, passes)
	}
	fail = nil
	for i, after := range []time.Duration{24 * time.Hour, time.Hour, -48 * time.Hour} {
		wall = wall.Add(after)
		if err := s.Handle(context.Background(), nil); err != nil {
			t.Error(err)
		}
		if want := []int{2, 2, 3}[i]; ran["seldom"] != want {
			t.Errorf("after another %s the duty was done %d times, want %d", after, ran["seldom"], want)
		}
	}
}
