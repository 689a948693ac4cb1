package notification_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/broadcast"
	"supportbot/shared/broadcasting"
	"supportbot/shared/catalogue"
	"supportbot/shared/dialog"
	"supportbot/shared/env"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/messenger/all"
	"supportbot/shared/metric"
	"supportbot/shared/notification"
	"supportbot/shared/pace"
	"supportbot/shared/person"
	"supportbot/shared/postgres"
	"supportbot/shared/postgres/schema"
	"supportbot/shared/redisdb"
)

const (
	telegramBot = "1099511627777"
	vkBot       = "209"

	adminKey    = "CANARY-key-of-an-admin"
	operatorKey = "CANARY-key-of-an-operator"
	analystKey  = "CANARY-key-of-an-analyst"
	revokedKey  = "CANARY-key-that-was-revoked"
)

// desk is the API over databases of its own, as its function wires it. Nothing is
// sent by it, so that the messengers' addresses lead nowhere.
type desk struct {
	t        *testing.T
	ctx      context.Context
	api      *notification.API
	deps     notification.Deps
	shelf    *shelf
	db       *postgres.DB
	sessions *redisdb.Sessions
	redis    *redis.Client
	conn     *pgx.Conn
	doc      *document
	tickets  []messenger.Address
	dossiers *dossiers
	log      *lockedBuffer

	mu    sync.Mutex
	clock time.Time
	keys  int
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	vars := map[string]string{
		"DATABASE_URL": backendtest.Postgres(t, schema.Migrate), "REDIS_URL": backendtest.Redis(t), "DATABASE_MAX_CONNS": "12",
		"TELEGRAM_TOKEN": telegramBot + ":CANARY-token", "TELEGRAM_WEBHOOK_SECRET": "CANARY-secret", "TELEGRAM_API_URL": "http://127.0.0.1:1",
		"VK_TOKEN": "CANARY-token", "VK_GROUP_ID": vkBot, "VK_SECRET": "CANARY-secret", "VK_CONFIRMATION": "x", "VK_API_URL": "http://127.0.0.1:1",
	}
	e := env.NewReaderFrom(func(name string) (string, bool) { v, ok := vars[name]; return v, ok })
	d := &desk{t: t, ctx: ctx, doc: readDocument(t), log: &lockedBuffer{}, clock: time.Now()}
	log := slog.New(slog.NewJSONHandler(d.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	messengers, err := all.New(all.ConfigFrom(e), log, nil)
	d.must(err)
	d.db, err = postgres.Open(postgres.ConfigFrom(e))
	d.must(err)
	t.Cleanup(d.db.Close)
	client, err := redisdb.Open(redisdb.ConfigFrom(e))
	d.must(err)
	d.redis = client
	t.Cleanup(func() { _ = client.Close() })
	d.conn, err = pgx.Connect(ctx, vars["DATABASE_URL"])
	d.must(err)
	t.Cleanup(func() { _ = d.conn.Close(context.Background()) })
	d.sessions, d.dossiers = redisdb.NewSessions(client), &dossiers{db: d.db}
	metrics, err := metric.New(metric.Files)
	d.must(err)
	d.shelf = &shelf{metrics: metrics}
	book, err := catalogue.Load(catalogue.Config{Queue: "SUP"})
	d.must(err)
	moscow, err := time.LoadLocation("Europe/Moscow")
	d.must(err)
	d.deps = notification.Deps{
		Store: d.db, Live: redisdb.NewLive(client), Sessions: d.sessions,
		Pacer:     pace.New(pace.ConfigFrom(e), redisdb.NewPace(client, redisdb.PaceConfig{}), log).Class(pace.Broadcasts),
		Publisher: nobody{}, Bots: messengers.Bots(), Locales: catalogue.Languages, Buttons: dialog.UnsubscribeButtons,
		Tickets: func(context.Context) ([]messenger.Address, error) { return d.tickets, nil },
		Senders: func(m messenger.Name, id string) (broadcasting.Sender, bool) {
			return messengers.For(messenger.Address{Messenger: m, Bot: id})
		},
		Now: d.now, Log: log, Metrics: metrics, Analytics: d.shelf, Catalogue: book, Zone: moscow, Privacy: d.dossiers,
	}
	d.api = notification.New(d.deps)
	for key, role := range map[string]person.Role{adminKey: person.Admin, operatorKey: person.Operator, analystKey: person.Analyst, revokedKey: person.Admin} {
		hash := sha256.Sum256([]byte(key))
		d.must(d.db.CreateKey(ctx, key[7:], role, hash[:], 0))
	}
	d.must(d.db.RevokeKey(ctx, revokedKey[7:]))
	t.Cleanup(d.quiet)
	return d
}

// nobody takes hints and delivers none.
type nobody struct{}

func (nobody) Publish(context.Context, []job.Inserted) {}

type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// quiet: no log shows a secret or what somebody wrote.
func (d *desk) quiet() {
	d.log.mu.Lock()
	defer d.log.mu.Unlock()
	if strings.Contains(d.log.text.String(), "CANARY") {
		d.t.Errorf("the log shows a secret or a text:\n%s", d.log.text.String())
	}
}

func (d *desk) now() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.clock
}

func (d *desk) later(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clock = d.clock.Add(by)
}

func (d *desk) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// session signs a person in.
func (d *desk) session(id int64, roles ...person.Role) (token string) {
	d.t.Helper()
	code, err := d.sessions.Code(d.ctx, person.Person{ID: id, Roles: roles, Locale: "ru"})
	d.must(err)
	_, token, ok, err := d.sessions.Open(d.ctx, code)
	d.must(err)
	if !ok {
		d.t.Fatal("the code opens nothing")
	}
	return token
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func (d *desk) exec(sql string, args ...any) {
	d.t.Helper()
	_, err := d.conn.Exec(d.ctx, sql, args...)
	d.must(err)
}

func (d *desk) number(sql string, args ...any) (n int64) {
	d.t.Helper()
	d.must(d.conn.QueryRow(d.ctx, sql, args...).Scan(&n))
	return n
}

// person makes a person with a chat in each of the messengers.
func (d *desk) person(set string, in ...messenger.Name) int64 {
	d.t.Helper()
	id := d.number(`INSERT INTO people DEFAULT VALUES RETURNING id`)
	for i, m := range in {
		bot := map[messenger.Name]string{messenger.Telegram: telegramBot, messenger.VK: vkBot}[m]
		d.exec(`INSERT INTO identities (messenger, bot, chat, person_id, user_id, seen_at)
			VALUES ($1, $2, $3, $4, $3, now() + make_interval(secs => $5))`, string(m), bot, fmt.Sprint(1<<40+id), id, i)
	}
	if set != "" {
		d.exec(`UPDATE people SET `+set+` WHERE id = $1`, id)
	}
	return id
}

// reply is an answer of the API.
type reply struct {
	t      *testing.T
	status int
	header http.Header
	body   []byte
}

// into reads the answer of a call that has to have succeeded.
func (r reply) into(v any) reply {
	r.t.Helper()
	if r.status >= 300 {
		r.t.Fatalf("got %d %s", r.status, r.body)
	}
	if err := json.Unmarshal(r.body, v); err != nil {
		r.t.Fatalf("%v: %s", err, r.body)
	}
	return r
}

func (r reply) problem() (p notification.Problem) {
	r.t.Helper()
	if err := json.Unmarshal(r.body, &p); err != nil {
		r.t.Fatalf("%d is no problem: %v: %s", r.status, err, r.body)
	}
	return p
}

// call makes a request as the admin's key with a new Idempotency-Key, unless the
// headers say otherwise ("" takes one away), and holds it and its answer against the
// document. A body is text, or anything that becomes JSON.
func (d *desk) call(method, path string, body any, headers ...string) reply {
	d.t.Helper()
	raw := []byte(nil)
	switch b := body.(type) {
	case nil:
	case string:
		raw = []byte(b)
	default:
		var err error
		raw, err = json.Marshal(b)
		d.must(err)
	}
	r := httptest.NewRequest(method, path, bytes.NewReader(raw)).WithContext(d.ctx)
	d.mu.Lock()
	d.keys++
	r.Header.Set("Idempotency-Key", fmt.Sprint("CANARY-", d.keys))
	d.mu.Unlock()
	r.Header.Set("X-API-Key", adminKey)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	w := httptest.NewRecorder()
	d.api.ServeHTTP(w, r)
	res := w.Result()
	text, err := io.ReadAll(res.Body)
	d.must(err)
	got := reply{d.t, res.StatusCode, res.Header, text}
	d.doc.judge(d.t, r, raw, got)
	return got
}

// make creates a broadcast and puts it into a state, by the database where the API
// alone does not get there.
func (d *desk) make(state broadcast.State, change ...func(map[string]any)) int64 {
	d.t.Helper()
	body := spec(change...)
	if state == broadcast.Draft {
		body["draft"] = true
	}
	if state == broadcast.Scheduled {
		body["start_at"] = d.now().Add(time.Hour)
	}
	var b broadcast.Broadcast
	d.call("POST", "/v1/broadcasts", body).into(&b)
	switch state {
	case broadcast.Draft, broadcast.Scheduled, broadcast.Planning:
	default:
		d.plan(b.ID)
		d.exec(`UPDATE broadcasts SET state = $2, started_at = now(),
			finished_at = CASE WHEN $2 IN ('finished', 'cancelled') THEN now() END WHERE id = $1`, b.ID, string(state))
	}
	return b.ID
}

// plan does what the planning job does.
func (d *desk) plan(id int64) {
	d.t.Helper()
	b, err := d.db.Broadcast(d.ctx, id)
	d.must(err)
	jobID := d.number(`UPDATE jobs SET state = 'running', lease_token = '00000000-0000-0000-0000-00000000000a' WHERE key = $1 RETURNING id`, broadcast.PlanKey(id))
	_, err = d.db.Plan(d.ctx, broadcast.Plan{
		Broadcast: b, Bots: broadcast.Bots{messenger.Telegram: telegramBot, messenger.VK: vkBot}, Tickets: d.tickets,
		Job: jobID, Token: "00000000-0000-0000-0000-00000000000a",
	})
	d.must(err)
	d.exec(`UPDATE jobs SET state = 'completed', lease_token = NULL WHERE id = $1`, jobID)
}

func spec(change ...func(map[string]any)) map[string]any {
	b := map[string]any{"kind": "news", "texts": map[string]any{"ru": "CANARY Вышла **новая** версия"}, "audience": map[string]any{}}
	for _, f := range change {
		f(b)
	}
	return b
}

func set(name string, v any) func(map[string]any) { return func(b map[string]any) { b[name] = v } }

func path(id int64, more string) string { return fmt.Sprintf("/v1/broadcasts/%d%s", id, more) }
