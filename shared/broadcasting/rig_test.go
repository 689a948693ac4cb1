package broadcasting_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/broadcast"
	"supportbot/shared/broadcasting"
	"supportbot/shared/env"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/messenger/all"
	"supportbot/shared/pace"
	"supportbot/shared/postgres"
	"supportbot/shared/postgres/schema"
	"supportbot/shared/queue"
	"supportbot/shared/redisdb"
	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/telegram"
	"supportbot/shared/sandbox/vk"
)

const (
	telegramBot = "1099511627777"
	vkBot       = "209"
	firstChat   = 1<<40 + 1
)

// studio is the service between real databases and the two fakes. Nothing runs by
// itself; a test tells when the worker is called, and for how long.
type studio struct {
	t        *testing.T
	ctx      context.Context
	db       *postgres.DB
	conn     *pgx.Conn
	telegram *telegram.Server
	vk       *vk.Server
	faults   struct{ telegram, vk fault.Set }
	front    front
	store    *meddling
	redis    *redis.Client
	pacer    *pace.Limiter
	worker   *job.Worker
	moved    []string

	mu    sync.Mutex // of conn
	chats []string
}

type setting struct {
	redis string
	rates map[messenger.Name]pace.Rates
}

// fast is a pace that keeps nobody waiting.
func fast() map[messenger.Name]pace.Rates {
	return map[messenger.Name]pace.Rates{
		messenger.Telegram: {All: 500, Broadcasts: 400}, messenger.VK: {All: 500, Broadcasts: 400},
	}
}

func newStudio(t *testing.T, change ...func(*setting)) *studio {
	t.Helper()
	c := setting{rates: fast()}
	for _, f := range change {
		f(&c)
	}
	if c.redis == "" {
		c.redis = backendtest.Redis(t)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	s := &studio{t: t, ctx: ctx}
	s.telegram = telegram.New(telegram.Config{Token: telegramBot + ":x", Faults: &s.faults.telegram, PerSecond: -1, Burst: -1})
	s.vk = vk.New(vk.Config{Token: "x", GroupID: 209, Secret: "x", Confirmation: "x", Faults: &s.faults.vk, PerSecond: -1})
	t.Cleanup(func() { s.telegram.Close(); s.vk.Close() })
	vkURL := s.serve(s.vk)
	s.vk.SetURL(vkURL)
	dsn := backendtest.Postgres(t, schema.Migrate)
	vars := map[string]string{
		"DATABASE_URL": dsn, "DATABASE_MAX_CONNS": "6", "REDIS_URL": c.redis,
		"TELEGRAM_TOKEN": telegramBot + ":x", "TELEGRAM_WEBHOOK_SECRET": "x", "TELEGRAM_API_URL": s.serve(s.telegram),
		"VK_TOKEN": "x", "VK_GROUP_ID": vkBot, "VK_SECRET": "x", "VK_CONFIRMATION": "x", "VK_API_URL": vkURL,
	}
	e := env.NewReaderFrom(func(name string) (string, bool) { v, ok := vars[name]; return v, ok })
	var err error
	s.db, err = postgres.Open(postgres.ConfigFrom(e))
	s.must(err)
	t.Cleanup(s.db.Close)
	s.conn, err = pgx.Connect(ctx, dsn)
	s.must(err)
	t.Cleanup(func() { _ = s.conn.Close(context.Background()) })
	s.store = &meddling{DB: s.db}
	client, err := redisdb.Open(redisdb.ConfigFrom(e))
	s.must(err)
	t.Cleanup(func() { _ = client.Close() })
	messengers, err := all.New(all.ConfigFrom(e), silent(), nil)
	s.must(err)
	s.build(c, client, messengers)
	return s
}

func silent() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func (s *studio) build(c setting, client *redis.Client, messengers all.Adapters) {
	s.redis = client
	limiter := pace.New(pace.Config{Messengers: c.rates}, redisdb.NewPace(client, redisdb.PaceConfig{}), silent()).Class(pace.Broadcasts)
	s.pacer = limiter
	publisher := &job.Publisher{Queue: nowhere{}, Store: s.db, Log: silent()}
	service := broadcasting.New(broadcasting.Deps{
		Store: s.store, Live: redisdb.NewLive(client), Publisher: publisher, Bots: messengers.Bots(), Pacer: limiter, Paid: limiter.Paid,
		Reachable: s.db.SetReachable,
		Moved: func(ctx context.Context, from messenger.Address, chat string) error {
			s.moved = append(s.moved, from.Chat+" -> "+chat)
			return s.db.MoveChat(ctx, from, chat)
		},
		Tickets: func(context.Context) ([]messenger.Address, error) { return nil, nil },
		Senders: func(m messenger.Name, bot string) (broadcasting.Sender, bool) {
			return messengers.For(messenger.Address{Messenger: m, Bot: bot})
		},
		Buttons: func(broadcast.Kind, string) []messenger.Button { return nil },
		Now:     time.Now, Log: silent(),
	})
	s.worker = &job.Worker{
		Queue: broadcast.Queue, Kinds: service.Kinds(), Store: s.db, Publisher: publisher, Log: silent(), Clock: job.SystemClock(),
	}
}

// nowhere takes hints and delivers none.
type nowhere struct{}

func (nowhere) Publish(context.Context, string, ...queue.Hint) error { return nil }

func (s *studio) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *studio) exec(sql string, args ...any) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.conn.Exec(s.ctx, sql, args...); err != nil {
		s.t.Errorf("%s: %v", sql, err)
	}
}

