package redisdb_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/broadcast"
	"supportbot/shared/messenger"
	"supportbot/shared/redisdb"
)

func TestLive(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	_, client := processes(t, 1, redisdb.PaceConfig{})
	l := redisdb.NewLive(client)
	batch := func(id int64, m messenger.Name, c broadcast.Counts) broadcast.Batch {
		return broadcast.Batch{ID: id, Broadcast: 5, Messenger: m, Bot: "1", Counts: c}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	running := broadcast.Broadcast{ID: 5, State: broadcast.Running, Counts: broadcast.Counts{Total: 150}}
	// What a worker shows is no progress as long as nobody knows the other batches.
	must(l.Show(ctx, running, batch(1, messenger.Telegram, broadcast.Counts{Total: 100, Sent: 40}), 20))
	if _, ok, err := l.Progress(ctx, 5); ok || err != nil {
		t.Fatalf("progress without a batch: %v, %v", ok, err)
	}
	must(l.Put(ctx, running, []broadcast.Batch{
		batch(1, messenger.Telegram, broadcast.Counts{Total: 100, Sent: 40}), batch(2, messenger.VK, broadcast.Counts{Total: 50}),
	}))
	// Shown twice, or once more after a crash: counts are those of the batch, not added.
	for range 2 {
		must(l.Show(ctx, running, batch(1, messenger.Telegram, broadcast.Counts{Total: 100, Sent: 57, Blocked: 2, Uncertain: 1}), 20))
		must(l.Show(ctx, running, batch(2, messenger.VK, broadcast.Counts{Total: 50, Sent: 40, Failed: 3, Skipped: 2}), 15))
	}
	p, ok, err := l.Progress(ctx, 5)
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	want := broadcast.Counts{Total: 150, Sent: 97, Blocked: 2, Failed: 3, Uncertain: 1, Skipped: 2}
	if diff := cmp.Diff(want, p.Counts); diff != "" {
		t.Error(diff)
	}
	if p.Rate != 35 || p.State != broadcast.Running || p.EndsAt == nil {
		t.Fatalf("progress %+v", p)
	}
	// No messenger waits for another: the slower one is the end, 40 at 20 a second.
	if in := time.Until(*p.EndsAt); in > 2*time.Second || in < -10*time.Second {
		t.Errorf("ends in %s, want 2 s", in)
	}
	// A copy from before the planning does not outlive what the worker shows next.
	must(l.Put(ctx, broadcast.Broadcast{ID: 5, State: broadcast.Planning}, nil))
	if _, ok, _ := l.Progress(ctx, 5); ok {
		t.Error("batches and a total that do not agree are shown")
	}
	must(l.Show(ctx, running, batch(1, messenger.Telegram, broadcast.Counts{Total: 100, Sent: 58}), 20))
	if p, ok, _ = l.Progress(ctx, 5); !ok || p.State != broadcast.Running || p.Counts.Sent != 98 {
		t.Errorf("progress %+v, %v", p, ok)
	}
	must(l.Show(ctx, running, batch(2, messenger.VK, broadcast.Counts{Total: 50, Sent: 40}), 0))
	if p, _, _ = l.Progress(ctx, 5); p.EndsAt != nil {
		t.Errorf("an end is known though one messenger stands still: %+v", p)
	}
	must(l.SetState(ctx, 5, broadcast.Paused))
	if p, _, _ = l.Progress(ctx, 5); p.State != broadcast.Paused || p.EndsAt != nil {
		t.Errorf("paused: %+v", p)
	}
	if ttl := client.TTL(ctx, "broadcast:live:5").Val(); ttl <= 0 || ttl > 10*time.Second {
		t.Errorf("what nobody shows any more is kept for %s", ttl)
	}
	if _, ok, err := l.Progress(ctx, 6); ok || err != nil {
		t.Errorf("another broadcast: %v, %v", ok, err)
	}
}
