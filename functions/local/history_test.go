package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"supportbot/functions/local/platform"
	"supportbot/shared/backend"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/clickhouse/clickhousetest"
	"supportbot/shared/obs"
	"supportbot/shared/postgres/schema"
	"supportbot/shared/sandbox"
)

func TestMain(m *testing.M) {
	backend.ServeClickHouse()
	// A function keeps its pool of connections as long as its instance lives.
	pools := goleak.IgnoreTopFunction("github.com/jackc/pgx/v5/pgxpool.(*Pool).backgroundHealthCheck")
	goleak.VerifyTestMain(m, append(backendtest.Goroutines(), pools)...)
}

// TestHistory_IsLoadedAndDisturbsNobody: what the page makes up is in the analytics, and
// the platform, whose triggers are set and who polls meanwhile, has nothing to do with it.
func TestHistory_IsLoadedAndDisturbsNobody(t *testing.T) {
	t.Parallel()
	const tickets = 150
	fakes, err := sandbox.Servers(sandbox.ServersConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fakes.Close)
	rows, address := clickhousetest.New(t)
	vars := variables{
		"DATABASE_URL": backendtest.Postgres(t, schema.Migrate), "REDIS_URL": backendtest.Redis(t), "CLICKHOUSE_URL": address,
		"TRACKER_WEBHOOK_SECRET": "s", "TELEGRAM_WEBHOOK_SECRET": "s", trackerRate: standInRate,
	}
	for _, v := range fakes.Variables() {
		vars[v.Name] = v.Value
	}
	vars["VK_CONFIRMATION"] = fakes.VKConfirmation
	get := func(name string) (string, bool) { v, ok := vars[name]; return v, ok } // nothing of the test's environment
	p, err := platform.New(platform.Config{
		Lookup: get, Tick: 100 * time.Millisecond, Log: func(f string) *slog.Logger { return obs.NewLogger(io.Discard, f, slog.LevelInfo) },
	})
	if err != nil {
		t.Fatal(err)
	}
	gateway := httptest.NewServer(p.Handler)
	t.Cleanup(gateway.Close)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	var running sync.WaitGroup
	start := func(f func() error) {
		running.Add(1)
		go func() { defer running.Done(); _ = f() }()
	}
	start(func() error { p.Run(ctx); return nil })
	t.Cleanup(func() { cancel(); running.Wait() })
	if _, err := connect(ctx, fakes, vars, p, gateway.URL, start); err != nil {
		t.Fatal(err)
	}
	if err := offerHistory(get, fakes.History); err != nil {
		t.Fatal(err)
	}
	page := sandbox.New(fakes.Config())
	t.Cleanup(page.Close)
	post(t, page, "/sandbox/api/history", fmt.Sprintf(`{"tickets":%d,"seed":5}`, tickets), nil)
	made(ctx, t, page)

	shown := 0
	for _, k := range fakes.Tracker.Tickets() {
		if k.Unique != "" || k.Queue == "SUP" { // others were moved out of sight by those who had opened them
			shown++
		}
	}
	if got := clickhousetest.Rows(t, rows, "SELECT count(), min(created_at) > now() - INTERVAL 366 DAY FROM tickets_latest"); len(got) != 1 || got[0] != fmt.Sprintf("(%d,1)", shown) || shown < tickets*9/10 {
		t.Errorf("%v tickets are loaded, want %d of the last year", got, shown)
	}
	polls := fakes.Tracker.Calls().Count()
	err = fakes.Tracker.Calls().More(ctx, polls+5) // the reconciler has looked since
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(ctx, vars["DATABASE_URL"])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	var jobs int
	if err := conn.QueryRow(ctx, `SELECT count(*) FROM jobs`).Scan(&jobs); err != nil || jobs != 0 {
		t.Errorf("the history made %d jobs, %v; want none", jobs, err)
	}
	for _, c := range append(fakes.Telegram.Calls().Since(0), fakes.VK.Calls().Since(0)...) {
		if strings.Contains(strings.ToLower(c.Method), "send") {
			t.Errorf("the bot made a call of %s, want nothing sent", c.Method)
		}
	}
}

// made waits until the page's history is there.
func made(ctx context.Context, t *testing.T, page *sandbox.Sandbox) {
	t.Helper()
	for {
		r := httptest.NewRequestWithContext(ctx, "GET", "http://localhost/sandbox/api/history", nil)
		w := httptest.NewRecorder()
		page.ServeHTTP(w, r)
		var pane struct {
			Head struct{ State, Problem string }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &pane); err != nil {
			t.Fatal(err)
		}
		switch pane.Head.State {
		case "done":
			return
		case "failed":
			t.Fatal(pane.Head.Problem)
		}
		select {
		case <-ctx.Done():
			t.Fatalf("it is still %s", pane.Head.State)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
