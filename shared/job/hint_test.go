package job_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/job"
	"supportbot/shared/queue"
)

func TestHint_BeforeItsCommit(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, r.url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	tx, err := conn.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var id int64
	if err := tx.QueryRow(ctx, `INSERT INTO jobs (queue, kind, key, lane, strict, payload)
		VALUES ('tickets', 'test', 'k', 'lane', true, 'null') RETURNING id`).Scan(&id); err != nil {
		t.Fatal(err)
	}
	r.work(r.worker(nil), id)
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	r.wantState("k", job.Accepted)
	r.reconcile()
	r.settle(1, nil)
	r.wantState("k", job.Completed)
}

func TestHint_BeforeItsTime(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name      string
		delay     time.Duration
		wantHints int
	}{{"within the queue's delay", time.Minute, 1}, {"beyond it", time.Hour, 0}} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, 2)
			j := newJob("k", "lane", 1)
			j.Delay = tc.delay
			made := r.insertOnly(j)
			r.work(r.worker(nil), made[0].ID)
			got := r.pub.take()
			if len(got) != tc.wantHints {
				t.Fatalf("hints %v, want %d", got, tc.wantHints)
			}
			if len(got) > 0 && (got[0].Delay > tc.delay || got[0].Delay < tc.delay-10*time.Second) {
				t.Errorf("hint after %s, want what is left of %s", got[0].Delay, tc.delay)
			}
			if n := len(r.effects()); n != 0 {
				t.Errorf("%d effects before the job's time", n)
			}
		})
	}
}

func TestHint_AfterTheEndRevivesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	ctx := context.Background()
	made := r.insertOnly(newJob("done", "a", 1), newJob("cancelled", "b", 1))
	r.work(r.worker(nil), made[0].ID)
	if _, err := r.db.Cancel(ctx, made[1].ID, "person:1"); err != nil {
		t.Fatal(err)
	}
	for _, in := range made {
		// A publisher that was late, a repeated insert, repeated hints, a person.
		if err := r.db.Published(ctx, []int64{in.ID}); err != nil {
			t.Fatal(err)
		}
		r.insert(newJob(in.Key, in.Lane, 1))
		r.work(r.worker(nil), in.ID)
		if _, err := r.db.Replay(ctx, in.ID, "person:1"); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("replay of an ended job: %v, want ErrNotFound", err)
		}
		if _, err := r.db.Cancel(ctx, in.ID, "person:1"); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("cancel of an ended job: %v, want ErrNotFound", err)
		}
	}
	r.later()
	r.reconcile()
	r.settle(2, nil)
	r.wantState("done", job.Completed)
	r.wantState("cancelled", job.Cancelled)
	if got := r.effects(); len(got) != 1 {
		t.Errorf("effects %v, want one", got)
	}
}

func TestHint_Never(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	r.pub.cut = errors.New("the queue is away")
	r.insert(newJob("a", "lane", 1), newJob("b", "lane", 2))
	r.reconcile()
	r.wantState("a", job.Accepted)
	r.pub.cut = nil
	r.reconcile()
	if got := r.pub.take(); len(got) != 1 {
		t.Fatalf("hints %v, want one for the head alone", got)
	}
	r.reconcile()
	if got := r.pub.take(); len(got) != 0 {
		t.Errorf("hints %v for a head that has a fresh one", got)
	}
	// That hint is lost too.
	r.later()
	r.reconcile()
	r.settle(1, nil)
	r.wantState("a", job.Completed)
	r.wantState("b", job.Completed)
}

// The queue loses all that it has, with work in every state: one pass a minute later,
// when the leases of what ran are over, brings everything back, and nothing twice.
func TestHint_TheQueueLosesEverything(t *testing.T) {
	t.Parallel()
	r := newRig(t, 4)
	var jobs []job.New
	for l := range 20 {
		for i := range 3 {
			jobs = append(jobs, newJob(fmt.Sprintf("%02d/%d", l, i), fmt.Sprint("lane", l), int64(i)))
		}
	}
	made := r.insert(jobs...) // published
	if got := r.pub.take(); len(got) != len(jobs) {
		t.Fatalf("%d hints, want %d", len(got), len(jobs))
	}
	for l := range 5 { // at work when their worker died
		if c, err := r.db.Claim(context.Background(), "tickets", made[3*l].ID, tokenOf(l)); err != nil || c.Job == nil {
			t.Fatalf("claim: %+v, %v", c, err)
		}
	}
	r.insertOnly(newJob("unpublished", "another lane", 1))
	r.later()
	r.reconcile()
	if got := len(r.pub.list); got != 21 {
		t.Errorf("%d hints after one pass, want one for each lane", got)
	}
	r.settle(4, nil)
	count := map[string]int{}
	for _, key := range r.effects() {
		count[key]++
	}
	for _, j := range append(jobs, newJob("unpublished", "", 0)) {
		if count[j.Key] != 1 {
			t.Errorf("%s had its effect %d times", j.Key, count[j.Key])
		}
		r.wantState(j.Key, job.Completed)
	}
	if r.overlap {
		t.Error("two jobs of one lane ran at the same time")
	}
}

func TestHint_ForAnotherQueueIsDropped(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	j := newJob("k", "lane", 1)
	j.Queue = "deliveries"
	made := r.insertOnly(j)
	r.work(r.worker(nil), made[0].ID)
	r.wantState("k", job.Accepted)
}

// oneBroken is a queue service of which one queue is gone.
type oneBroken struct{ *hints }

func (o oneBroken) Publish(ctx context.Context, name string, hs ...queue.Hint) error {
	if name == "gone" {
		return queue.ErrNotFound
	}
	return o.hints.Publish(ctx, name, hs...)
}

// However many hints cannot be sent, those that can are.
func TestHint_AQueueThatIsGoneKeepsNoOtherBack(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	var jobs []job.New
	for i := range 1200 {
		j := newJob(fmt.Sprint("gone", i), fmt.Sprintf("lane%04d", i), 1)
		j.Queue = "gone"
		jobs = append(jobs, j)
	}
	jobs = append(jobs, newJob("first", "a lane", 1), newJob("amid", "lane0700b", 1), newJob("last", "z lane", 1))
	made := r.insertOnly(jobs...)
	rec := r.reconciler()
	rec.Publisher.Queue = oneBroken{r.pub}
	if err := rec.Pass(context.Background()); err != nil {
		t.Fatal(err)
	}
	got := map[int64]int{}
	for _, h := range r.pub.take() {
		got[h.Job]++
	}
	for _, j := range made[1200:] {
		if got[j.ID] != 1 {
			t.Errorf("%s was hinted at %d times, want once", j.Key, got[j.ID])
		}
	}
}
