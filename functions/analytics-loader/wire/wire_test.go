package wire_test

import (
	"context"
	"io"
	"log/slog"
	"net/http/httptest"
	"testing"
	"time"

	"go.uber.org/goleak"

	"supportbot/functions/analytics-loader/wire"
	"supportbot/shared/backend"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/clickhouse/clickhousetest"
	"supportbot/shared/env"
	"supportbot/shared/postgres/schema"
	"supportbot/shared/redisdb"
	sandbox "supportbot/shared/sandbox/tracker"
)

func TestMain(m *testing.M) {
	backend.ServeClickHouse()
	goleak.VerifyTestMain(m, backendtest.Goroutines()...)
}

// Each kind of load calls Tracker at its own pace: where that of one is paused, the
// other one goes on.
func TestHandle_Paces(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	desk := sandbox.New(sandbox.Config{Token: "token", OrgID: "77"})
	web := httptest.NewServer(desk)
	t.Cleanup(func() { desk.Close(); web.Close() })
	_, address := clickhousetest.New(t)
	for name, tc := range map[string]struct {
		paused        string
		live, history bool // refused
	}{
		"nothing":   {paused: "telegram"},
		"history":   {paused: "tracker:history", history: true},
		"all loads": {paused: "tracker:loads", live: true, history: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			vars := map[string]string{
				"DATABASE_URL": backendtest.Postgres(t, schema.Migrate), "REDIS_URL": backendtest.Redis(t), "CLICKHOUSE_URL": address,
				"TRACKER_TOKEN": "token", "TRACKER_ORG_ID": "77", "TRACKER_QUEUE": "SUP", "TRACKER_API_URL": web.URL,
			}
			client, err := redisdb.Open(redisdb.Config{URL: env.NewSecret(vars["REDIS_URL"]), Timeout: 20 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = client.Close() }()
			if err := redisdb.NewPace(client, redisdb.PaceConfig{}).Pause(ctx, tc.paused, time.Hour); err != nil {
				t.Fatal(err)
			}
			e := env.NewReaderFrom(func(name string) (string, bool) { v, ok := vars[name]; return v, ok })
			f, err := wire.New(e, slog.New(slog.NewTextHandler(io.Discard, nil)), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			for event, refuses := range map[string]bool{"{}": tc.live, `{"since":"2020-01-01"}`: tc.history} {
				if r, err := f.Handle(ctx, []byte(event)); (err != nil) != refuses || r.Done == refuses {
					t.Errorf("%s: got %+v, %v, want it refused: %v", event, r, err, refuses)
				}
			}
		})
	}
}
