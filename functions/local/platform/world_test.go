package platform_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"supportbot/functions/local/deploy"
	"supportbot/functions/local/platform"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/obs"
	"supportbot/shared/postgres/schema"
	"supportbot/shared/queue/memqueue"
	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/telegram"
	sandboxtracker "supportbot/shared/sandbox/tracker"
	"supportbot/shared/sandbox/vk"
	"supportbot/shared/tracker"
)

// Secrets must never be seen in a log, an error or a ticket; the names of the
// customers and what they write never in a log or an error.
const (
	canary        = "CANARY"
	telegramToken = "1099511627777:SECRET-CANARY-telegram-token"
	vkToken       = "SECRET-CANARY-vk-token"
	trackerToken  = "SECRET-CANARY-tracker-token"
	secret        = "SECRET-CANARY-webhook-secret"
	phone         = "79995554433"
)

// patience is how long a test may take, waiting for what it waits for: far more
// than it needs, since the machine may have others to serve. It only ends what hangs.
const patience = 8 * time.Minute

// world is the platform, whole, between the three fake services and databases of
// its own.
type world struct {
	t        *testing.T
	telegram *telegram.Server
	vk       *vk.Server
	tracker  *sandboxtracker.Server
	agent    *sandboxtracker.Agent
	calls    struct{ telegram, vk, tracker fault.Log }
	faults   struct{ telegram, vk, tracker fault.Set }
	env      map[string]string
	queue    *memqueue.Broker // that every platform in this process shares
	front    *front
	url      string // of the gateway
	log      *syncBuffer
	ctx      context.Context
	now      func() time.Time // of the fakes
	// Where the services are reached; a stopped one refuses every connection.
	hosts    struct{ telegram, vk, tracker *host }
	children []*crash // processes that run the platform, if it does not run in this one
	crash    *crash   // the one that dies
	fresh    bool     // nothing is set up at the services: make connect does it
	idle     bool     // the platform is called, and does nothing by itself
}

type option func(*world)

// newWorld starts everything, with one platform unless an option starts others.
func newWorld(t *testing.T, opts ...option) *world {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	w := &world{t: t, ctx: ctx, log: &syncBuffer{}, queue: platform.NewQueue(nil), front: &front{}, now: time.Now}
	w.env = map[string]string{}
	for _, o := range opts {
		o(w)
	}
	w.services()
	for name, value := range map[string]string{
		"DATABASE_MAX_CONNS": "4",
		"TELEGRAM_TOKEN":     telegramToken, "TELEGRAM_WEBHOOK_SECRET": secret, "TELEGRAM_API_URL": w.hosts.telegram.url(),
		"VK_TOKEN": vkToken, "VK_GROUP_ID": "209", "VK_SECRET": secret, "VK_CONFIRMATION": "confirm", "VK_API_URL": w.hosts.vk.url(),
		"TRACKER_TOKEN": trackerToken, "TRACKER_ORG_ID": "77", "TRACKER_QUEUE": "SUP", "TRACKER_WEBHOOK_SECRET": secret,
		"TRACKER_API_URL": w.hosts.tracker.url(), "TRACKER_RATE_PER_SECOND": "200",
	} {
		w.env[name] = value
	}
	if w.env["DATABASE_URL"] == "" {
		w.env["DATABASE_URL"] = backendtest.Postgres(t, schema.Migrate)
	}
	if w.env["REDIS_URL"] == "" {
		w.env["REDIS_URL"] = backendtest.Redis(t)
	}
	t.Cleanup(w.judge)
	for _, c := range w.children {
		c.start()
	}
	if w.children == nil {
		w.start()
	}
	w.connect()
	return w
}

func (w *world) services() {
	w.telegram = telegram.New(telegram.Config{
		Token: telegramToken, Calls: &w.calls.telegram, Faults: &w.faults.telegram, Now: w.now,
	})
	w.vk = vk.New(vk.Config{
		Token: vkToken, GroupID: 209, Secret: secret, Confirmation: "confirm", Calls: &w.calls.vk, Faults: &w.faults.vk,
		Connections: 4, Retry: 200 * time.Millisecond, Patience: 1000, Now: w.now,
	})
	var fields []string
	for _, f := range tracker.Fields {
		if !w.fresh {
			fields = append(fields, string(f))
		}
	}
	w.tracker = sandboxtracker.New(sandboxtracker.Config{
		Token: trackerToken, OrgID: "77", Calls: &w.calls.tracker, Faults: &w.faults.tracker,
		Queues: []sandboxtracker.Queue{sandboxtracker.DefaultQueue("SUP", fields...), sandboxtracker.DefaultQueue("BIL", fields...)},
	})
	w.agent = w.tracker.As("agent")
	w.hosts.telegram, w.hosts.vk, w.hosts.tracker = newHost(w.t, w.telegram), newHost(w.t, w.vk), newHost(w.t, w.tracker)
	w.t.Cleanup(func() { w.telegram.Close(); w.vk.Close(); w.tracker.Close() })
}

