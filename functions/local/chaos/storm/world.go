package storm

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"supportbot/functions/local/chaos/process"
	"supportbot/functions/local/platform"
	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/telegram"
	sandbox "supportbot/shared/sandbox/tracker"
	"supportbot/shared/sandbox/vk"
	"supportbot/shared/tracker"
)

const (
	telegramToken = "1099511627777:" + canary + "-telegram-token"
	vkToken       = canary + "-vk-token"
	trackerToken  = canary + "-tracker-token"
	secret        = canary + "-webhook-secret"
	apiKey        = canary + "-api-key"
	vkGroup       = 209
)

// world is the whole platform between its stand-ins and databases.
type world struct {
	Options
	db         *pgxpool.Pool
	redis      *redis.Client
	queue      *liar
	gateway    *gateway
	url        string // of the gateway
	trackerURL string
	adversary  *adversary
	log        *watch
	places     []*process.Place
	rest       sync.RWMutex        // held: no process starts
	vars       []map[string]string // of the processes, for those who hold rest
	ahead      time.Duration       // how far their clocks are on, see elapse
	hosts      map[string]int      // addresses of services, by the processes that know them
	limiter    *limiter
	struck     time.Time // when the calm was over
	asked      []News    // broadcasts, once everybody has gone
	customers  []*customer
	think      time.Duration // of a customer, on average
	closers    []func() error

	telegram *telegram.Server
	vk       *vk.Server
	tracker  *sandbox.Server
	agent    *sandbox.Agent
	calls    struct{ telegram, vk, tracker fault.Log }
	faults   [3]*fault.Set // of the services, in their order

	keysMu sync.Mutex
	keys   map[string]string // of tickets, by the first word of their titles
	read   int               // calls of the tracker's log that keys knows
}

func newWorld(ctx context.Context, o Options) (w *world, err error) {
	w = &world{Options: o, keys: map[string]string{}, hosts: map[string]int{}, gateway: &gateway{client: http.Client{Timeout: gatewayTime}}}
	w.adversary = newAdversary(w)
	w.queue = newLiar(platform.NewQueue(nil), o.Seed)
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	file, err := os.Create(filepath.Join(o.Dir, "storm.log"))
	if err != nil {
		return w, fmt.Errorf("make log: %w", err)
	}
	w.closers = append(w.closers, file.Close)
	w.log = newWatch(file, o.Postgres.URL(), o.Redis.URL())
	w.services()
	if err := w.stores(ctx); err != nil {
		return w, err
	}
	if err := w.work(); err != nil {
		return w, err
	}
	w.people()
	return w, w.connect(ctx)
}

// services starts the stand-ins, as strict as they are. VK's is less patient than the
// original may be, and forgives sooner.
func (w *world) services() {
	for i := range w.faults {
		w.faults[i] = &fault.Set{}
	}
	w.telegram = telegram.New(telegram.Config{Token: telegramToken, Calls: &w.calls.telegram, Faults: w.faults[0]})
	w.vk = vk.New(vk.Config{
		Token: vkToken, GroupID: vkGroup, Secret: secret, Confirmation: "confirm", Calls: &w.calls.vk, Faults: w.faults[1],
		Connections: 4, Retry: 500 * time.Millisecond, Patience: 10, Pause: 5 * time.Second,
	})
	var fields []string
	for _, f := range tracker.Fields {
		fields = append(fields, string(f))
	}
	w.tracker = sandbox.New(sandbox.Config{
		Token: trackerToken, OrgID: "77", Calls: &w.calls.tracker, Faults: w.faults[2],
		Queues: []sandbox.Queue{sandbox.DefaultQueue("SUP", fields...)},
	})
	w.agent = w.tracker.As("agent")
	w.closers = append(w.closers, func() error { w.telegram.Close(); w.vk.Close(); w.tracker.Close(); return nil })
}

// stores opens the databases, for what is done behind the platform's back.
func (w *world) stores(ctx context.Context) (err error) {
	if w.db, err = pgxpool.New(ctx, w.Postgres.URL()); err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	w.closers = append(w.closers, func() error { w.db.Close(); return nil })
	o, err := redis.ParseURL(w.Redis.URL())
	if err != nil {
		return fmt.Errorf("open Redis: %w", err)
	}
	w.redis = redis.NewClient(o)
	w.closers = append(w.closers, w.redis.Close)
	if w.limiter, err = listen(ctx, w.Redis.URL()); err != nil {
		return err
	}
	w.closers = append(w.closers, w.limiter.close)
	hash := sha256.Sum256([]byte(apiKey))
	if _, err := w.db.Exec(ctx, `INSERT INTO api_keys (name, role, hash) VALUES ('storm', 'admin', $1)`, hash[:]); err != nil {
		return fmt.Errorf("make key: %w", err)
	}
	return nil
}

// people are half in each messenger. The more they are the longer each takes to think,
// so that all of them stay within what the messengers take.
func (w *world) people() {
	w.think = max(time.Second, time.Duration(w.Customers)*50*time.Millisecond)
	for i := range w.Customers {
		c := &customer{w: w, n: i + 1, bursts: map[string]int{}, rand: rand.New(rand.NewPCG(w.Seed, 1<<40+uint64(i)))}
		if i%2 == 0 {
			c.phone = w.onTelegram(i)
		} else {
			c.phone = w.onVK(i)
		}
		w.customers = append(w.customers, c)
	}
}

// connect tells the services where the platform is.
func (w *world) connect(ctx context.Context) error {
	w.telegram.Connect(w.url+"/telegram", secret)
	w.vk.Connect(w.url + "/vk")
	a := platform.TrackerAccess{URL: w.trackerURL, Token: trackerToken, Org: "77"}
	return platform.ConnectTracker(ctx, a, "SUP", "support-robot", w.url+"/tracker", secret)
}

// keyOf gives the key of the ticket whose title begins with a word; "" if there is none.
func (w *world) keyOf(subject string) string {
	w.keysMu.Lock()
	defer w.keysMu.Unlock()
	for _, c := range w.calls.tracker.Since(w.read) {
		w.read = c.N
		if c.Method != "POST /v3/issues" || !c.Effect {
			continue
		}
		var asked struct{ Summary string }
		var made struct{ Key string }
		if json.Unmarshal(c.Params, &asked) == nil && json.Unmarshal(c.Result, &made) == nil {
			first, _, _ := strings.Cut(asked.Summary, " ")
			w.keys[first] = made.Key
		}
	}
	return w.keys[subject]
}

// close ends everything; its error is a process's.
func (w *world) close() error {
	var problems []error
	for _, p := range w.places {
		problems = append(problems, p.Close())
	}
	for i := len(w.closers) - 1; i >= 0; i-- {
		problems = append(problems, w.closers[i]())
	}
	return errors.Join(problems...)
}
