// Package wiringtest is the platform's workers between the three fake services
// and real databases, for tests that drive single jobs: the real adapters and the
// real job store, wired as in the cloud. Nothing runs by itself; a test delivers
// the hints (Work) and lets time pass (Later).
package wiringtest

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"testing"
	"time"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/conversation"
	"supportbot/shared/delivery"
	"supportbot/shared/env"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/messenger/all"
	"supportbot/shared/news"
	"supportbot/shared/postgres/schema"
	"supportbot/shared/privacy"
	"supportbot/shared/sandbox/telegram"
	sandbox "supportbot/shared/sandbox/tracker"
	"supportbot/shared/sandbox/vk"
	"supportbot/shared/ticket"
	"supportbot/shared/ticketing"
	"supportbot/shared/tracker"
	"supportbot/shared/wiring"
	"supportbot/shared/wiring/bot"
)

// Ids of the bots, and of the customers that Telegram and VK give.
const (
	TelegramBot = "1099511627777"
	VKBot       = "209"
	TelegramID  = 1<<40 + 4242
	VKID        = 1<<40 + 7171
)

// Secret is every secret of a Rig, a text that no log and no error may show.
const Secret = "CANARY-secret"

// Config changes a Rig before it starts.
type Config struct {
	Tracker sandbox.Config
	Env     map[string]string
	// Front, if set, stands before the fake Tracker: a peer that lies.
	Front func(next http.Handler) http.Handler
	// Hook is called at the points of jobs (job.Hook).
	Hook func(point string)
}

// Rig is the workers and what they work with.
type Rig struct {
	*bot.Bot
	T        testing.TB
	URL      string // of the database
	Telegram *telegram.Server
	VK       *vk.Server
	Tracker  *sandbox.Server
	Agent    *sandbox.Agent

	tickets, deliveries *job.Worker
	hints               *hints
}

// New starts everything but the work.
func New(t testing.TB, change ...func(*Config)) *Rig {
	t.Helper()
	cfg := Config{Tracker: trackerConfig(), Env: map[string]string{}}
	for _, f := range change {
		f(&cfg)
	}
	r := &Rig{T: t, hints: &hints{}}
	r.Telegram = telegram.New(telegram.Config{Token: TelegramBot + ":" + Secret})
	r.VK = vk.New(vk.Config{Token: Secret, GroupID: 209, Secret: Secret, Confirmation: "confirm"})
	r.Tracker = sandbox.New(cfg.Tracker)
	t.Cleanup(func() { r.Telegram.Close(); r.VK.Close(); r.Tracker.Close() })
	r.Agent = r.Tracker.As("agent")
	var front http.Handler = r.Tracker
	if cfg.Front != nil {
		front = cfg.Front(front)
	}
	r.URL = backendtest.Postgres(t, schema.Migrate)
	vkURL := serve(t, r.VK)
	r.VK.SetURL(vkURL)
	r.Telegram.Customer(telegram.User{ID: TelegramID, FirstName: "Иван"}).Write("/start")
	r.VK.Customer(vk.User{ID: VKID, FirstName: "Иван"}).Write("Начать")
	r.build(cfg, map[string]string{
		"DATABASE_URL": r.URL, "REDIS_URL": backendtest.Redis(t),
		"TELEGRAM_TOKEN": TelegramBot + ":" + Secret, "TELEGRAM_WEBHOOK_SECRET": Secret, "TELEGRAM_API_URL": serve(t, r.Telegram),
		"VK_TOKEN": Secret, "VK_GROUP_ID": VKBot, "VK_SECRET": Secret, "VK_CONFIRMATION": "confirm", "VK_API_URL": vkURL,
		"TRACKER_TOKEN": Secret, "TRACKER_ORG_ID": "77", "TRACKER_QUEUE": "SUP", "TRACKER_API_URL": serve(t, front),
		"TRACKER_RATE_PER_SECOND": "1000", "TRACKER_TIMEOUT": "2s",
	})
	return r
}

