package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/env"
	"supportbot/shared/job"
	"supportbot/shared/obs"
	"supportbot/shared/postgres"
	"supportbot/shared/queue"
	"supportbot/shared/ycf"
)

const (
	benchQueue = "tickets"
	benchKind  = "bench"
	lanes      = 1000 // of each worker: conversations are many, and short
)

// lives is workers that let jobs live: a job is accepted, published, claimed by the
// worker that gets its hint, and finished, with nothing done in between.
type lives struct {
	db     *postgres.DB
	url    string
	worker *job.Worker
	hints  *hints
	serial atomic.Int64
}

// hints is a queue that counts and keeps nothing: who inserts a job here takes its
// hint too.
type hints struct{ published atomic.Int64 }

// Publish implements queue.Publisher.
func (h *hints) Publish(_ context.Context, _ string, list ...queue.Hint) error {
	h.published.Add(int64(len(list)))
	return nil
}

func newLives(url string, connections int) (*lives, error) {
	db, err := postgres.Open(postgres.Config{URL: env.NewSecret(url), MaxConns: connections})
	if err != nil {
		return nil, err
	}
	l := &lives{db: db, url: url, hints: &hints{}}
	log := obs.NewLogger(io.Discard, "bench", slog.LevelInfo)
	l.worker = &job.Worker{
		Queue: benchQueue, Store: db, Log: log, Clock: job.SystemClock(),
		Publisher: &job.Publisher{Queue: l.hints, Store: db, Log: log},
		Kinds: map[string]job.Kind{benchKind: {
			Handle: func(context.Context, *job.Run) (job.Outcome, error) { return job.Outcome{}, nil },
		}},
	}
	return l, nil
}

// payload is as long as a customer's message.
var payload = map[string]string{
	"text": "Здравствуйте! Принтер на третьем этаже снова не печатает, мигает красная лампа. Посмотрите, пожалуйста, сегодня.",
	"user": "Иван Петров", "address": "telegram:1099511627777:2199023255553",
}

// keyed is a job like a customer's message: its key is what the messenger counts.
func keyed(lane string, n int64) job.New {
	key := fmt.Sprintf("telegram:1099511627777:%d", n)
	return job.New{
		Queue: benchQueue, Kind: benchKind, Key: key, Lane: job.Lane{Name: lane}, Sequence: n, Payload: payload, CorrelationID: key,
	}
}

func laneOf(worker, n int) string { return fmt.Sprintf("in:telegram:1099511627777:%d-%d", worker, n) }

// one lets one job live and gives its id.
func (l *lives) one(ctx context.Context, lane string, n int64) (int64, error) {
	made, err := l.db.Insert(ctx, []job.New{keyed(lane, n)})
	if err != nil {
		return 0, err
	}
	l.worker.Publisher.Publish(ctx, made)
	return made[0].ID, l.hint(ctx, made[0].ID)
}

// hint gives the worker a trigger's event.
func (l *lives) hint(ctx context.Context, id int64) error {
	body := queue.Hint{Job: id}.Body()
	return l.worker.Handle(ctx, &ycf.QueueEvent{Messages: []ycf.QueueMessage{{ID: strconv.FormatInt(id, 10), Body: body}}})
}

// run lets jobs live at so many workers for about d.
func (l *lives) run(ctx context.Context, workers int, d time.Duration) (float64, error) {
	start := time.Now()
	n, err := l.side(ctx, workers, func(ctx context.Context, worker int) (int, error) {
		n := 0
		for ; time.Since(start) < d; n++ {
			if _, err := l.one(ctx, laneOf(worker, n%lanes), l.serial.Add(1)); err != nil {
				return n, err
			}
		}
		return n, nil
	})
	return float64(n) / time.Since(start).Seconds(), err
}

// batch is how many jobs grow inserts at once: what a worker takes per claim.
const batch = 20

// grow lets jobs live until so many have ended: accepted by batches, everything else
// is the worker's own.
func (l *lives) grow(ctx context.Context, workers, rows int) error {
	var left atomic.Int64
	left.Store(int64(rows))
	_, err := l.side(ctx, workers, func(ctx context.Context, worker int) (int, error) {
		for n := 0; left.Add(-batch) >= 0; n++ {
			list := make([]job.New, batch)
			for i := range list {
				list[i] = keyed(laneOf(worker, n%lanes), l.serial.Add(1))
			}
			made, err := l.db.Insert(ctx, list)
			if err != nil {
				return n, err
			}
			l.worker.Publisher.Publish(ctx, made)
			if err := l.hint(ctx, made[0].ID); err != nil {
				return n, err
			}
		}
		return 0, nil
	})
	return err
}

// side runs f so many times side by side, with the time of a function, and gives the
// sum of its answers.
func (l *lives) side(ctx context.Context, workers int, f func(ctx context.Context, worker int) (int, error)) (int, error) {
	var (
		all   sync.WaitGroup
		total atomic.Int64
		mu    sync.Mutex
		errs  []error
	)
	for w := range workers {
		all.Add(1)
		go func() {
			defer all.Done()
			n, err := f(ctx, w)
			total.Add(int64(n))
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, err)
			}
		}()
	}
	all.Wait()
	return int(total.Load()), errors.Join(errs...)
}

// finished counts the jobs that completed; one that did not is an error.
func (l *lives) finished(ctx context.Context) (done int, err error) {
	var open int
	err = withConn(ctx, l.url, func(c *pgx.Conn) error {
		return c.QueryRow(ctx, `SELECT count(*) FILTER (WHERE state = 'completed'), count(*) FILTER (WHERE state <> 'completed')
			FROM jobs WHERE kind = $1`, benchKind).Scan(&done, &open)
	})
	if err == nil && open > 0 {
		err = fmt.Errorf("%d jobs did not complete", open)
	}
	return done, err
}

func (l *lives) close() { l.db.Close() }
