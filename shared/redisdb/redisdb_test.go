package redisdb_test

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/env"
	"supportbot/shared/messenger"
	"supportbot/shared/redisdb"
)

var chats atomic.Int64

// address gives every test a conversation of its own.
func address() messenger.Address {
	const base = int64(1) << 41
	return messenger.Address{Messenger: messenger.Telegram, Bot: "77", Chat: strconv.FormatInt(base+chats.Add(1), 10)}
}

func open(t *testing.T) *redis.Client {
	t.Helper()
	c, err := redisdb.Open(redisdb.Config{URL: env.NewSecret(backendtest.Redis(t))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestConfigFrom(t *testing.T) {
	t.Parallel()
	vars := map[string]string{"REDIS_URL": "rediss://u:canary@h:6380/0", "REDIS_POOL": "3", "REDIS_TIMEOUT": "250ms", "REDIS_CA": "/ca.pem"}
	r := env.NewReaderFrom(func(name string) (string, bool) { v, ok := vars[name]; return v, ok })
	got := redisdb.ConfigFrom(r)
	if got.URL.Reveal() != vars["REDIS_URL"] || got.Pool != 3 || got.Timeout != 250*time.Millisecond || got.CA != "/ca.pem" {
		t.Errorf("got %+v", got)
	}
	empty := env.NewReaderFrom(func(string) (string, bool) { return "", false })
	redisdb.ConfigFrom(empty)
	if err := empty.Err(); err == nil || !strings.Contains(err.Error(), "REDIS_URL") {
		t.Errorf("got %v, want REDIS_URL to be missed", err)
	}
}

func TestOpen_Refuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]redisdb.Config{
		"address":      {URL: env.NewSecret("http://canary:canary@host")},
		"certificates": {URL: env.NewSecret("rediss://canary@host:1"), CA: "/nowhere.pem"},
		"half of one":  {URL: env.NewSecret("rediss://canary@host:1"), CA: "-----BEGIN CERTIFICATE-----\nMIIB"},
	} {
		_, err := redisdb.Open(c)
		if err == nil {
			t.Errorf("%s: got no error", name)
		} else if strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: the error tells the password: %v", name, err)
		}
	}
}

// TestOpen_GivesUpSoon: a server that accepts and never answers costs the
// time-out, not more.
func TestOpen_GivesUpSoon(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := redisdb.Open(redisdb.Config{URL: env.NewSecret("redis://" + l.Addr().String()), Timeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	started := time.Now()
	if err := c.Ping(context.Background()).Err(); err == nil {
		t.Fatal("got an answer")
	}
	if took := time.Since(started); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := c.Ping(ctx).Err(); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
}
