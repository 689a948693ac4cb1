package pace_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/conversation"
	"supportbot/shared/delivery"
	"supportbot/shared/env"
	"supportbot/shared/messenger"
	"supportbot/shared/pace"
	"supportbot/shared/redisdb"
	"supportbot/shared/tracker"
	v3 "supportbot/shared/tracker/v3"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, backendtest.Goroutines()...) }

var (
	_ conversation.Pacer = (*pace.Limiter)(nil)
	_ delivery.Pacer     = (*pace.Limiter)(nil)
	_                    = v3.Config{Pace: (*pace.Limiter)(nil).Tracker}
)

func telegram(chat int) messenger.Address {
	return messenger.Address{Messenger: messenger.Telegram, Bot: "77", Chat: strconv.Itoa(chat)}
}

// overRedis makes the limiter of one process on the Redis with this address.
func overRedis(t *testing.T, url string, c pace.Config) *pace.Limiter {
	t.Helper()
	client, err := redisdb.Open(redisdb.Config{URL: env.NewSecret(url)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	if c.Patience == 0 {
		c.Patience = 20 * time.Second // a slow machine is not a Redis that is away
	}
	return pace.New(c, redisdb.NewPace(client, redisdb.PaceConfig{}), slog.New(slog.NewTextHandler(io.Discard, nil)))
}

func reserve(t *testing.T, l *pace.Limiter, to messenger.Address, most time.Duration) pace.Grant {
	t.Helper()
	g, err := l.Reserve(context.Background(), to, most)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// busiest is the most places within any time of a length.
func busiest(places []time.Time, w time.Duration) (most int) {
	slices.SortFunc(places, time.Time.Compare)
	first := 0
	for i := range places {
		for places[i].Sub(places[first]) >= w {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

// TestLimits: what two processes with 24 workers may send within a second, or a
// minute, when everybody wants more.
func TestLimits(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		messenger   messenger.Name
		class       pace.Class
		chat        func(i int) int
		n           int
		within      time.Duration
		least, most int
	}{
		"telegram":            {messenger.Telegram, pace.Answers, func(i int) int { return i }, 10, time.Second, 29, 31},
		"telegram broadcasts": {messenger.Telegram, pace.Broadcasts, func(i int) int { return i }, 10, time.Second, 15, 21},
		"telegram chat":       {messenger.Telegram, pace.Answers, func(int) int { return 1 }, 2, time.Second, 3, 3},
		"telegram group":      {messenger.Telegram, pace.Answers, func(int) int { return -1 }, 2, time.Minute, 3, 20},
		"vk":                  {messenger.VK, pace.Answers, func(int) int { return 1 }, 10, time.Second, 17, 19},
		"vk broadcasts":       {messenger.VK, pace.Broadcasts, func(i int) int { return i }, 10, time.Second, 12, 16},
		"another":             {"max", pace.Answers, func(i int) int { return i }, 4, time.Second, 5, 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := backendtest.Redis(t)
			processes := []*pace.Limiter{
				overRedis(t, url, pace.Config{}).Class(tc.class), overRedis(t, url, pace.Config{}).Class(tc.class),
			}
			var mu sync.Mutex
			var places []time.Time
			var all sync.WaitGroup
			for w := range 24 {
				all.Add(1)
				go func() {
					defer all.Done()
					for i := range tc.n {
						to := messenger.Address{Messenger: tc.messenger, Bot: "77", Chat: strconv.Itoa(tc.chat(100*w + i))}
						g, err := processes[w%2].Reserve(context.Background(), to, 10*time.Second)
						if err != nil {
							t.Error(err)
						}
						if g.OK {
							mu.Lock()
							places = append(places, g.At)
							mu.Unlock()
						}
					}
				}()
			}
			all.Wait()
			if got := busiest(places, tc.within); got < tc.least || got > tc.most {
				t.Errorf("%d places within %s, want %d to %d", got, tc.within, tc.least, tc.most)
			}
		})
	}
}

// TestAnswersGoFirst: with broadcasts reserved as far as they may, and a chat that
// floods, an answer waits a moment; with many answers, broadcasts wait.
func TestAnswersGoFirst(t *testing.T) {
	t.Parallel()
	answers := overRedis(t, backendtest.Redis(t), pace.Config{})
	broadcasts := answers.Class(pace.Broadcasts)
	n := 0
	for reserve(t, broadcasts, telegram(1000+n), time.Hour).OK && n < 1000 {
		n++
	}
	for range 10 {
		reserve(t, answers, telegram(1), time.Hour)
	}
	for i := range 5 {
		if g := reserve(t, answers, telegram(10+i), time.Second); !g.OK {
			t.Errorf("answer %d: got %+v, want a place within a second", i, g)
		}
	}
	for i := range 90 {
		reserve(t, answers, telegram(100+i), time.Hour)
	}
	if g := reserve(t, broadcasts, telegram(9999), time.Hour); g.OK || g.Wait <= pace.MaxAheadBroadcasts {
		t.Errorf("a broadcast behind two seconds of answers: got %+v, want none", g)
	}
}

func TestBroadcastRate(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	url := backendtest.Redis(t)
	console, worker := overRedis(t, url, pace.Config{}), overRedis(t, url, pace.Config{}).Class(pace.Broadcasts)
	for _, tc := range []struct{ set, want float64 }{{1, 1}, {0, 20}, {20, 20}, {31, 20}, {0.5, 0.5}} {
		if err := console.SetBroadcastRate(ctx, messenger.Telegram, "77", tc.set); err != nil {
			t.Fatal(err)
		}
		if got, err := worker.BroadcastRate(ctx, messenger.Telegram, "77"); err != nil || got != tc.want {
			t.Errorf("set %v: got %v, %v; want %v", tc.set, got, err, tc.want)
		}
	}
	if first, second := reserve(t, worker, telegram(1), 0), reserve(t, worker, telegram(2), 0); !first.OK || second.OK {
		t.Errorf("one every two seconds: got %+v and %+v", first, second)
	}
	for _, bad := range []float64{-1, math.NaN()} {
		if err := console.SetBroadcastRate(ctx, messenger.Telegram, "77", bad); err == nil {
			t.Errorf("%v per second was accepted", bad)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	url := backendtest.Redis(t)
	l, other := overRedis(t, url, pace.Config{}), overRedis(t, url, pace.Config{})
	gone, cancel := context.WithCancel(context.Background())
	cancel() // the worker that was refused has no time left
	l.Refused(gone, telegram(1), time.Hour)
	if g := reserve(t, other, telegram(1), time.Minute); g.OK || g.Wait < 30*time.Minute {
		t.Errorf("the refused chat: got %+v", g)
	}
	if g := reserve(t, other, telegram(2), time.Second); !g.OK {
		t.Errorf("another chat: got %+v", g)
	}
	l.Refused(gone, telegram(3), 0) // the messenger did not say for how long
	if g := reserve(t, other, telegram(4), 0); g.OK || g.Wait > time.Second {
		t.Errorf("the whole messenger: got %+v, want a wait of at most a second", g)
	}
	vk := messenger.Address{Messenger: messenger.VK, Bot: "77", Chat: "4"}
	if g := reserve(t, other, vk, 0); !g.OK {
		t.Errorf("the other messenger: got %+v", g)
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	l := overRedis(t, backendtest.Redis(t), pace.Config{Messengers: map[messenger.Name]pace.Rates{
		messenger.Telegram: {All: 1000, Broadcasts: 1000, Chat: pace.Bucket{Rate: 0.001, Burst: 1}},
		messenger.VK:       {All: 20, Broadcasts: 20},
	}})
	if err := l.Wait(ctx, telegram(1), time.Second); err != nil {
		t.Fatalf("a free chat: %v", err)
	}
	var long *pace.TooLong
	if err := l.Wait(ctx, telegram(1), time.Minute); !errors.As(err, &long) || long.Wait < 15*time.Minute {
		t.Errorf("got %v, want to be told of 16 minutes", err)
	}
	if strings.Contains(long.Error(), "77") {
		t.Errorf("the error names a chat: %v", long)
	}
	short, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := l.Wait(short, telegram(1), time.Hour); !errors.As(err, &long) {
		t.Errorf("got %v, want to be told at once that the context will not last", err)
	}
	// A place that fits is waited for, by the clock on the wall.
	vk := messenger.Address{Messenger: messenger.VK, Bot: "77", Chat: "4"}
	begun := time.Now()
	for range 3 {
		if err := l.Class(pace.Broadcasts).Wait(ctx, vk, 30*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(begun); took < 50*time.Millisecond {
		t.Errorf("three calls at 20/s took %s", took)
	}
}

// TestWait_Cancelled: a sleeper wakes up when its context ends.
func TestWait_Cancelled(t *testing.T) {
	t.Parallel()
	store := &counting{grant: pace.Grant{OK: true, Wait: time.Hour}, asked: make(chan struct{}, 1)}
	l := pace.New(pace.Config{}, store, slog.New(slog.NewTextHandler(io.Discard, nil)))
	ctx, cancel := context.WithCancelCause(context.Background())
	ended, why := make(chan error), errors.New("the lease is over")
	go func() { ended <- l.Wait(ctx, telegram(1), 10*time.Second) }()
	<-store.asked
	cancel(why)
	if err := <-ended; !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
}

func TestTracker(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	url := backendtest.Redis(t)
	l, other := overRedis(t, url, pace.Config{Tracker: 100}), overRedis(t, url, pace.Config{Tracker: 100})
	begun := time.Now()
	for range 6 {
		if err := errors.Join(l.Tracker(ctx), other.Tracker(ctx)); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(begun); took < 90*time.Millisecond {
		t.Errorf("12 calls at 100/s took %s", took)
	}
	l.TrackerRefused(ctx, time.Hour)
	err := other.Tracker(ctx)
	var e *tracker.Error
	var long *pace.TooLong
	if !errors.As(err, &e) || e.Kind != tracker.RateLimited || e.RetryAfter < 50*time.Minute || !errors.As(err, &long) {
		t.Errorf("after a refusal: got %v", err)
	}
}

// Who reads for analytics gets a part, and keeps nobody from the rest.
func TestTracker_Classes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	l := overRedis(t, backendtest.Redis(t), pace.Config{Tracker: 200})
	for class, least := range map[pace.Class]time.Duration{pace.Loads: 60 * time.Millisecond, pace.History: 90 * time.Millisecond} {
		begun := time.Now()
		for range 11 {
			if err := l.Class(class).Tracker(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(begun); took < least {
			t.Errorf("11 calls of %s took %s, want %s at least", class, took, least)
		}
	}
}

// counting is a Redis that always answers the same.
type counting struct {
	grant pace.Grant
	err   error
	asked chan struct{} // gets one for the first call; may be nil

	mu    sync.Mutex
	calls int
}

func (c *counting) Reserve(ctx context.Context, _ []pace.Limit, _ time.Duration) (pace.Grant, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	select {
	case c.asked <- struct{}{}:
	default:
	}
	return c.grant, c.err
}

func (c *counting) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls
}

func (c *counting) Pause(context.Context, string, time.Duration) error           { return c.err }
func (c *counting) Refused(context.Context, string, string, time.Duration) error { return c.err }
func (c *counting) SetRate(context.Context, string, float64) error               { return c.err }
func (c *counting) Rate(context.Context, string) (float64, error)                { return 0, c.err }

// TestFront: a process that holds more places than its messenger has does not even
// ask; refusals do not count against it.
func TestFront(t *testing.T) {
	t.Parallel()
	now := time.Now()
	refusing := &counting{grant: pace.Grant{Wait: time.Minute}}
	granting := &counting{grant: pace.Grant{OK: true}}
	for _, s := range []*counting{refusing, granting} {
		l := pace.New(pace.Config{Now: func() time.Time { return now }}, s, slog.New(slog.NewTextHandler(io.Discard, nil)))
		for i := range 200 {
			reserve(t, l, telegram(i), time.Second)
		}
	}
	if got := refusing.count(); got != 200 {
		t.Errorf("refused: asked %d times, want 200", got)
	}
	if got := granting.count(); got < 60 || got > 61 { // a second's worth at hand and one ahead
		t.Errorf("granted: asked %d times, want 60", got)
	}
}

// journal is a log that tests read.
type journal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(p)
}

func (j *journal) lines() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Split(strings.TrimSpace(j.buf.String()), "\n")
}

func (j *journal) logger() *slog.Logger { return slog.New(slog.NewTextHandler(j, nil)) }

func wantLines(t *testing.T, j *journal, want ...string) {
	t.Helper()
	got := j.lines()
	if len(got) != len(want) {
		t.Fatalf("got the log %q, want %d lines", got, len(want))
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("line %d: got %q, want %q", i, got[i], want[i])
		}
	}
}

// TestPaid: a broadcast that is paid for is not held by the free rate, and takes
// nothing of it from answers.
func TestPaid(t *testing.T) {
	t.Parallel()
	store := &counting{grant: pace.Grant{OK: true}}
	rates := pace.DefaultRates()
	paid := rates[messenger.Telegram]
	paid.Paid = 1000
	rates[messenger.Telegram] = paid
	answers := pace.New(pace.Config{Messengers: rates}, store, (&journal{}).logger())
	broadcasts := answers.Class(pace.Broadcasts)
	for i := range 500 { // within a moment
		if g := reserve(t, broadcasts, telegram(i), 0); !g.OK {
			t.Fatalf("message %d: got %+v", i, g)
		}
	}
	if g := reserve(t, answers, telegram(1), 0); !g.OK {
		t.Errorf("an answer: got %+v", g)
	}
	if !answers.Paid(messenger.Telegram) || answers.Paid(messenger.VK) {
		t.Error("want Telegram paid and VK not")
	}
	if got := answers.BroadcastLimit(messenger.Telegram); got != 1000 {
		t.Errorf("limit %v", got)
	}
}

// TestAhead: to look takes no place; a place that is taken and a pause are seen, by a
// process that did neither, too.
func TestAhead(t *testing.T) {
	t.Parallel()
	url := backendtest.Redis(t)
	const far = 1000 * time.Second // from one place to the next
	c := pace.Config{Messengers: map[messenger.Name]pace.Rates{messenger.Telegram: {All: 0.001, Broadcasts: 0.001}}, Tracker: 8}
	l, other := overRedis(t, url, c), overRedis(t, url, c)
	ctx := context.Background()
	look := func(want bool, limiters ...*pace.Limiter) {
		t.Helper()
		for _, l := range limiters {
			if got, err := l.Ahead(ctx, messenger.Telegram, "77"); err != nil || (got > 0) != want || got > far {
				t.Errorf("the next place is %s away, %v, want one to wait for: %v", got, err, want)
			}
		}
	}
	look(false, l, other, other, other.Class(pace.Broadcasts))
	if g := reserve(t, l, telegram(1), 0); !g.OK {
		t.Fatalf("a place: %+v; somebody took it who only looked", g)
	}
	look(true, l, other, other.Class(pace.Broadcasts))

	if got, err := other.TrackerAhead(ctx); err != nil || got != 0 {
		t.Errorf("Tracker: %s, %v", got, err)
	}
	l.TrackerRefused(ctx, time.Hour)
	if got, err := other.TrackerAhead(ctx); err != nil || got <= 0 || got > time.Hour {
		t.Errorf("Tracker is paused: %s, %v", got, err)
	}
}
