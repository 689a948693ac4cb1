package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	host "supportbot/.ci/host"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/postgres/schema"
	"supportbot/shared/queue"
	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/telegram"
	sandboxtracker "supportbot/shared/sandbox/tracker"
	"supportbot/shared/sandbox/vk"
	"supportbot/shared/tracker"
)

// canaries are in what must never be seen in a log.
const (
	telegramToken = "1099511627777:CANARY-telegram-token"
	vkToken       = "CANARY-vk-token"
	trackerToken  = "CANARY-tracker-token"
	secret        = "CANARY-webhook-secret"
)

const waitTime = time.Minute

// world is what functions find around them: real databases and a queue of a
// test's own, and the three services' fakes.
type world struct {
	t        *testing.T
	ctx      context.Context
	telegram *telegram.Server
	vk       *vk.Server
	tracker  *sandboxtracker.Server
	calls    struct{ telegram, vk, tracker fault.Log }
	env      map[string]string // of every function
	queue    queue.Source
	db       *pgx.Conn
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t}
	var cancel context.CancelFunc
	w.ctx, cancel = context.WithTimeout(context.Background(), compileTime)
	t.Cleanup(cancel)
	w.telegram = telegram.New(telegram.Config{Token: telegramToken, Calls: &w.calls.telegram})
	w.vk = vk.New(vk.Config{Token: vkToken, GroupID: 209, Secret: secret, Confirmation: "CANARY-confirm", Calls: &w.calls.vk})
	var fields []string
	for _, f := range tracker.Fields {
		fields = append(fields, string(f))
	}
	w.tracker = sandboxtracker.New(sandboxtracker.Config{
		Token: trackerToken, OrgID: "77", Calls: &w.calls.tracker,
		Queues: []sandboxtracker.Queue{sandboxtracker.DefaultQueue("SUP", fields...)},
	})
	t.Cleanup(func() { w.telegram.Close(); w.vk.Close(); w.tracker.Close() })
	w.env = map[string]string{
		"DATABASE_URL": backendtest.Postgres(t, schema.Migrate), "REDIS_URL": backendtest.Redis(t),
		"TELEGRAM_TOKEN": telegramToken, "TELEGRAM_WEBHOOK_SECRET": secret, "TELEGRAM_API_URL": serve(t, w.telegram),
		"VK_TOKEN": vkToken, "VK_GROUP_ID": "209", "VK_SECRET": secret, "VK_CONFIRMATION": "CANARY-confirm", "VK_API_URL": serve(t, w.vk),
		"TRACKER_TOKEN": trackerToken, "TRACKER_ORG_ID": "77", "TRACKER_QUEUE": "SUP", "TRACKER_WEBHOOK_SECRET": secret,
		"TRACKER_API_URL": serve(t, w.tracker),
	}
	w.queue = queues(t, w.env)
	var err error
	if w.db, err = pgx.Connect(w.ctx, w.env["DATABASE_URL"]); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.db.Close(context.Background()) })
	return w
}

// function starts an instance with the world's environment and whatever is else in
// place of it. Its log is shown if the test fails, and may have no canary in it.
func (w *world) function(name string, instead ...map[string]string) *host.Process {
	w.t.Helper()
	env := maps.Clone(w.env)
	for _, i := range instead {
		maps.Copy(env, i)
	}
	p := function(w.t, name, env)
	w.t.Cleanup(func() {
		p.Close() // its log is whole then
		text := p.Log.String()
		if strings.Contains(text, "CANARY") {
			w.t.Errorf("a canary is in the log of %s", name)
		}
		if w.t.Failed() {
			w.t.Logf("%s:\n%s", name, text)
		}
	})
	return p
}

func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// patience is a context for one wait: plugins may have been compiled before.
func (w *world) patience() context.Context {
	ctx, cancel := context.WithTimeout(w.ctx, waitTime)
	w.t.Cleanup(cancel)
	return ctx
}

// job is a row.
type job struct {
	ID                      int64
	Queue, Kind, Key, State string
	Payload                 string
	Published               bool
}

// jobs gives the rows of a kind.
func (w *world) jobs(kind string) []job {
	w.t.Helper()
	rows, err := w.db.Query(w.ctx, `
		SELECT id, queue, kind, key, state, payload::text, published_at IS NOT NULL AS published
		FROM jobs WHERE kind = $1 ORDER BY id`, kind)
	if err != nil {
		w.t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[job])
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// theJob gives the only row of a kind.
func (w *world) theJob(kind string) job {
	w.t.Helper()
	all := w.jobs(kind)
	if len(all) != 1 {
		w.t.Fatalf("jobs of kind %s: got %+v, want one", kind, all)
	}
	return all[0]
}

// hintOf waits for the message that names a job.
func (w *world) hintOf(j job) queue.Message {
	w.t.Helper()
	for ctx := w.patience(); ; {
		messages, err := w.queue.Receive(ctx, j.Queue, 10, 5*time.Second)
		if err != nil {
			w.t.Fatalf("wait for the message of job %+v: %v", j, err)
		}
		for _, m := range messages {
			if h, err := queue.ParseHint(m.Body); err == nil && h.Job == j.ID {
				return m
			}
		}
	}
}

// called waits until a method of a fake's was called.
func (w *world) called(calls *fault.Log, method string) {
	w.t.Helper()
	if err := calls.Wait(w.patience(), func(all []fault.Call) bool {
		return slices.ContainsFunc(all, func(c fault.Call) bool { return c.Method == method && c.Status < 300 })
	}); err != nil {
		w.t.Fatalf("%s was not called: %v", method, err)
	}
}

// trigger sets up what an operator sets up in Tracker: comments are told to address.
func (w *world) trigger(address string) {
	w.t.Helper()
	body, err := json.Marshal(map[string]any{
		"name":       "support bot",
		"conditions": []any{map[string]string{"type": "Event.comment-create"}},
		"actions": []any{map[string]any{
			"type": "Webhook", "endpoint": address, "method": "POST", "contentType": "application/json; charset=UTF-8",
			"headers": map[string]string{"X-Webhook-Secret": secret}, "authContext": map[string]string{"type": "noauth"},
			"body": `{"id":"{{issue.id}}","key":"{{issue.key}}"}`,
		}},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(w.ctx, http.MethodPost, w.env["TRACKER_API_URL"]+"/v3/queues/SUP/triggers", bytes.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"OAuth " + trackerToken}, "X-Org-Id": {"77"}, "Content-Type": {"application/json"}}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode >= 300 {
		w.t.Fatalf("make trigger: %s", res.Status)
	}
}
