package reconcile_test

import (
	"bytes"
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/dialog"
	"supportbot/shared/env"
	"supportbot/shared/messenger"
	"supportbot/shared/postgres"
	"supportbot/shared/postgres/schema"
	"supportbot/shared/reconcile"
	"supportbot/shared/redisdb"
)

// book is a messenger with a history, and everything else that the duty needs but
// the stores, which are real.
type book struct {
	t     *testing.T
	now   time.Time
	said  map[string][]messenger.Event // by chat
	calls int
	// What the next call to the messenger, or the next wait for it, ends with.
	err, wait error
	refused   []time.Duration

	taken map[string][]string      // texts by chat, each event once
	keys  map[string]int           // how often an event was handed on
	fail  map[string]error         // by chat
	after func(ev messenger.Event) // called when one was taken
	redis *redis.Client
	log   bytes.Buffer
	duty  *reconcile.Missed
}

func newBook(t *testing.T) *book {
	t.Helper()
	b := &book{
		t: t, now: time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC), said: map[string][]messenger.Event{},
		taken: map[string][]string{}, keys: map[string]int{}, fail: map[string]error{}, after: func(messenger.Event) {},
	}
	db, err := postgres.Open(postgres.Config{URL: env.NewSecret(backendtest.Postgres(t, schema.Migrate)), MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	if b.redis, err = redisdb.Open(redisdb.Config{URL: env.NewSecret(backendtest.Redis(t))}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.redis.Close() })
	b.duty = &reconcile.Missed{
		Messenger: b, Take: b.take, Store: dated{db, b}, Memory: redisdb.NewMemory(b.redis), Pace: b,
		Log: slog.New(slog.NewTextHandler(&b.log, nil)),
	}
	return b
}

// dated is the store with the clock of a test. It is months behind that of the
// machine, by which nothing may go.
type dated struct {
	*postgres.DB
	b *book
}

func (d dated) Now(context.Context) (time.Time, error) { return d.b.now, nil }

func (b *book) Name() messenger.Name { return messenger.VK }
func (b *book) Bot() string          { return "209" }

func (b *book) Wait(context.Context, messenger.Address, time.Duration) error { return b.wait }

func (b *book) Refused(_ context.Context, _ messenger.Address, wait time.Duration) {
	b.refused = append(b.refused, wait)
}

func (b *book) call(ctx context.Context, turn func(context.Context) error) error {
	if err := turn(ctx); err != nil {
		return err
	}
	b.calls++
	err := b.err
	b.err = nil
	return err
}

func (b *book) Chats(ctx context.Context, since time.Time, turn func(context.Context) error) (map[string]time.Time, error) {
	chats := map[string]time.Time{}
	for chat, all := range b.said {
		if last := all[len(all)-1].Time; !last.Before(since) {
			chats[chat] = last
		}
	}
	return chats, b.call(ctx, turn)
}

func (b *book) Said(
	ctx context.Context, chats []string, since, until time.Time, turn func(context.Context) error,
) (map[string][]messenger.Event, error) {
	said := map[string][]messenger.Event{}
	for _, chat := range chats {
		for _, ev := range b.said[chat] {
			if !ev.Time.Before(since) && ev.Time.Before(until) {
				said[chat] = append(said[chat], ev)
			}
		}
	}
	return said, b.call(ctx, turn)
}

// take is a conversation: it knows what it has taken, while Redis has the mark.
func (b *book) take(ctx context.Context, ev messenger.Event, mark string) error {
	if whole, err := b.duty.Memory.Marked(ctx, mark); err != nil || !whole {
		return cmp.Or(err, dialog.ErrForgotten)
	}
	if err := b.fail[ev.Address.Chat]; err != nil {
		return err
	}
	if b.keys[ev.Key]++; b.keys[ev.Key] == 1 {
		b.taken[ev.Address.Chat] = append(b.taken[ev.Address.Chat], ev.Text)
	}
	b.after(ev)
	return nil
}

// write lets a customer write now.
func (b *book) write(chat, text string) {
	n := len(b.said[chat])
	b.said[chat] = append(b.said[chat], messenger.Event{
		Key: chat + ":" + strconv.Itoa(n), Address: messenger.Address{Messenger: messenger.VK, Bot: "209", Chat: chat},
		Content: messenger.Content{Text: text}, Time: b.now.Truncate(time.Second),
	})
}

func (b *book) run() int {
	b.t.Helper()
	n, err := b.duty.Run(context.Background())
	if err != nil {
		b.t.Fatal(err)
	}
	return n
}

// later runs some time later.
func (b *book) later(d time.Duration) int {
	b.t.Helper()
	b.now = b.now.Add(d)
	return b.run()
}

func (b *book) want(chat string, texts ...string) {
	b.t.Helper()
	if got := b.taken[chat]; !slices.Equal(got, texts) {
		b.t.Errorf("chat %s: took %q, want %q", chat, got, texts)
	}
}

func (b *book) wipe() {
	b.t.Helper()
	if err := b.redis.FlushDB(context.Background()).Err(); err != nil {
		b.t.Fatal(err)
	}
}

// open gives the duty an empty Redis.
func open(b *book) {
	b.t.Helper()
	client, err := redisdb.Open(redisdb.Config{URL: env.NewSecret(backendtest.Redis(b.t))})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = client.Close() })
	b.redis, b.duty.Memory = client, redisdb.NewMemory(client)
}
