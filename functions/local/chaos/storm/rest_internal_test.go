package storm

import (
	"context"
	"testing"
	"time"

	"supportbot/shared/backend"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/postgres/schema"
)

// TestElapse_Brings: what a messenger has tried in vain so often that it would wait for a
// minute comes with the next round.
func TestElapse_Brings(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute) // only ends what hangs
	defer cancel()
	o := Options{
		Seed: 1, Customers: 1, Processes: 1, Hurry: true, Dir: t.TempDir(),
		Postgres: backendtest.PostgresServer(t, backend.Options{}), Redis: backendtest.RedisServer(t, backend.Options{}),
	}
	if err := schema.Migrate(ctx, o.Postgres.URL()); err != nil {
		t.Fatal(err)
	}
	w, err := newWorld(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.close(); err != nil {
			t.Error(err)
		}
	}()
	if left := w.left(ctx); left != "0 updates of Telegram's, 0 of VK's; no job" {
		t.Errorf("left is %s", left)
	}
	const tries = 7
	w.gateway.refuse.Store(tries)
	w.customers[0].phone.write("Здравствуйте")
	for w.calls.telegram.Count() < tries { // its waits are over
		w.telegram.Retry()
		if err := sleep(ctx, 10*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.elapse(ctx); err != nil {
		t.Fatal(err)
	}
	if err := w.customers[0].until(ctx, 30*time.Second, func() bool { return w.telegram.Undelivered() == 0 }); err != nil {
		t.Errorf("left is %s", w.left(ctx))
	}
}
