package bot_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http/httptest"
	"testing"
	"time"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/env"
	"supportbot/shared/postgres/schema"
	"supportbot/shared/queue/memqueue"
	"supportbot/shared/sandbox/fault"
	sandbox "supportbot/shared/sandbox/tracker"
	"supportbot/shared/tracker"
	"supportbot/shared/wiring"
	"supportbot/shared/wiring/bot"
)

// When Tracker refuses one function, no other calls it either until the time that
// it named is over.
func TestTracker_RefusesOneAndAllWait(t *testing.T) {
	t.Parallel()
	var faults fault.Set
	fake := sandbox.New(sandbox.Config{Token: "token", OrgID: "77", Faults: &faults, Queues: []sandbox.Queue{sandbox.DefaultQueue("SUP")}})
	t.Cleanup(fake.Close)
	web := httptest.NewServer(fake)
	t.Cleanup(web.Close)
	vars := map[string]string{
		"DATABASE_URL": backendtest.Postgres(t, schema.Migrate), "REDIS_URL": backendtest.Redis(t),
		"TRACKER_TOKEN": "token", "TRACKER_ORG_ID": "77", "TRACKER_QUEUE": "SUP", "TRACKER_API_URL": web.URL,
	}
	one, other := open(t, vars), open(t, vars)
	for _, b := range []*bot.Bot{one, other} {
		if _, err := b.Tracker.Myself(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	faults.Add(fault.Fault{Method: "GET /v3/issues/*", Kind: fault.Status, Status: 429, RetryAfter: 240, Times: 1})
	calls := len(fake.Calls().Since(0))
	for _, b := range []*bot.Bot{one, other, one} {
		_, err := b.Tracker.Issue(context.Background(), "SUP-1")
		var e *tracker.Error
		if !errors.As(err, &e) || e.Kind != tracker.RateLimited || e.RetryAfter < 3*time.Minute || e.RetryAfter > 4*time.Minute {
			t.Errorf("got %v, want to be told of the four minutes", err)
		}
	}
	if got := len(fake.Calls().Since(0)) - calls; got != 1 {
		t.Errorf("Tracker got %d calls, want the one that it refused", got)
	}
}

func open(t *testing.T, vars map[string]string) *bot.Bot {
	t.Helper()
	b, err := bot.New(wiring.Runtime{
		Env:   env.NewReaderFrom(func(name string) (string, bool) { v, ok := vars[name]; return v, ok }),
		Log:   slog.New(slog.NewTextHandler(io.Discard, nil)),
		Queue: memqueue.New(nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.DB.Close(); _ = b.Redis.Close(); b.Tracker.Close() })
	return b
}
