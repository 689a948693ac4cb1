package redisdb_test

import (
	"context"
	"testing"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/env"
	"supportbot/shared/redisdb"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	client, err := redisdb.Open(redisdb.Config{URL: env.NewSecret(backendtest.Redis(t))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	m := redisdb.NewMemory(client)
	holds := func(name string, want bool) {
		t.Helper()
		if got, err := m.Marked(ctx, name); got != want || err != nil {
			t.Errorf("%s: marked %v, %v, want %v", name, got, err, want)
		}
	}
	holds("a", false)
	for range 2 {
		if err := m.Mark(ctx, "a"); err != nil {
			t.Fatal(err)
		}
		holds("a", true)
	}
	holds("b", false)
	if err := client.FlushDB(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	holds("a", false)
	_ = client.Close()
	if _, err := m.Marked(ctx, "a"); err == nil {
		t.Error("a Redis that is away has marks")
	}
	if err := m.Mark(ctx, "a"); err == nil {
		t.Error("a Redis that is away takes marks")
	}
}
