package chaos_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"supportbot/functions/local/chaos"
	"supportbot/shared/backend"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/messenger"
	"supportbot/shared/postgres/schema"
)

// TestMain is also the entry of the workers.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "chaos" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		err := chaos.Run(ctx, os.Args[2:], io.Discard)
		stop()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	// A function keeps its pool of connections as long as its instance lives.
	pools := goleak.IgnoreTopFunction("github.com/jackc/pgx/v5/pgxpool.(*Pool).backgroundHealthCheck")
	goleak.VerifyTestMain(m, append(backendtest.Goroutines(), pools)...)
}

// TestScenarios plays each in a small size, but those that wait for real leases:
// they are played by make chaos-broadcast.
func TestScenarios(t *testing.T) {
	t.Parallel()
	for _, s := range chaos.Scenarios() {
		if s.Slow {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			log := &buffer{}
			r, err := s.Play(context.Background(), chaos.Options{Recipients: size(s), Stores: stores{t}, Log: log, Hurry: true})
			if err != nil {
				t.Errorf("%v\n%s", err, log)
			}
			t.Log("\n" + r.String())
		})
	}
}

// size is enough for something to be under way when something happens, and for much to
// be left.
func size(s chaos.Scenario) int {
	switch {
	case s.Messenger == messenger.VK:
		return 600 // 25 in a call: it is killed more often than a job that gets nowhere may lose its worker
	case s.Hurry:
		return 200 // 64 under way
	}
	return 90
}

// stores are the databases of tests.
type stores struct{ t *testing.T }

func (s stores) Postgres(context.Context) (string, error) {
	return backendtest.Postgres(s.t, schema.Migrate), nil
}

func (s stores) Redis(context.Context) (string, error) { return backendtest.Redis(s.t), nil }

func (s stores) Own(ctx context.Context) (*backend.Server, error) {
	server := backendtest.PostgresServer(s.t, backend.Options{Durable: true})
	return server, schema.Migrate(ctx, server.URL())
}

// buffer takes what several workers log.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
