package pace_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"supportbot/shared/backend"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/env"
	"supportbot/shared/messenger"
	"supportbot/shared/pace"
	"supportbot/shared/redisdb"
)

// hand is a clock that tests move.
type hand struct {
	mu  sync.Mutex
	now time.Time
}

func newHand() *hand { return &hand{now: time.Now()} }

func (h *hand) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *hand) pass(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

// alone makes a limiter whose Redis is away.
func alone(h *hand, c pace.Config) (*pace.Limiter, *counting, *journal) {
	c.Now = h.Now
	away, log := &counting{err: errors.New("connection refused")}, &journal{}
	return pace.New(c, away, log.logger()), away, log
}

// TestAway_Share: without Redis a process goes on at a quarter of the rates, and a
// chat at its own.
func TestAway_Share(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		class pace.Class
		chat  func(i int) int
		want  int // places within 10 s
	}{
		"answers":    {pace.Answers, func(i int) int { return i }, 75},
		"broadcasts": {pace.Broadcasts, func(i int) int { return i }, 50},
		"one chat":   {pace.Answers, func(int) int { return 1 }, 9},
		"one group":  {pace.Answers, func(int) int { return -1 }, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHand()
			l, _, _ := alone(h, pace.Config{})
			l, got := l.Class(tc.class), 0
			for i := range 10_000 { // a call each millisecond
				if g := reserve(t, l, telegram(tc.chat(i)), 0); g.OK {
					got++
				}
				h.pass(time.Millisecond)
			}
			if got < tc.want-1 || got > tc.want+1 {
				t.Errorf("%d places within 10 s, want %d", got, tc.want)
			}
		})
	}
}

// TestAway_Log: one line when Redis goes, one when it is back, and only one call a
// second spends its patience on it.
func TestAway_Log(t *testing.T) {
	t.Parallel()
	h := newHand()
	l, store, log := alone(h, pace.Config{})
	for range 30 {
		reserve(t, l, telegram(1), time.Hour)
		h.pass(100 * time.Millisecond)
	}
	if got := store.count(); got != 3 {
		t.Errorf("asked %d times within 3 s, want 3", got)
	}
	wantLines(t, log, "level=WARN msg=\"the shared pace is away")
	store.mu.Lock()
	store.err, store.grant = nil, pace.Grant{OK: true}
	store.mu.Unlock()
	h.pass(time.Second)
	for range 5 {
		reserve(t, l, telegram(1), time.Hour)
	}
	wantLines(t, log, "is away", "level=INFO msg=\"the shared pace is back")
}

// TestAway_Pauses: what messengers say without Redis is kept to as well.
func TestAway_Pauses(t *testing.T) {
	t.Parallel()
	ctx, h := context.Background(), newHand()
	l, _, _ := alone(h, pace.Config{})
	l.Refused(ctx, telegram(1), time.Minute)
	l.Refused(ctx, telegram(1), time.Second)
	if g := reserve(t, l, telegram(1), time.Second); g.OK || g.Wait != time.Minute {
		t.Errorf("the refused chat: got %+v", g)
	}
	if g := reserve(t, l, telegram(2), 0); !g.OK {
		t.Errorf("another chat: got %+v", g)
	}
	l.Refused(ctx, telegram(3), time.Hour)
	if g := reserve(t, l, telegram(2), time.Second); g.OK || g.Wait != 30*time.Second {
		t.Errorf("the messenger: got %+v, want 30 s until it is tried", g)
	}
	h.pass(30 * time.Second)
	if g := reserve(t, l, telegram(2), time.Second); !g.OK {
		t.Errorf("after that: got %+v", g)
	}
	if g := reserve(t, l, telegram(3), time.Second); g.OK {
		t.Errorf("its chat: got %+v", g)
	}
	l.TrackerRefused(ctx, time.Hour)
	var long *pace.TooLong
	if err := l.Tracker(ctx); !errors.As(err, &long) || long.Wait != time.Hour {
		t.Errorf("Tracker: got %v", err)
	}
}

