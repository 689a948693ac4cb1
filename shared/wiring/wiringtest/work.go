package wiringtest

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/job"
	"supportbot/shared/queue"
	"supportbot/shared/ticket"
)

// hints is a queue.Publisher that keeps the hints for the test to deliver.
type hints struct {
	mu   sync.Mutex
	list map[string][]int64
}

func (h *hints) Publish(_ context.Context, name string, hs ...queue.Hint) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.list == nil {
		h.list = map[string][]int64{}
	}
	for _, x := range hs {
		if x.Delay <= 0 {
			h.list[name] = append(h.list[name], x.Job)
		}
	}
	return nil
}

func (h *hints) take() map[string][]int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := h.list
	h.list = nil
	return list
}

// Insert inserts jobs and keeps their hints.
func (r *Rig) Insert(jobs ...job.New) []job.Inserted {
	r.T.Helper()
	made, err := r.DB.Insert(context.Background(), jobs)
	if err != nil {
		r.T.Fatal(err)
	}
	r.Publisher.Publish(context.Background(), made)
	return made
}

// Work delivers hints until there are none: everything that is due has run.
func (r *Rig) Work() {
	r.T.Helper()
	for list := r.hints.take(); len(list) > 0; list = r.hints.take() {
		for name, ids := range list {
			w := r.tickets
			if name == ticket.QueueDeliveries {
				w = r.deliveries
			}
			for _, id := range ids {
				if err := w.Work(context.Background(), id); err != nil {
					r.T.Error(err)
				}
			}
		}
	}
}

// Later lets time pass for the jobs: what waits for less than d becomes due and
// gets a hint, stages get older. It works on what is due.
func (r *Rig) Later(d time.Duration) {
	r.T.Helper()
	r.Exec(`UPDATE jobs SET run_at = run_at - make_interval(secs => $1), stage_at = stage_at - make_interval(secs => $1),
		published_at = published_at - interval '1 hour' WHERE open`, d.Seconds())
	r.Exec(`UPDATE lanes SET lease_until = lease_until - make_interval(secs => $1) WHERE lease_until IS NOT NULL`, d.Seconds())
	if err := (&job.Reconciler{Store: r.DB, Publisher: r.Publisher, Log: logger()}).Pass(context.Background()); err != nil {
		r.T.Fatal(err)
	}
	r.Work()
}

// Find gives a job that has to exist.
func (r *Rig) Find(key string) *job.Job {
	r.T.Helper()
	j, err := r.DB.Find(context.Background(), key)
	if err != nil || j == nil {
		r.T.Fatalf("find job %s: %v, %v", key, j, err)
	}
	return j
}

// Want checks a job's state.
func (r *Rig) Want(key string, want job.State) {
	r.T.Helper()
	if got := r.Find(key); got.State != want {
		r.T.Errorf("job %s is %s at %q (%s), want %s", key, got.State, got.Stage, r.Problem(key), want)
	}
}

// Result reads a job's result.
func (r *Rig) Result(key string, v any) {
	r.T.Helper()
	if err := json.Unmarshal(r.Find(key).Result, v); err != nil {
		r.T.Fatalf("result of %s: %v", key, err)
	}
}

// Problem gives a job's last error.
func (r *Rig) Problem(key string) string {
	return r.Text(`SELECT coalesce(last_error, '') FROM jobs WHERE key = $1`, key)
}

// Exec changes the database as nobody but a test does.
func (r *Rig) Exec(sql string, args ...any) {
	r.T.Helper()
	r.connect(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, sql, args...)
		return err
	})
}

// Text gives one value of one row as text.
func (r *Rig) Text(sql string, args ...any) (text string) {
	r.T.Helper()
	r.connect(func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, sql, args...).Scan(&text)
	})
	return text
}

// Keys gives the keys of the jobs of a kind, in the order of their lanes.
func (r *Rig) Keys(kind string) (keys []string) {
	r.T.Helper()
	r.connect(func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, `SELECT key FROM jobs WHERE kind = $1 ORDER BY lane, priority DESC, sequence, id`, kind)
		if err != nil {
			return err
		}
		keys, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return keys
}

func (r *Rig) connect(do func(context.Context, *pgx.Conn) error) {
	r.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, r.URL)
	if err != nil {
		r.T.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if err := do(ctx, conn); err != nil {
		r.T.Fatal(err)
	}
}
