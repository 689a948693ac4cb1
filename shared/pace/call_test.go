package pace_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/env"
	"supportbot/shared/messenger"
	"supportbot/shared/messenger/vk"
	"supportbot/shared/pace"
	"supportbot/shared/redisdb"
)

var _ = vk.Config{Pace: (*pace.Limiter)(nil).Call}

func customer(chat string) messenger.Address {
	return messenger.Address{Messenger: messenger.VK, Bot: "209", Chat: chat}
}

// Calls that go to no chat take their places from messages, and wait for no chat.
func TestCall(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	url, cfg := backendtest.Redis(t), pace.Config{Messengers: map[messenger.Name]pace.Rates{
		messenger.VK: {All: 100, Broadcasts: 50, Chat: pace.Bucket{Rate: 0.001, Burst: 1}},
	}}
	l, other := overRedis(t, url, cfg), overRedis(t, url, cfg)
	begun := time.Now()
	for _, chat := range []string{"1", "2", "3", "4"} {
		err := errors.Join(l.Wait(ctx, customer(chat), time.Second), l.Call(ctx, messenger.VK, "209"), other.Call(ctx, messenger.VK, "209"))
		if err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(begun); took < 90*time.Millisecond {
		t.Errorf("12 calls at 100/s took %s", took)
	}
	if err := l.Call(ctx, messenger.VK, "another"); err != nil {
		t.Errorf("another bot: %v", err)
	}
	l.Refused(ctx, customer("1"), time.Hour)
	l.Refused(ctx, customer("2"), time.Hour)
	wantLater(t, other.Call(ctx, messenger.VK, "209"), time.Second, time.Minute) // until the probe
}

// A call that goes to no chat does not see whether a messenger takes messages again: while
// that is paused it leaves the probe to a message.
func TestCall_IsNoProbe(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	client, err := redisdb.Open(redisdb.Config{URL: env.NewSecret(backendtest.Redis(t))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	store := redisdb.NewPace(client, redisdb.PaceConfig{Probe: time.Millisecond, Settle: time.Minute})
	l := pace.New(pace.Config{Patience: 20 * time.Second}, store, slog.New(slog.NewTextHandler(io.Discard, nil)))
	l.Refused(ctx, customer("1"), time.Hour)
	l.Refused(ctx, customer("2"), time.Hour)
	for begun := time.Now(); time.Since(begun) < 5*time.Millisecond; {
		wantLater(t, l.Call(ctx, messenger.VK, "209"), 50*time.Second, 61*time.Second)
	}
	if err := l.Wait(ctx, customer("3"), time.Second); err != nil {
		t.Errorf("a message: %v", err)
	}
	wantLater(t, l.Call(ctx, messenger.VK, "209"), 50*time.Second, time.Minute)
}

// wantLater checks that an error tells when to come again, and blames nobody.
func wantLater(t *testing.T, err error, least, most time.Duration) {
	t.Helper()
	var e *messenger.Error
	var long *pace.TooLong
	if !errors.As(err, &e) || e.Kind != messenger.RateLimited || e.Refused() || !errors.As(err, &long) {
		t.Fatalf("got %v, want an error of the limiter's", err)
	}
	if e.RetryAfter < least || e.RetryAfter > most || e.RetryAfter != long.Wait {
		t.Errorf("to come again in %s, want %s to %s", e.RetryAfter, least, most)
	}
}

// Without Redis, calls and messages together keep to the process's share.
func TestCall_Away(t *testing.T) {
	t.Parallel()
	ctx, h := context.Background(), newHand()
	l, _, _ := alone(h, pace.Config{Messengers: map[messenger.Name]pace.Rates{messenger.VK: {All: 0.4, Broadcasts: 0.4}}})
	if err := l.Call(ctx, messenger.VK, "209"); err != nil {
		t.Fatal(err)
	}
	wantLater(t, l.Call(ctx, messenger.VK, "209"), 9*time.Second, 10*time.Second)
	if g := reserve(t, l, customer("1"), time.Second); g.OK {
		t.Errorf("a message: got %+v", g)
	}
	h.pass(10 * time.Second)
	if g := reserve(t, l, customer("1"), 0); !g.OK {
		t.Errorf("a message after that: got %+v", g)
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	if err := l.Call(over, messenger.VK, "209"); messenger.KindOf(err) != messenger.Temporary || !errors.Is(err, context.Canceled) {
		t.Errorf("of a context that is over: got %v", err)
	}
}
