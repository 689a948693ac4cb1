package job_test

import (
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/env"
	"supportbot/shared/job"
	"supportbot/shared/postgres"
	"supportbot/shared/postgres/schema"
	"supportbot/shared/queue"
)

// rig is a database, a queue that a test controls, and what the jobs did.
type rig struct {
	t   testing.TB
	db  *postgres.DB
	url string
	log *slog.Logger
	pub *hints

	mu      sync.Mutex
	done    []string // keys of jobs whose effect happened, in order
	running map[string]int
	overlap bool
}

func newRig(t testing.TB, conns int) *rig {
	t.Helper()
	return rigOn(t, backendtest.Postgres(t, schema.Migrate), "", conns)
}

// rigOn works through via (a pooler) if it is given.
func rigOn(t testing.TB, url, via string, conns int) *rig {
	t.Helper()
	address := url
	if via != "" {
		address = via
	}
	db, err := postgres.Open(postgres.Config{URL: env.NewSecret(address), MaxConns: conns})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	out := io.Discard
	if os.Getenv("TEST_LOG") != "" {
		out = os.Stderr
	}
	return &rig{t: t, db: db, url: url, log: slog.New(slog.NewTextHandler(out, nil)), pub: &hints{}, running: map[string]int{}}
}

// hints is a queue.Publisher that keeps the hints for the test to deliver.
type hints struct {
	mu   sync.Mutex
	cut  error
	list []queue.Hint
}

func (h *hints) Publish(_ context.Context, _ string, hs ...queue.Hint) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cut != nil {
		return h.cut
	}
	h.list = append(h.list, hs...)
	return nil
}

// take gives the hints so far, in any order.
func (h *hints) take() []queue.Hint {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := h.list
	h.list = nil
	rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

func (r *rig) publisher() *job.Publisher {
	return &job.Publisher{Queue: r.pub, Store: r.db, Log: r.log}
}

func (r *rig) reconciler() *job.Reconciler {
	return &job.Reconciler{Store: r.db, Publisher: r.publisher(), Log: r.log}
}

// worker works on the queue "tickets"; kind "test" runs handle, by default effect.
func (r *rig) worker(handle job.Handler) *job.Worker {
	if handle == nil {
		handle = r.effect
	}
	return &job.Worker{
		Queue: "tickets", Store: r.db, Publisher: r.publisher(), Log: r.log, Clock: job.SystemClock(),
		Kinds: map[string]job.Kind{"test": {Handle: handle, Stages: []string{"effect"}}},
	}
}

// effect notes that the job's effect happened and whether another of its lane was
// under way.
func (r *rig) effect(_ context.Context, run *job.Run) (job.Outcome, error) {
	r.enter(run.Lane.Name)
	defer r.leave(run.Lane.Name, run.Key)
	return job.Outcome{Result: run.Key}, nil
}

func (r *rig) enter(lane string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running[lane]++
	r.overlap = r.overlap || r.running[lane] > 1
}

func (r *rig) leave(lane, key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running[lane]--
	r.done = append(r.done, key)
}

func (r *rig) effects() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.done)
}

func newJob(key, lane string, sequence int64) job.New {
	return job.New{Queue: "tickets", Kind: "test", Key: key, Lane: job.Lane{Name: lane}, Sequence: sequence}
}

// insert inserts and publishes jobs.
func (r *rig) insert(jobs ...job.New) []job.Inserted {
	r.t.Helper()
	made := r.insertOnly(jobs...)
	r.publisher().Publish(context.Background(), made)
	return made
}

func (r *rig) insertOnly(jobs ...job.New) []job.Inserted {
	r.t.Helper()
	made, err := r.db.Insert(context.Background(), jobs)
	if err != nil {
		r.t.Fatal(err)
	}
	return made
}

func (r *rig) work(w *job.Worker, id int64) {
	r.t.Helper()
	if err := w.Work(context.Background(), id); err != nil {
		r.t.Error(err)
	}
}

// settle delivers hints to n workers, each hint twice, until there are none.
// Delayed hints get lost.
func (r *rig) settle(n int, handle job.Handler) {
	r.t.Helper()
	for {
		list := slices.DeleteFunc(r.pub.take(), func(h queue.Hint) bool { return h.Delay > 0 })
		if len(list) == 0 {
			return
		}
		list = append(list, list...)
		ids := make(chan int64)
		var wg sync.WaitGroup
		for range n {
			wg.Add(1)
			go func() {
				defer wg.Done()
				w := r.worker(handle)
				for id := range ids {
					r.work(w, id)
				}
			}()
		}
		for _, h := range list {
			ids <- h.Job
		}
		close(ids)
		wg.Wait()
	}
}

func (r *rig) exec(sql string, args ...any) {
	r.t.Helper()
	conn, err := pgx.Connect(context.Background(), r.url)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(context.Background(), sql, args...); err != nil {
		r.t.Fatal(err)
	}
}

// leased gives the token of the lane called lane, and how long its lease lasts yet.
func (r *rig) leased() (token string, left time.Duration) {
	r.t.Helper()
	conn, err := pgx.Connect(context.Background(), r.url)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	err = conn.QueryRow(context.Background(), `SELECT lease_token::text, lease_until - clock_timestamp() FROM lanes WHERE name = 'lane'`).Scan(&token, &left)
	if err != nil {
		r.t.Fatal(err)
	}
	return token, left
}

// later lets all waits and leases end and all hints get old.
func (r *rig) later() {
	r.t.Helper()
	r.exec(`UPDATE jobs SET run_at = least(run_at, clock_timestamp()), published_at = published_at - interval '1 hour'`)
	r.exec(`UPDATE lanes SET lease_until = clock_timestamp() - interval '1 s' WHERE lease_until IS NOT NULL`)
}

func (r *rig) reconcile() {
	r.t.Helper()
	if err := r.reconciler().Pass(context.Background()); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) find(key string) *job.Job {
	r.t.Helper()
	j, err := r.db.Find(context.Background(), key)
	if err != nil || j == nil {
		r.t.Fatalf("find %s: %v, %v", key, j, err)
	}
	return j
}

func (r *rig) wantState(key string, want job.State) {
	r.t.Helper()
	if got := r.find(key).State; got != want {
		r.t.Errorf("job %s is %s, want %s", key, got, want)
	}
}

// fakeClock is two clocks that a test moves.
type fakeClock struct {
	mu   sync.Mutex
	mono time.Duration
	wall time.Time
}

func newFakeClock() *fakeClock { return &fakeClock{wall: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)} }

func (c *fakeClock) clock() job.Clock {
	return job.Clock{
		Mono: func() time.Duration { c.mu.Lock(); defer c.mu.Unlock(); return c.mono },
		Wall: func() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.wall },
	}
}

func (c *fakeClock) move(mono, wall time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mono += mono
	c.wall = c.wall.Add(wall)
}