func (s *studio) number(sql string, args ...any) (n int) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.conn.QueryRow(s.ctx, sql, args...).Scan(&n); err != nil {
		s.t.Errorf("%s: %v", sql, err)
	}
	return n
}

// people makes n people who have written to a bot; it gives their chats.
func (s *studio) people(m messenger.Name, n int) []string {
	s.t.Helper()
	bot := map[messenger.Name]string{messenger.Telegram: telegramBot, messenger.VK: vkBot}[m]
	for range n {
		id := int64(firstChat + len(s.chats))
		if m == messenger.Telegram {
			s.telegram.Customer(telegram.User{ID: id, FirstName: "Иван", Started: true})
		} else {
			s.vk.Customer(vk.User{ID: id, FirstName: "Иван", Allowed: true})
		}
		chat := fmt.Sprint(id)
		s.exec(`WITH p AS (INSERT INTO people (locale) VALUES ('ru') RETURNING id)
			INSERT INTO identities (messenger, bot, chat, person_id, user_id, seen_at) SELECT $1, $2, $3, id, $3, now() FROM p`, string(m), bot, chat)
		s.chats = append(s.chats, chat)
	}
	return s.chats[len(s.chats)-n:]
}

// planned creates a broadcast and plans it.
func (s *studio) planned(change ...func(*broadcast.Spec)) int64 {
	s.t.Helper()
	spec := broadcast.Spec{Kind: broadcast.News, Content: broadcast.Content{Texts: map[string]string{"ru": "Новость"}}}
	for _, f := range change {
		f(&spec)
	}
	b, _, jobs, err := s.db.CreateBroadcast(s.ctx, broadcast.New{Spec: spec, By: "key:test"})
	s.must(err)
	s.must(s.worker.Work(s.ctx, jobs[0].ID))
	return b.ID
}

// stopBefore is how long before the end of a call a worker stops, together with what
// a batch leaves to itself.
const stopBefore = 18 * time.Second

// work calls the worker once for whatever is due, letting it send for so long; it
// says whether there was anything.
func (s *studio) work(ctx context.Context, sends time.Duration) bool {
	s.t.Helper()
	id := s.number(`SELECT coalesce((SELECT id FROM jobs WHERE open AND state <> 'running' AND held_at IS NULL AND run_at <= clock_timestamp()
		ORDER BY priority DESC, sequence, id LIMIT 1), 0)`)
	if id == 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, sends+stopBefore)
	defer cancel()
	if err := s.worker.Work(ctx, int64(id)); err != nil {
		s.t.Error(err)
	}
	return true
}

// until works until something holds.
func (s *studio) until(what string, holds func() bool) {
	s.t.Helper()
	for !holds() {
		if s.ctx.Err() != nil || !s.work(s.ctx, time.Minute) {
			s.pause(what)
		}
	}
}

// wait waits until something holds that others do.
func (s *studio) wait(what string, holds func() bool) {
	s.t.Helper()
	for !holds() {
		s.pause(what)
	}
}

// pause is the time between two looks at what gives no signal.
func (s *studio) pause(what string) {
	s.t.Helper()
	select {
	case <-s.ctx.Done():
		s.t.Fatalf("timed out: %s; the front has seen %d calls", what, len(s.calls("messages.send"))+len(s.calls("sendMessage")))
	case <-time.After(20 * time.Millisecond):
	}
}

// forget lets the pauses pass that Redis keeps.
func (s *studio) forget() {
	s.t.Helper()
	s.must(s.redis.FlushDB(s.ctx).Err())
}

// passed lets every wait be over: of jobs, of recipients, of the messengers.
func (s *studio) passed() {
	s.t.Helper()
	s.exec(`UPDATE recipients SET not_before = now() WHERE not_before > now()`)
	s.exec(`UPDATE jobs SET run_at = now() WHERE open AND state = 'queued' AND run_at > now()`)
	s.forget()
}

func (s *studio) is(id int64, state broadcast.State) func() bool {
	return func() bool {
		return s.number(`SELECT count(*) FROM broadcasts WHERE id = $1 AND state = $2`, id, string(state)) == 1
	}
}

// want checks the counts of a broadcast, and that no run of it counted as a failure.
func (s *studio) want(id int64, want broadcast.Counts) {
	s.t.Helper()
	b, err := s.db.Broadcast(s.ctx, id)
	s.must(err)
	if b.Counts != want {
		s.t.Errorf("counts %+v, want %+v", b.Counts, want)
	}
	if n := s.number(`SELECT coalesce(sum(attempts), 0) FROM jobs`); n != 0 {
		s.t.Errorf("%d runs count as failures", n)
	}
}

// got is how many messages of the bot a chat has.
func (s *studio) got(chat string) (n int) {
	var id int64
	_, _ = fmt.Sscan(chat, &id)
	for _, m := range s.telegram.Chat(id) {
		if m.Out {
			n++
		}
	}
	for _, m := range s.vk.Chat(id) {
		if m.Out {
			n++
		}
	}
	return n
}

// each checks how many messages each of the chats has.
func (s *studio) each(chats []string, want int) {
	s.t.Helper()
	for _, c := range chats {
		if n := s.got(c); n != want {
			s.t.Errorf("chat %s has %d messages, want %d", c, n, want)
		}
	}
}
