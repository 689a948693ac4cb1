package reproduce_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"supportbot/functions/local/platform"
	"supportbot/functions/local/reproduce"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/clickhouse/clickhousetest"
	"supportbot/shared/obs"
	"supportbot/shared/postgres/schema"
	"supportbot/shared/sandbox"
)

const events = "../../../testdata/events/"

func TestRecognize(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, event, function, want string
	}{
		{name: "telegram, 1.0", event: read(t, "testdata/telegram-10.json"), want: "telegram-webhook"},
		{name: "vk, 0.1", event: read(t, "testdata/vk-01.json"), want: "vk-webhook"},
		{name: "api, 1.0", event: read(t, events+"http-gateway-10.json"), want: "notification-api"},
		{name: "a queue", event: read(t, events+"queue.json"), want: "ticket-worker"},
		{name: "an environment's queue", event: strings.ReplaceAll(read(t, events+"queue.json"), ":tickets", ":support-test-broadcasts"), want: "notification-worker"},
		{name: "a queue of another", event: strings.ReplaceAll(read(t, events+"queue.json"), ":tickets", ":mails"), want: ""},
		{name: "a timer", event: read(t, events+"timer.json"), want: "reconciler"},
		{name: "the timer of the history", event: `{"messages":[{"details":{"trigger_id":"a1s","payload":"{\"since\":\"2020-01-01\"}"}}]}`, want: "analytics-loader"},
		{name: "a timer of another function", event: read(t, events+"timer.json"), function: "analytics-loader", want: "analytics-loader"},
		{name: "a direct call", event: read(t, events+"http-direct.json"), want: ""},
		{name: "a direct call of a function", event: read(t, events+"http-direct.json"), function: "vk-webhook", want: "vk-webhook"},
		{name: "an update alone", event: `{"update_id":1,"poll":{}}`, want: "telegram-webhook"},
		{name: "an event of VK alone", event: `{"type":"message_new","group_id":1,"object":{}}`, want: "vk-webhook"},
		{name: "a trigger's body", event: read(t, "testdata/tracker-body.json"), want: "tracker-handler"},
		{name: "something else", event: `{"hello":"world"}`, want: ""},
		{name: "no JSON", event: `hello`, want: ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e, err := reproduce.Recognize([]byte(test.event), test.function)
			if e.Function != test.want || (err == nil) != (test.want != "") {
				t.Errorf("got %q, %v, want %q", e.Function, err, test.want)
			}
		})
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// buffer is written to by functions that work side by side.
type buffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

// desk is a local platform on stand-ins.
type desk struct {
	cfg reproduce.Config
	out *bytes.Buffer
	log *buffer
}

// newDesk makes a desk; more are further variables and their values.
func newDesk(t *testing.T, more ...string) *desk {
	t.Helper()
	fakes, err := sandbox.Servers(sandbox.ServersConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fakes.Close)
	vars := map[string]string{
		"DATABASE_URL": backendtest.Postgres(t, schema.Migrate), "REDIS_URL": backendtest.Redis(t),
		"TELEGRAM_WEBHOOK_SECRET": "local-telegram", "TRACKER_WEBHOOK_SECRET": "local-tracker",
	}
	for _, v := range fakes.Variables() {
		vars[v.Name] = v.Value
	}
	for i := 0; i+1 < len(more); i += 2 {
		vars[more[i]] = more[i+1]
	}
	d := &desk{out: &bytes.Buffer{}, log: &buffer{}}
	queue := platform.NewQueue(nil)
	p, err := platform.New(platform.Config{
		Lookup: func(name string) (string, bool) { v, ok := vars[name]; return v, ok }, Queue: queue,
		Log: func(f string) *slog.Logger { return obs.NewLogger(d.log, f, slog.LevelDebug) },
	})
	if err != nil {
		t.Fatal(err)
	}
	d.cfg = reproduce.Config{
		Platform: p, Queue: queue, Services: fakes, Out: d.out,
		Secrets: reproduce.Secrets{Telegram: "local-telegram", VK: fakes.VKSecret, Tracker: "local-tracker", VKGroup: strconv.FormatInt(fakes.VKGroup, 10)},
	}
	return d
}

// TestRun: each event reaches its function, which does with it what it did in
// production, and all of it is shown.
func TestRun(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, event string
		want        []string
	}{
		{"a start in Telegram", read(t, "testdata/telegram-10.json"), []string{
			"HTTP, POST /telegram -> telegram-webhook", "answer: 200", "call: Telegram sendMessage", "1099511639001", "-> 200",
		}},
		{"a message in VK", read(t, "testdata/vk-01.json"), []string{
			"HTTP, POST /vk -> vk-webhook", "answer: 200 ok", "call: VK messages.send", "1099511639002",
		}},
		{"a trigger of Tracker", read(t, "testdata/tracker-body.json"), []string{
			"HTTP, POST /tracker (the body alone) -> tracker-handler", "answer: 200", "call: none", "published to deliveries: job 1",
		}},
		{"hints of jobs that are not here", read(t, events+"queue.json"), []string{"the queue tickets -> ticket-worker", "answer: none, as it should be"}},
		{"a timer", read(t, events+"timer.json"), []string{"a timer -> reconciler", "answer: none, as it should be", "call: VK messages.getConversations"}},
		{"a call of the API", read(t, events+"http-gateway-10.json"), []string{"HTTP, POST /v1/broadcasts/17 -> notification-api", "answer: 4"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			e, err := reproduce.Recognize([]byte(test.event), "")
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			if err := reproduce.Run(ctx, d.cfg, e); err != nil {
				t.Errorf("%v\n%s", err, d.log.String())
			}
			for _, want := range test.want {
				if !strings.Contains(d.out.String(), want) {
					t.Errorf("%q is not shown:\n%s\n%s", want, d.out, d.log.String())
				}
			}
			if strings.Contains(d.out.String()+d.log.String(), "CANARY") {
				t.Errorf("a recorded secret is shown: %s", d.out)
			}
		})
	}
}

// TestRun_History: the timer of the history brings its event to the loader, which needs
// a ClickHouse and says so.
func TestRun_History(t *testing.T) {
	t.Parallel()
	e, err := reproduce.Recognize([]byte(`{"messages":[{"details":{"trigger_id":"a1s","payload":"{\"since\":\"2020-01-01\"}"}}]}`), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := reproduce.Run(context.Background(), newDesk(t).cfg, e); err == nil || !strings.Contains(err.Error(), "needs CLICKHOUSE_URL") {
		t.Errorf("without a ClickHouse: got %v", err)
	}
	_, url := clickhousetest.New(t)
	d := newDesk(t, "CLICKHOUSE_URL", url)
	if err := reproduce.Run(context.Background(), d.cfg, e); err != nil {
		t.Errorf("%v\n%s", err, d.log.String())
	}
	for _, want := range []string{"a timer -> analytics-loader", `answer: {`, `"done":true`, "call: Tracker"} {
		if !strings.Contains(d.out.String(), want) {
			t.Errorf("%q is not shown:\n%s\n%s", want, d.out, d.log.String())
		}
	}
}

func TestRun_NoSuchFunction(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	err := reproduce.Run(context.Background(), d.cfg, reproduce.Event{Function: "migrate", Raw: []byte(`{}`)})
	if err == nil || !strings.Contains(err.Error(), "migrate is no function of the local platform") {
		t.Errorf("got %v", err)
	}
}
