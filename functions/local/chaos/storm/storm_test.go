package storm_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"supportbot/functions/local/chaos/process"
	"supportbot/functions/local/chaos/storm"
	"supportbot/shared/backend"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/postgres/schema"
)

// TestMain is also the entry of the processes.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "chaos" && os.Args[2] == process.Command {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		err := process.Work(ctx)
		stop()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m, backendtest.Goroutines()...)
}

// TestChaos_Storm plays a short one, with everything in it; make chaos plays long ones.
func TestChaos_Storm(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute) // only ends what hangs
	defer cancel()
	o := storm.Options{
		Seed: 1, Calm: 4 * time.Second, Storm: 12 * time.Second, Customers: 8, Processes: 2, Lease: 15 * time.Second, Hurry: true, Dir: t.TempDir(),
		Postgres: backendtest.PostgresServer(t, backend.Options{Durable: true}),
		Redis:    backendtest.RedisServer(t, backend.Options{Durable: true}),
	}
	if err := schema.Migrate(ctx, o.Postgres.URL()); err != nil {
		t.Fatal(err)
	}
	var sheet bytes.Buffer
	err := storm.Play(ctx, o, &sheet)
	t.Log("\n" + sheet.String())
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(o.Dir, "storm.log"))
		t.Errorf("%v\n%s", err, log)
	}
}
