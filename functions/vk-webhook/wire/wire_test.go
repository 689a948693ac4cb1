package wire_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"supportbot/functions/vk-webhook/wire"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/env"
	"supportbot/shared/postgres/schema"
	"supportbot/shared/queue"
	"supportbot/shared/redisdb"
	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/vk"
	"supportbot/shared/ticket"
	"supportbot/shared/wiring"
)

func TestMain(m *testing.M) {
	// A function keeps its pool of connections as long as its instance lives.
	pools := goleak.IgnoreTopFunction("github.com/jackc/pgx/v5/pgxpool.(*Pool).backgroundHealthCheck")
	goleak.VerifyTestMain(m, append(backendtest.Goroutines(), pools)...)
}

// told names the queue of each hint.
type told chan string

func (c told) Publish(_ context.Context, name string, hints ...queue.Hint) error {
	for range hints {
		c <- name
	}
	return nil
}

// journal keeps what is logged.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(line []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(line)
}

// away: on a machine that is busy Redis may be too slow, and a process is alone then.
func (j *journal) away() (now bool, times int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	went, back := strings.Count(j.text.String(), "the shared pace is away"), strings.Count(j.text.String(), "the shared pace is back")
	return went > back, went
}

// answered waits until a customer has their answer: as a job, whose queue it gives, or at
// once.
func answered(hints <-chan string, calls func() []fault.Call) (queue string) {
	for {
		select {
		case queue = <-hints:
			return queue
		case <-time.After(time.Millisecond):
			if slices.ContainsFunc(calls(), func(c fault.Call) bool { return c.Method == "messages.send" }) {
				return "none"
			}
		}
	}
}

// While VK's pace is paused nothing is asked of VK, no name either: the customer is
// answered later.
func TestNew_EveryCallIsPaced(t *testing.T) {
	t.Parallel()
	calls := &fault.Log{}
	community := vk.New(vk.Config{Token: "token", GroupID: 209, Secret: "secret", Confirmation: "confirm", Calls: calls})
	api := httptest.NewServer(community)
	t.Cleanup(func() { community.Close(); api.Close() })
	community.SetURL(api.URL)
	vars := map[string]string{
		"DATABASE_URL": backendtest.Postgres(t, schema.Migrate), "REDIS_URL": backendtest.Redis(t),
		"VK_TOKEN": "token", "VK_GROUP_ID": "209", "VK_SECRET": "secret", "VK_CONFIRMATION": "confirm", "VK_API_URL": api.URL,
		"TRACKER_TOKEN": "token", "TRACKER_ORG_ID": "77", "TRACKER_QUEUE": "SUP", "TRACKER_API_URL": "http://127.0.0.1:1",
	}
	memory, err := redisdb.Open(redisdb.Config{URL: env.NewSecret(vars["REDIS_URL"])})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = memory.Close() })
	if err := redisdb.NewPace(memory, redisdb.PaceConfig{}).Pause(context.Background(), "vk:209", time.Hour); err != nil {
		t.Fatal(err)
	}
	hints, log := make(chan string, 10), &journal{}
	h, err := wire.New(wiring.Runtime{
		Env: env.NewReaderFrom(func(name string) (string, bool) { v, ok := vars[name]; return v, ok }),
		Log: slog.New(slog.NewTextHandler(log, nil)), Queue: told(hints),
	})
	if err != nil {
		t.Fatal(err)
	}
	webhook := httptest.NewServer(h)
	t.Cleanup(webhook.Close)
	community.Connect(webhook.URL)
	for n := int64(1); ; n++ {
		alone, times := log.away()
		before := len(calls.Since(0))
		community.Customer(vk.User{ID: 1<<41 + n, FirstName: "Анна", Allowed: true}).Write("/help")
		queue := answered(hints, func() []fault.Call { return calls.Since(before) })
		if _, now := log.away(); alone || now > times {
			continue // that was another pace
		}
		if queue != ticket.QueueDeliveries {
			t.Errorf("the answer is in %s", queue)
		}
		for _, c := range calls.Since(before) {
			if c.Method != vk.CallbackMethod {
				t.Errorf("%s was called", c.Method)
			}
		}
		return
	}
}
