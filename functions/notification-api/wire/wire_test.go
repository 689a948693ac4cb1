package wire_test

import (
	"context"
	"crypto/sha256"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	migrate "supportbot/functions/migrate/wire"
	"supportbot/functions/notification-api/wire"
	"supportbot/shared/analytics"
	"supportbot/shared/backend"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/clickhouse"
	"supportbot/shared/clickhouse/clickhousetest"
	"supportbot/shared/env"
	"supportbot/shared/person"
	"supportbot/shared/postgres"
	"supportbot/shared/postgres/schema"
	"supportbot/shared/wiring"
)

func TestMain(m *testing.M) {
	backend.ServeClickHouse()
	// A function keeps its pool of connections as long as its instance lives.
	pools := goleak.IgnoreTopFunction("github.com/jackc/pgx/v5/pgxpool.(*Pool).backgroundHealthCheck")
	goleak.VerifyTestMain(m, append(backendtest.Goroutines(), pools)...)
}

const key = "an analyst's"

// ask makes the function with these variables besides the usual ones, and calls it.
func ask(t *testing.T, path string, more map[string]string) (status int, body string) {
	t.Helper()
	vars := map[string]string{
		"DATABASE_URL": backendtest.Postgres(t, schema.Migrate), "REDIS_URL": backendtest.Redis(t),
		"QUEUE_ACCESS_KEY": "key", "QUEUE_SECRET_KEY": "secret",
		"QUEUE_URL_TICKETS": "http://127.0.0.1:1/t", "QUEUE_URL_DELIVERIES": "http://127.0.0.1:1/d", "QUEUE_URL_BROADCASTS": "http://127.0.0.1:1/b",
		"TELEGRAM_TOKEN": "1099511627777:token", "TELEGRAM_WEBHOOK_SECRET": "secret",
		"VK_TOKEN": "token", "VK_GROUP_ID": "209", "VK_SECRET": "secret", "VK_CONFIRMATION": "confirm",
		"TRACKER_TOKEN": "token", "TRACKER_ORG_ID": "77", "TRACKER_QUEUE": "SUP",
	}
	for name, value := range more {
		vars[name] = value
	}
	db, err := postgres.Open(postgres.Config{URL: env.NewSecret(vars["DATABASE_URL"])})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	hash := sha256.Sum256([]byte(key))
	if err := db.CreateKey(context.Background(), "charts", person.Analyst, hash[:], 0); err != nil {
		t.Fatal(err)
	}
	h, err := wire.New(wiring.Runtime{
		Env: env.NewReaderFrom(func(name string) (string, bool) { v, ok := vars[name]; return v, ok }), Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("X-API-Key", key)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// The function finds the views that migrate has made, and counts days in the zone of
// the deployment.
func TestMetrics(t *testing.T) {
	t.Parallel()
	address := clickhousetest.Empty(t)
	if err := migrate.Analytics(context.Background(), clickhouse.Config{URL: env.NewSecret(address)}); err != nil {
		t.Fatal(err)
	}
	opened := time.Date(2026, 1, 1, 20, 0, 0, 0, time.UTC) // the 2nd there
	rows := clickhousetest.Open(t, address)
	if err := rows.InsertTickets(context.Background(), []analytics.Ticket{{Issue: "a", CreatedAt: opened, Messenger: "vk"}}, opened); err != nil {
		t.Fatal(err)
	}
	status, body := ask(t, "/v1/metrics/tickets_by_messenger?from=2026-01-02&to=2026-01-03", map[string]string{
		"CLICKHOUSE_URL": address, "REPORT_TIMEZONE": "Asia/Yekaterinburg",
	})
	if status != http.StatusOK || !strings.Contains(body, `"rows":[["2026-01-02","VK",1]]`) {
		t.Errorf("got %d %s", status, body)
	}
}

// Without ClickHouse there are broadcasts all the same.
func TestNoAnalytics(t *testing.T) {
	t.Parallel()
	if status, body := ask(t, "/v1/metrics", nil); status != http.StatusServiceUnavailable || !strings.Contains(body, "CLICKHOUSE_URL") {
		t.Errorf("got %d %s", status, body)
	}
	if status, body := ask(t, "/v1/openapi.json", nil); status != http.StatusOK {
		t.Errorf("got %d %s", status, body)
	}
}
