package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"supportbot/functions/local/chaos/elapse"
	"supportbot/functions/local/chaos/process"
	"supportbot/functions/local/platform"
	"supportbot/shared/backend"
	"supportbot/shared/messenger"
	"supportbot/shared/obs"
	"supportbot/shared/queue/memqueue"
	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/telegram"
	"supportbot/shared/sandbox/tracker"
	"supportbot/shared/sandbox/vk"
	port "supportbot/shared/tracker"
)

// Options say how a scenario is played.
type Options struct {
	Recipients int
	Stores     Stores
	Log        io.Writer // of the workers
	Hurry      bool      // see Scenario.Hurry
}

const (
	telegramBot   = "1099511627777"
	telegramToken = telegramBot + ":token"
	vkToken       = "token"
	vkGroup       = 209
	secret        = "secret"
)

// world is one scenario being played: databases, a messenger, workers.
type world struct {
	Scenario
	Options
	hurry   bool
	kills   atomic.Int64 // by SIGKILL
	stops   atomic.Int64 // by SIGTERM
	sent    atomic.Int64 // see gotOn
	began   time.Time
	db      *pgxpool.Pool
	server  *backend.Server // the scenario's own PostgreSQL; nil: it may not be restarted
	redis   *redis.Client
	queue   *memqueue.Broker
	api     http.Handler
	gate    gate
	calls   fault.Log // of the messenger
	faults  fault.Set
	later   atomic.Int64 // how far the messenger's clock is ahead
	vars    map[string]string
	workers []*process.Place
	closers []func() error

	telegram *telegram.Server
	vk       *vk.Server
}

// newWorld starts everything but the workers.
func newWorld(ctx context.Context, s Scenario, o Options) (w *world, err error) {
	w = &world{Scenario: s, Options: o, hurry: s.Hurry || o.Hurry, began: time.Now(), queue: platform.NewQueue(nil)}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	w.services()
	if err := w.stores(ctx); err != nil {
		return w, err
	}
	maps.Copy(w.vars, s.Vars)
	p, err := platform.New(platform.Config{ // for its API
		Lookup: w.lookup, Queue: w.queue,
		Log: func(f string) *slog.Logger { return obs.NewLogger(w.Log, f, slog.LevelInfo) },
	})
	if err != nil {
		return w, err
	}
	w.api = p.Handler
	return w, w.key(ctx)
}

func (w *world) lookup(name string) (string, bool) { v, ok := w.vars[name]; return v, ok }

// services starts the stand-ins. Their own limits are off unless they are the point.
func (w *world) services() {
	limit := w.Sink
	if limit == 0 {
		limit = -1
	}
	now := func() time.Time { return time.Now().Add(time.Duration(w.later.Load())) }
	var fields []string
	for _, f := range port.Fields {
		fields = append(fields, string(f))
	}
	t := tracker.New(tracker.Config{Token: "token", OrgID: "77", Queues: []tracker.Queue{tracker.DefaultQueue("SUP", fields...)}})
	w.vars = map[string]string{
		"TRACKER_TOKEN": "token", "TRACKER_ORG_ID": "77", "TRACKER_QUEUE": "SUP", "TRACKER_WEBHOOK_SECRET": secret,
		"TRACKER_API_URL": w.serve(t), "TRACKER_RATE_PER_SECOND": "100",
		process.QueueVariable: w.serve(platform.ServeQueue(w.queue)),
	}
	w.closers = append(w.closers, func() error { t.Close(); return nil })
	if w.Messenger == messenger.VK {
		w.vk = vk.New(vk.Config{
			Token: vkToken, GroupID: vkGroup, Secret: secret, Confirmation: "confirm",
			Calls: &w.calls, Faults: &w.faults, PerSecond: limit, Now: now,
		})
		w.gate.next = w.vk
		w.vars["VK_TOKEN"], w.vars["VK_GROUP_ID"], w.vars["VK_SECRET"], w.vars["VK_CONFIRMATION"] = vkToken, strconv.Itoa(vkGroup), secret, "confirm"
		w.vars["VK_RATE_PER_SECOND"] = "100000"
		w.closers = append(w.closers, func() error { w.vk.Close(); return nil })
	} else {
		w.telegram = telegram.New(telegram.Config{Token: telegramToken, Calls: &w.calls, Faults: &w.faults, PerSecond: limit, Now: now})
		w.gate.next = w.telegram
		w.vars["TELEGRAM_TOKEN"], w.vars["TELEGRAM_WEBHOOK_SECRET"] = telegramToken, secret
		w.vars["TELEGRAM_RATE_PER_SECOND"] = "100000"
		w.closers = append(w.closers, func() error { w.telegram.Close(); return nil })
	}
	w.vars[w.apiVariable()] = w.serve(w.gate.next)
}

func (w *world) apiVariable() string {
	if w.Messenger == messenger.VK {
		return "VK_API_URL"
	}
	return "TELEGRAM_API_URL"
}

func (w *world) serve(h http.Handler) string {
	server := httptest.NewServer(h)
	w.closers = append(w.closers, func() error { server.CloseClientConnections(); server.Close(); return nil })
	return server.URL
}

// stores opens the databases, for the workers and for what is done behind their backs.
func (w *world) stores(ctx context.Context) (err error) {
	if w.OwnPostgres {
		if w.server, err = w.Stores.Own(ctx); err != nil {
			return err
		}
		w.vars["DATABASE_URL"] = w.server.URL()
	} else if w.vars["DATABASE_URL"], err = w.Stores.Postgres(ctx); err != nil {
		return err
	}
	if w.vars["REDIS_URL"], err = w.Stores.Redis(ctx); err != nil {
		return err
	}
	// As many at once as a worker has calls under way: more would only wait.
	w.vars["DATABASE_MAX_CONNS"], w.vars["REDIS_TIMEOUT"] = "4", "5s"
	if w.db, err = pgxpool.New(ctx, w.vars["DATABASE_URL"]); err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	w.closers = append(w.closers, func() error { w.db.Close(); return nil })
	o, err := redis.ParseURL(w.vars["REDIS_URL"])
	if err != nil {
		return fmt.Errorf("open Redis: %w", err)
	}
	w.redis = redis.NewClient(o)
	w.closers = append(w.closers, w.redis.Close)
	return nil
}

// work starts the workers. Each reaches the messenger by an address of its own, so
// that it is known who made a call.
func (w *world) work() error {
	alone := w.Workers <= 1
	for range max(1, w.Workers) {
		vars := maps.Clone(w.vars)
		k := process.NewPlace(vars, w.Log, func() error {
			if w.hurry && alone {
				return w.pass(dead)
			}
			return nil
		})
		vars[w.apiVariable()] = w.serve(w.gate.of(k))
		if err := k.Start(); err != nil {
			return err
		}
		w.workers = append(w.workers, k)
	}
	return nil
}

// dead is how far time passes after a death: any lease and any claim is over then.
const dead = 2 * time.Minute

// pass lets time pass for the platform: every lease, wait and age is so much further
// on, and so is the messenger's clock.
func (w *world) pass(d time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	w.later.Add(int64(d))
	return elapse.Pass(ctx, w.db, w.redis, d)
}

// close ends everything; its error is a worker's.
func (w *world) close() error {
	var problems []error
	for _, k := range w.workers {
		problems = append(problems, k.Close())
	}
	for i := len(w.closers) - 1; i >= 0; i-- {
		problems = append(problems, w.closers[i]())
	}
	return errors.Join(problems...)
}