// TestAway_ManyChats: chats that are at rest are forgotten, those that are not
// keep their limit.
func TestAway_ManyChats(t *testing.T) {
	t.Parallel()
	h := newHand()
	l, _, _ := alone(h, pace.Config{
		Share: 1, Messengers: map[messenger.Name]pace.Rates{
			messenger.Telegram: {All: 1e9, Broadcasts: 1, Chat: pace.Bucket{Rate: 0.001, Burst: 3}},
		},
	})
	l.Refused(context.Background(), telegram(-1), time.Hour)
	for i := range 5000 {
		if g := reserve(t, l, telegram(i), time.Second); !g.OK {
			t.Fatalf("chat %d: got %+v", i, g)
		}
		h.pass(time.Microsecond)
	}
	for _, chat := range []int{-1, 0, 4999} {
		if g := reserve(t, l, telegram(chat), time.Second); g.OK {
			t.Errorf("chat %d was forgotten too soon", chat)
		}
	}
}

// TestAway_CallerGivesUp: a caller that has no time says nothing about Redis.
func TestAway_CallerGivesUp(t *testing.T) {
	t.Parallel()
	h := newHand()
	l, store, log := alone(h, pace.Config{})
	why := errors.New("deadline of the function")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	for range 3 {
		if _, err := l.Reserve(ctx, telegram(1), time.Second); !errors.Is(err, why) {
			t.Errorf("got %v, want %v", err, why)
		}
	}
	if store.count() != 3 || log.lines()[0] != "" {
		t.Errorf("asked %d times, log %q: want Redis to count as well", store.count(), log.lines())
	}
}

// TestAway_RealRedis: stopped, started again empty, frozen: every call has its
// answer soon, nobody is let through without limits.
func TestAway_RealRedis(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	server := backendtest.RedisServer(t, backend.Options{})
	client, err := redisdb.Open(redisdb.Config{URL: env.NewSecret(server.URL()), Timeout: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	h, log := newHand(), &journal{}
	l := pace.New(pace.Config{Now: h.Now, Patience: 5 * time.Second}, redisdb.NewPace(client, redisdb.PaceConfig{}), log.logger())

	chat := 0
	shared := func(want bool) {
		t.Helper()
		chat++
		begun := time.Now()
		g := reserve(t, l, telegram(chat), 10*time.Second)
		if !g.OK || g.At.IsZero() == want {
			t.Errorf("got %+v, want one by Redis: %v", g, want)
		}
		if took := time.Since(begun); took > time.Minute {
			t.Errorf("a caller was held for %s", took)
		}
		h.pass(time.Second)
	}
	shared(true)
	for _, fault := range []struct{ begin, end func() error }{
		{server.Kill, func() error { return server.Start(ctx) }},
		{
			func() error { server.Signal(syscall.SIGSTOP); return nil },
			func() error { server.Signal(syscall.SIGCONT); return nil },
		},
	} {
		if err := fault.begin(); err != nil {
			t.Fatal(err)
		}
		shared(false)
		shared(false)
		if err := fault.end(); err != nil {
			t.Fatal(err)
		}
		shared(true)
		shared(true)
	}
	wantLines(t, log, "is away", "is back", "is away", "is back")
}

// TestAway_Patience: a Redis that accepts and never answers, with connections that
// are open and with none, and a client that would wait for it much longer.
func TestAway_Patience(t *testing.T) {
	t.Parallel()
	for _, warm := range []bool{true, false} {
		t.Run(fmt.Sprintf("warm %v", warm), func(t *testing.T) {
			t.Parallel()
			server := backendtest.RedisServer(t, backend.Options{})
			client, err := redisdb.Open(redisdb.Config{URL: env.NewSecret(server.URL()), Timeout: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = client.Close() }()
			l := pace.New(pace.Config{}, redisdb.NewPace(client, redisdb.PaceConfig{}), (&journal{}).logger())
			if warm {
				reserve(t, l, telegram(1), time.Second)
			}
			server.Signal(syscall.SIGSTOP)
			defer server.Signal(syscall.SIGCONT)
			begun := time.Now()
			g := reserve(t, l, telegram(2), time.Second)
			if took := time.Since(begun); took > time.Minute {
				t.Errorf("held for %s, want about 200 ms", took)
			}
			if !g.OK || !g.At.IsZero() {
				t.Errorf("got %+v, want a place of its own", g)
			}
		})
	}
}
