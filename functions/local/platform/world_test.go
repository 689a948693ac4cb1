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

	"supportbot/functions/local/platform"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/obs"
	"supportbot/shared/postgres/schema"
	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/telegram"
	sandboxtracker "supportbot/shared/sandbox/tracker"
	"supportbot/shared/sandbox/vk"
	"supportbot/shared/tracker"
)

// canaries must never be seen in a log.
const (
	telegramToken = "1099511627777:CANARY-telegram-token"
	vkToken       = "CANARY-vk-token"
	trackerToken  = "CANARY-tracker-token"
	secret        = "CANARY-webhook-secret"
)

// world is the platform, whole, between the three fake services and real
// databases of its own.
type world struct {
	t        *testing.T
	telegram *telegram.Server
	vk       *vk.Server
	tracker  *sandboxtracker.Server
	agent    *sandboxtracker.Agent
	calls    struct{ telegram, vk, tracker fault.Log }
	faults   struct{ telegram, vk, tracker fault.Set }
	env      map[string]string
	platform *platform.Platform
	url      string
	log      *syncBuffer
	ctx      context.Context
}

type option func(*world)

// newWorld starts everything; ctx ends the test's waits after 45 s.
func newWorld(t *testing.T, opts ...option) *world {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 45*time.Second)
	t.Cleanup(cancel)
	w := &world{t: t, ctx: ctx, log: &syncBuffer{}}
	w.services()
	w.env = map[string]string{
		"DATABASE_URL": backendtest.Postgres(t, schema.Migrate), "DATABASE_MAX_CONNS": "8",
		"REDIS_URL":      backendtest.RedisServer(t, redisOptions).URL(),
		"TELEGRAM_TOKEN": telegramToken, "TELEGRAM_WEBHOOK_SECRET": secret, "TELEGRAM_API_URL": serve(t, w.telegram),
		"VK_TOKEN": vkToken, "VK_GROUP_ID": "209", "VK_SECRET": secret, "VK_CONFIRMATION": "confirm", "VK_API_URL": serve(t, w.vk),
		"TRACKER_TOKEN": trackerToken, "TRACKER_ORG_ID": "77", "TRACKER_QUEUE": "SUP", "TRACKER_WEBHOOK_SECRET": secret,
		"TRACKER_API_URL": serve(t, w.tracker), "TRACKER_RATE_PER_SECOND": "200",
	}
	for _, o := range opts {
		o(w)
	}
	w.start()
	return w
}

func (w *world) services() {
	w.telegram = telegram.New(telegram.Config{Token: telegramToken, Calls: &w.calls.telegram, Faults: &w.faults.telegram})
	w.vk = vk.New(vk.Config{
		Token: vkToken, GroupID: 209, Secret: secret, Confirmation: "confirm", Calls: &w.calls.vk, Faults: &w.faults.vk,
		Connections: 4,
	})
	var fields []string
	for _, f := range tracker.Fields {
		fields = append(fields, string(f))
	}
	w.tracker = sandboxtracker.New(sandboxtracker.Config{
		Token: trackerToken, OrgID: "77", Calls: &w.calls.tracker, Faults: &w.faults.tracker,
		Queues: []sandboxtracker.Queue{sandboxtracker.DefaultQueue("SUP", fields...), sandboxtracker.DefaultQueue("BIL", fields...)},
	})
	w.agent = w.tracker.As("agent")
	w.t.Cleanup(func() { w.telegram.Close(); w.vk.Close(); w.tracker.Close() })
}

// start builds the platform, runs it and connects the services to it.
func (w *world) start() {
	w.t.Helper()
	p, err := platform.New(platform.Config{
		Lookup: func(name string) (string, bool) { v, ok := w.env[name]; return v, ok },
		Log:    func(f string) *slog.Logger { return obs.NewLogger(w.log, f, slog.LevelDebug) },
		Tick:   time.Second,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.platform = p
	w.url = serve(w.t, p.Handler)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); p.Run(ctx) }()
	w.t.Cleanup(func() { stop(); <-done; w.dump() })
	w.telegram.Connect(w.url+"/telegram", secret)
	w.vk.Connect(w.url + "/vk")
	for _, q := range []string{"SUP", "BIL"} {
		w.trigger(q)
	}
}

// trigger sets up what an operator sets up in Tracker.
func (w *world) trigger(queue string) {
	w.t.Helper()
	body := map[string]any{
		"name": "support bot", "conditions": []any{map[string]any{"type": "Or", "conditions": []any{
			map[string]any{"type": "And", "conditions": []any{
				map[string]string{"type": "Event.comment-create"}, map[string]string{"type": "CommentAuthorNot", "user": "support-robot"}}},
			map[string]any{"type": "And", "conditions": []any{
				map[string]string{"type": "Event.update"}, map[string]string{"type": "FieldChangedCondition", "field": "status"}}},
		}}},
		"actions": []any{map[string]any{
			"type": "Webhook", "endpoint": w.url + "/tracker", "method": "POST", "contentType": "application/json; charset=UTF-8",
			"headers": map[string]string{"X-Webhook-Secret": secret}, "authContext": map[string]string{"type": "noauth"},
			"body": `{"id":"{{issue.id}}","key":"{{issue.key}}"}`,
		}},
	}
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

// dump shows the log of a failed test, and lets no canary pass.
func (w *world) dump() {
	if strings.Contains(w.log.String(), "CANARY") {
		w.t.Error("a canary is in the log")
	}
	if w.t.Failed() || os.Getenv("TEST_LOG") != "" {
		w.t.Log("\n" + w.log.String())
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
		w.t.Fatalf("%s: %v; tickets: %s", what, err, show(last))
	}
	return last
}

func show(v any) string {
	raw, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(raw)
}
