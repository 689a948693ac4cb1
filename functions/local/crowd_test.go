package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"supportbot/functions/local/platform"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/obs"
	"supportbot/shared/postgres/schema"
	"supportbot/shared/sandbox"
)

// TestRegistering_BroadcastReachesTheCrowd: those who were made up are customers like
// others; a broadcast reaches each of them once, within the stand-ins' limits.
func TestRegistering_BroadcastReachesTheCrowd(t *testing.T) {
	t.Parallel()
	const people = 30
	fakes, err := sandbox.Servers(sandbox.ServersConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fakes.Close)
	vars := variables{"DATABASE_URL": backendtest.Postgres(t, schema.Migrate), "REDIS_URL": backendtest.Redis(t), "TRACKER_WEBHOOK_SECRET": "s", "TELEGRAM_WEBHOOK_SECRET": "s"}
	for _, v := range fakes.Variables() {
		vars[v.Name] = v.Value
	}
	vars["VK_CONFIRMATION"] = fakes.VKConfirmation
	get := func(name string) (string, bool) { v, ok := vars[name]; return v, ok } // nothing of the test's environment
	p, err := platform.New(platform.Config{
		Lookup: get, Tick: time.Second, Log: func(f string) *slog.Logger { return obs.NewLogger(io.Discard, f, slog.LevelInfo) },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	var running sync.WaitGroup
	running.Add(1)
	go func() { defer running.Done(); p.Run(ctx) }()
	t.Cleanup(func() { cancel(); running.Wait() })

	cfg := fakes.Config()
	cfg.Register = registering(vars)
	page := sandbox.New(cfg)
	t.Cleanup(page.Close)
	post(t, page, "/sandbox/api/chats/telegram/crowd", `{"count":`+strconv.Itoa(people)+`}`, nil)
	post(t, page, "/sandbox/api/chats/vk/crowd", `{"count":`+strconv.Itoa(people)+`}`, nil)

	conn, err := pgx.Connect(ctx, vars["DATABASE_URL"])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	hash := sha256.Sum256([]byte("key"))
	if _, err := conn.Exec(ctx, `INSERT INTO api_keys (name, role, hash) VALUES ('test', 'admin', $1)`, hash[:]); err != nil {
		t.Fatal(err)
	}
	post(t, p.Handler, "/v1/broadcasts", `{"kind":"news","texts":{"ru":"Новости","en":"News"},"fallback":"ru","audience":{}}`, http.Header{
		"X-Api-Key": {"key"}, "Idempotency-Key": {"1"},
	})
	for _, u := range fakes.Telegram.FindInCrowd("", people) {
		want := map[string]string{"ru": "Новости", "en": "News"}[u.Language]
		seen := func() int { return len(fakes.Telegram.Chat(u.ID)) }
		await(ctx, t, fakes.Telegram.Subscribe, seen)
		if chat := fakes.Telegram.Chat(u.ID); len(chat) != 1 || !strings.Contains(chat[0].Text, want) {
			t.Errorf("%d has %+v, want %q once", u.ID, chat, want)
		}
	}
	for _, u := range fakes.VK.FindInCrowd("", people) {
		await(ctx, t, fakes.VK.Subscribe, func() int { return len(fakes.VK.Chat(u.ID)) })
		if chat := fakes.VK.Chat(u.ID); len(chat) != 1 || !chat[0].Out {
			t.Errorf("%d has %+v, want the news once", u.ID, chat)
		}
	}
	var telegram, vk, known int
	err = conn.QueryRow(ctx, `SELECT count(*) FILTER (WHERE messenger = 'telegram'), count(*) FILTER (WHERE messenger = 'vk'), count(DISTINCT person_id) FROM identities`).
		Scan(&telegram, &vk, &known)
	if err != nil || telegram != people || vk != people || known != 2*people {
		t.Errorf("%d and %d identities of %d people, %v; want %d and %d of as many", telegram, vk, known, err, people, people)
	}
}

// post posts JSON and wants success.
func post(t *testing.T, h http.Handler, path, body string, header http.Header) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "http://localhost"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Sandbox", "1")
	for name, values := range header {
		r.Header[name] = values
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code >= http.StatusMultipleChoices {
		t.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
}

// await waits until n gives more than nothing.
func await(ctx context.Context, t *testing.T, subscribe func() (<-chan struct{}, func()), n func() int) {
	t.Helper()
	changes, stop := subscribe()
	defer stop()
	for n() == 0 {
		select {
		case <-changes:
		case <-ctx.Done():
			t.Fatal(fmt.Errorf("nothing came: %w", ctx.Err()))
		}
	}
}
