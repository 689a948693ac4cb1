package conversation_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/catalogue"
	"supportbot/shared/conversation"
	"supportbot/shared/dialog"
	"supportbot/shared/env"
	"supportbot/shared/messenger"
	"supportbot/shared/obs"
	"supportbot/shared/redisdb"
)

var chats atomic.Int64

// bench is one customer's conversation with everything that it touches. Redis is
// real; the rest remembers what it was asked and fails on demand.
type bench struct {
	t       *testing.T
	a       messenger.Address
	client  *redis.Client
	store   *redisdb.Conversations
	trips   *trips
	records *records
	sender  *sender
	lister  *lister
	hints   *hints
	pacer   *pacer
	log     *bytes.Buffer
	flood   conversation.Flood
	n       atomic.Int64
	mu      sync.Mutex
	now     time.Time
}

func newBench(t *testing.T) *bench {
	t.Helper()
	return newBenchAt(t, backendtest.Redis(t))
}

func newBenchAt(t *testing.T, url string) *bench {
	t.Helper()
	client, err := redisdb.Open(redisdb.Config{URL: env.NewSecret(url), Pool: 30, Timeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	n := (int64(1) << 41) + chats.Add(1)
	b := &bench{
		t: t, client: client, store: redisdb.NewConversations(client), trips: &trips{},
		// A bot for each test: CompleteStale sees all conversations of one Redis.
		a:       messenger.Address{Messenger: messenger.Telegram, Bot: fmt.Sprint("9", n), Chat: strconv.FormatInt(n, 10)},
		records: newRecords(), lister: &lister{}, hints: &hints{}, pacer: &pacer{}, log: &bytes.Buffer{},
		flood: conversation.Flood{Burst: 1000, Every: time.Millisecond},
		now:   time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC),
	}
	b.sender = &sender{bot: b.a.Bot}
	client.AddHook(b.trips)
	t.Cleanup(b.wantPlaces)
	return b
}

// wantPlaces: each call that went to the chat had a place of its own.
func (b *bench) wantPlaces() {
	b.t.Helper()
	b.sender.mu.Lock()
	defer b.sender.mu.Unlock()
	b.pacer.mu.Lock()
	defer b.pacer.mu.Unlock()
	if b.sender.calls > b.pacer.places {
		b.t.Errorf("%d calls in %d places", b.sender.calls, b.pacer.places)
	}
}

// service makes another process that works on the same stores.
func (b *bench) service(hook func(conversation.Stage)) *conversation.Service {
	return b.serviceOn(b.store, hook)
}

func (b *bench) serviceOn(store conversation.Store, hook func(conversation.Stage)) *conversation.Service {
	b.t.Helper()
	c, err := catalogue.Load(catalogue.Config{Queue: "SUP"})
	if err != nil {
		b.t.Fatal(err)
	}
	return conversation.New(conversation.Deps{
		Store: store, Records: b.records, Publisher: b.hints, Lister: b.lister, Pacer: b.pacer,
		Senders: []conversation.Sender{b.sender}, Catalogue: c, Flood: b.flood, Hook: hook, Now: b.clock,
		Log: obs.NewLogger(&locked{w: b.log}, "test", slog.LevelDebug),
	})
}

func (b *bench) clock() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

func (b *bench) wait(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(d)
}

func (b *bench) event(kind messenger.Kind) messenger.Event {
	n := b.n.Add(1)
	return messenger.Event{
		Key: fmt.Sprintf("telegram:%s:%d", b.a.Bot, n), Kind: kind, Address: b.a, Time: b.clock(),
		User: messenger.User{ID: b.a.Chat, Name: "canary-name", Username: "canary_nick", Locale: "ru"},
	}
}

func (b *bench) message(text string) messenger.Event {
	ev := b.event(messenger.EventMessage)
	ev.Sequence = (int64(1) << 42) + b.n.Load()
	ev.MessageID = strconv.FormatInt(ev.Sequence, 10)
	ev.Text = text
	if name, ok := strings.CutPrefix(text, "/"); ok {
		ev.Command, ev.Argument, _ = strings.Cut(name, " ")
	}
	return ev
}

func (b *bench) press(data string) messenger.Event {
	ev := b.event(messenger.EventPress)
	ev.Press = &messenger.Press{ID: "press" + ev.Key, Chat: b.a.Chat, User: b.a.Chat, Data: data}
	return ev
}

// do carries an event through, as a webhook does.
func (b *bench) do(s *conversation.Service, ev messenger.Event) conversation.Outcome {
	b.t.Helper()
	a, err := s.Accept(context.Background(), ev)
	if err != nil {
		b.t.Fatalf("accept %s: %v", ev.Key, err)
	}
	a.Finish(context.Background())
	return a.Outcome
}

// filled brings the conversation to the confirmation and gives the press of it.
func (b *bench) filled(s *conversation.Service) messenger.Event {
	b.t.Helper()
	b.do(s, b.message("/new"))
	b.do(s, b.press(b.sender.find("Вопрос")))
	b.do(s, b.message("canary-subject"))
	b.do(s, b.message("canary-text"))
	return b.press(b.sender.find("Отправить"))
}

// afterLease lets the reply lease of a dead process run out.
func (b *bench) afterLease() {
	b.client.HSet(context.Background(), "conversation:{"+b.a.String()+"}", "lu", 1)
	b.wait(dialog.LeaseTime)
}

func (b *bench) snapshot() dialog.Snapshot {
	b.t.Helper()
	s, err := b.store.Load(context.Background(), dialog.Lookup{Address: b.a, Key: "look"})
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

func (b *bench) wantNothingPending() {
	b.t.Helper()
	if p := b.snapshot().Pending; len(p) != 0 {
		b.t.Errorf("%d entries are pending", len(p))
	}
	all, err := b.store.Stale(context.Background(), 0, 100_000)
	if err != nil {
		b.t.Fatal(err)
	}
	if slices.Contains(all, b.a) {
		b.t.Error("the conversation is still listed")
	}
}

func (b *bench) wantTexts(want ...string) {
	b.t.Helper()
	got := b.sender.texts()
	for i := range want {
		want[i] = strings.ReplaceAll(dialog.Text("ru", want[i]), "{subject}", "canary-subject")
	}
	if !slices.Equal(got, want) {
		b.t.Errorf("sent: got %q, want %q", got, want)
	}
}