func trackerConfig() sandbox.Config {
	var fields []string
	for _, f := range tracker.Fields {
		fields = append(fields, string(f))
	}
	return sandbox.Config{
		Token: Secret, OrgID: "77",
		Queues: []sandbox.Queue{sandbox.DefaultQueue("SUP", fields...), sandbox.DefaultQueue("BIL", fields...)},
	}
}

func serve(t testing.TB, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// build wires the workers as their functions do.
func (r *Rig) build(cfg Config, vars map[string]string) {
	r.T.Helper()
	for name, v := range cfg.Env {
		vars[name] = v
	}
	rt := wiring.Runtime{
		Env: env.NewReaderFrom(func(name string) (string, bool) { v, ok := vars[name]; return v, ok }),
		Log: logger(), Queue: r.hints, Hook: cfg.Hook,
	}
	known := all.ConfigFrom(rt.Env)
	var err error
	if r.Bot, err = bot.New(rt); err != nil {
		r.T.Fatal(err)
	}
	r.T.Cleanup(func() { r.DB.Close(); _ = r.Redis.Close(); r.Bot.Tracker.Close() })
	messengers, err := all.New(known, rt.Log, r.Bot.Pace.Call)
	if err != nil {
		r.T.Fatal(err)
	}
	senders := make([]conversation.Sender, len(messengers))
	for i, m := range messengers {
		senders[i] = m
	}
	s := ticketing.New(ticketing.Deps{
		Tracker: r.Bot.Tracker, Records: r.DB, Lists: r.Tickets, Conversation: r.Conversation(senders...),
		Files:     func(a messenger.Address) (ticketing.Files, bool) { return messengers.For(a) },
		Catalogue: r.Catalogue, ReplyPrefix: r.Rule.Prefix, AgentLocale: r.AgentLocale, Zone: r.Zone, Log: rt.Log,
	})
	looker := news.New(news.Deps{
		Tracker: r.Bot.Tracker, Store: r.DB, Publisher: r.Publisher, Lists: r.Tickets, Rule: r.Rule, Log: rt.Log,
	})
	d := delivery.New(delivery.Deps{
		Tracker: r.Bot.Tracker, Records: r.DB, Reachable: r.SetReachable, Pacer: r.Pace, Rule: r.Rule,
		Senders:   func(a messenger.Address) (delivery.Sender, bool) { return messengers.For(a) },
		Catalogue: r.Catalogue, Log: rt.Log,
	})
	r.tickets = r.Worker(rt, ticket.QueueTickets, s.Kinds())
	private := r.Privacy(func(a messenger.Address) (privacy.Sender, bool) { return messengers.For(a) })
	r.deliveries = r.Worker(rt, ticket.QueueDeliveries, looker.Kinds(), d.Kinds(), private.Kinds())
}

func logger() *slog.Logger {
	if os.Getenv("TEST_LOG") != "" {
		return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	return slog.New(slog.NewTextHandler(io.Discard, nil))
}

// Telegrammer is the customer in Telegram: who they are, as jobs name them.
func Telegrammer() ticket.Customer {
	return customer(messenger.Telegram, TelegramBot, TelegramID)
}

// VKontakter is the customer in VK.
func VKontakter() ticket.Customer { return customer(messenger.VK, VKBot, VKID) }

func customer(m messenger.Name, bot string, id int64) ticket.Customer {
	chat := strconv.FormatInt(id, 10)
	return ticket.Customer{
		Address: messenger.Address{Messenger: m, Bot: bot, Chat: chat},
		User:    messenger.User{ID: chat, Name: "Иван *Звёздочка*", Username: "ivan_nick"}, Locale: "ru",
	}
}

// Context is for the calls that a test makes itself.
func (r *Rig) Context() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	r.T.Cleanup(cancel)
	return ctx
}