// start runs one more platform on the world's databases. It stops before the
// databases are gone.
func (w *world) start() (stop func()) {
	w.t.Helper()
	p, err := platform.New(platform.Config{
		Lookup: func(name string) (string, bool) { v, ok := w.env[name]; return v, ok },
		Log:    func(f string) *slog.Logger { return obs.NewLogger(w.log, f, slog.LevelDebug) },
		Queue:  w.queue,
		Tick:   time.Second,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.front.add(serve(w.t, p.Handler))
	if w.idle {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); p.Run(ctx) }()
	stop = func() { cancel(); <-done }
	w.t.Cleanup(stop)
	return stop
}

// connect does what an operator does: it tells the three services where the
// platform is.
func (w *world) connect() {
	w.t.Helper()
	url := serve(w.t, w.front)
	w.url = url
	if w.fresh {
		w.makeConnect()
		return
	}
	w.telegram.Connect(url+"/telegram", secret)
	w.vk.Connect(url + "/vk")
	for _, q := range []string{"SUP", "BIL"} {
		w.trigger(url, q)
	}
}

// trigger makes a queue's trigger.
func (w *world) trigger(url, queue string) {
	w.t.Helper()
	body := deploy.Trigger("support-robot", url+"/tracker", secret)
	raw, _ := json.Marshal(body)
	req, _ := http.NewRequestWithContext(w.ctx, http.MethodPost, w.env["TRACKER_API_URL"]+"/v3/queues/"+queue+"/triggers", bytes.NewReader(raw))
	req.Header.Set("Authorization", "OAuth "+trackerToken)
	req.Header.Set("X-Org-ID", "77")
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode >= 300 {
		text, _ := io.ReadAll(res.Body)
		w.t.Fatalf("make trigger: %d %s", res.StatusCode, text)
	}
}

func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// judge holds at the end of every test: no canary is in a log or a job's error,
// no secret and no address of a file in a ticket, nothing internal in a chat. It
// shows the log of a test that failed.
func (w *world) judge() {
	log := w.log.String()
	for _, word := range []string{canary, phone, "DATA RACE", "panicked"} {
		if strings.Contains(log, word) {
			w.t.Errorf("%q is in the log", word)
		}
	}
	if conn, err := pgx.Connect(context.Background(), w.env["DATABASE_URL"]); err == nil {
		var n int
		err := conn.QueryRow(context.Background(), `SELECT count(*) FROM jobs WHERE last_error LIKE $1 OR last_error LIKE $2`,
			"%"+canary+"%", "%"+phone+"%").Scan(&n)
		if err != nil || n > 0 {
			w.t.Errorf("a canary is in the error of %d jobs (%v)", n, err)
		}
		_ = conn.Close(context.Background())
	}
	tickets := show(w.tracker.Tickets())
	for _, word := range []string{"SECRET", w.env["TELEGRAM_API_URL"], w.env["VK_API_URL"]} {
		if strings.Contains(tickets, word) {
			w.t.Errorf("%q is in a ticket", word)
		}
	}
	for _, p := range w.telegram.People() {
		w.noneInternal(show(w.telegram.Chat(p.ID)))
	}
	for _, p := range w.vk.People() {
		w.noneInternal(show(w.vk.Chat(p.ID)))
	}
	if w.t.Failed() || os.Getenv("TEST_LOG") != "" {
		w.t.Log("\n" + log)
	}
}

func (w *world) noneInternal(chat string) {
	for _, word := range []string{"SECRET", "/reply", "support-bot:", "INTERNAL"} {
		if strings.Contains(chat, word) {
			w.t.Errorf("%q is in a chat: %s", word, chat)
		}
	}
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// eventually waits until the tracker's tickets satisfy ok.
func (w *world) eventually(what string, ok func([]sandboxtracker.Ticket) bool) []sandboxtracker.Ticket {
	w.t.Helper()
	var last []sandboxtracker.Ticket
	err := w.tracker.Wait(w.ctx, func(all []sandboxtracker.Ticket) bool { last = all; return ok(all) })
	if err != nil {
		w.t.Fatalf("%s: %v; jobs: %s; tickets: %s", what, err, w.jobs(), show(last))
	}
	return last
}

func show(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return b.String()
}
