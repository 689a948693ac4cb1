package redisdb_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/env"
	"supportbot/shared/pace"
	"supportbot/shared/redisdb"
)

// processes gives the stores of n processes that share one Redis.
func processes(tb testing.TB, n int, c redisdb.PaceConfig) ([]*redisdb.Pace, *redis.Client) {
	tb.Helper()
	url := env.NewSecret(backendtest.Redis(tb))
	var out []*redisdb.Pace
	var client *redis.Client
	for range n {
		var err error
		if client, err = redisdb.Open(redisdb.Config{URL: url, Timeout: 20 * time.Second}); err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { _ = client.Close() })
		out = append(out, redisdb.NewPace(client, c))
	}
	return out, client
}

func newPace(t *testing.T) (*redisdb.Pace, *redis.Client) {
	t.Helper()
	stores, client := processes(t, 1, redisdb.PaceConfig{})
	return stores[0], client
}

func reserve(t *testing.T, p *redisdb.Pace, most time.Duration, limits ...pace.Limit) pace.Grant {
	t.Helper()
	g, err := p.Reserve(context.Background(), limits, most)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func shared(key string, rate float64) pace.Limit {
	return pace.Limit{Key: key, Rate: rate, Burst: 1, Shared: true}
}

func own(key string, rate float64, burst int) pace.Limit {
	return pace.Limit{Key: key, Rate: rate, Burst: burst}
}

// judge fails the test if more places than the limit allows lie within any time of
// a length of those given. Places are in Redis' clock, so nothing has to be waited
// for and no latency blurs them.
func judge(t *testing.T, l pace.Limit, places []time.Time, lengths ...time.Duration) {
	t.Helper()
	slices.SortFunc(places, time.Time.Compare)
	for _, w := range lengths {
		allowed := int(math.Floor(w.Seconds()*l.Rate+1e-6)) + l.Burst
		if l.Shared {
			allowed = int(math.Ceil(w.Seconds()*l.Rate-1e-6)) + 1
			if k := math.Ceil(l.Rate); l.Rate <= 100 { // k in any k/Rate
				allowed = min(allowed, int(k*math.Ceil(w.Seconds()*l.Rate/k-1e-6)))
			}
		}
		first := 0
		for i := range places {
			for places[i].Sub(places[first]) >= w {
				first++
			}
			if got := i - first + 1; got > allowed {
				t.Errorf("%s (%v/s, burst %d): %d places within %s, want at most %d", l.Key, l.Rate, l.Burst, got, w, allowed)
				break
			}
		}
	}
}

// ledger collects places by limit.
type ledger struct {
	mu     sync.Mutex
	limits map[string]pace.Limit
	places map[string][]time.Time
}

func newLedger() *ledger {
	return &ledger{limits: map[string]pace.Limit{}, places: map[string][]time.Time{}}
}

func (l *ledger) note(limits []pace.Limit, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, limit := range limits {
		l.limits[limit.Key] = limit
		l.places[limit.Key] = append(l.places[limit.Key], at)
	}
}

func (l *ledger) judge(t *testing.T, lengths ...time.Duration) {
	t.Helper()
	for key, limit := range l.limits {
		judge(t, limit, l.places[key], lengths...)
	}
}

// run lets workers reserve all at once, each n times what want says.
func run(t *testing.T, stores []*redisdb.Pace, workers, n int, want func(r *rand.Rand, worker int) ([]pace.Limit, time.Duration)) *ledger {
	t.Helper()
	book, seed := newLedger(), rand.Uint64()
	t.Logf("seed %d", seed)
	var all sync.WaitGroup
	for w := range workers {
		all.Add(1)
		go func() {
			defer all.Done()
			r := rand.New(rand.NewPCG(seed, uint64(w)))
			for range n {
				limits, most := want(r, w)
				g, err := stores[w%len(stores)].Reserve(context.Background(), limits, most)
				switch {
				case err != nil:
					t.Error(err)
					return
				case g.OK != (g.Wait <= most):
					t.Errorf("most %s: got %+v", most, g)
				case g.OK:
					book.note(limits, g.At)
				}
			}
		}()
	}
	all.Wait()
	return book
}

// TestPace_Telegram is the real limits under more than they take: 24 workers in
// two processes, half of them broadcasting.
func TestPace_Telegram(t *testing.T) {
	t.Parallel()
	stores, _ := processes(t, 2, redisdb.PaceConfig{})
	book := run(t, stores, 24, 40, func(r *rand.Rand, worker int) ([]pace.Limit, time.Duration) {
		limits := []pace.Limit{shared("bot", 30), own(fmt.Sprint("chat", r.IntN(60)), 1, 3)}
		if worker%4 < 2 {
			return append(limits, shared("broadcasts", 20)), time.Duration(r.Int64N(int64(4 * time.Second)))
		}
		return limits, time.Duration(r.Int64N(int64(6 * time.Second)))
	})
	book.judge(t, time.Second, 100*time.Millisecond, 3*time.Second)
	// As strict as it is, it must not waste: this demand fills the first seconds.
	places := book.places["bot"]
	busy := 0
	for _, at := range places {
		if at.Sub(places[0]) < 3*time.Second {
			busy++
		}
	}
	if busy < 60 {
		t.Errorf("%d places of the first 3 s were given, want nearly 90", busy)
	}
}

// TestPace_AnyLimits: whatever the limits, the demand and the patience.
func TestPace_AnyLimits(t *testing.T) {
	t.Parallel()
	for i := range 12 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			stores, client := processes(t, 2, redisdb.PaceConfig{})
			seed := rand.Uint64()
			t.Logf("seed of the limits %d", seed)
			r := rand.New(rand.NewPCG(seed, 0))
			var all []pace.Limit
			for k := range 2 + r.IntN(6) {
				l := pace.Limit{Key: fmt.Sprint("k", k), Rate: math.Exp(r.Float64()*8 - 2), Burst: 1, Shared: r.IntN(2) == 0}
				if !l.Shared {
					l.Burst += r.IntN(6)
				}
				all = append(all, l)
			}
			book := run(t, stores, 20, 15, func(r *rand.Rand, _ int) ([]pace.Limit, time.Duration) {
				var limits []pace.Limit
				for _, i := range r.Perm(len(all))[:1+r.IntN(len(all))] {
					limits = append(limits, all[i])
				}
				return limits, time.Duration(r.ExpFloat64() * float64(2*time.Second))
			})
			book.judge(t, time.Second, 10*time.Millisecond, 7*time.Second)
			for _, key := range keys(t, client) {
				if ttl := client.PTTL(context.Background(), key).Val(); ttl < 0 {
					t.Errorf("%s stays for ever", key)
				}
			}
		})
	}
}

func keys(t *testing.T, client *redis.Client) []string {
	t.Helper()
	all, err := client.Keys(context.Background(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

// TestPace_AllOrNothing: what is refused by the last limit is not counted by the
// first, and leaves no trace.
func TestPace_AllOrNothing(t *testing.T) {
	t.Parallel()
	p, client := newPace(t)
	limits := []pace.Limit{shared("all", 0.01), own("chat", 0.001, 1), shared("some", 0.02)}
	if g := reserve(t, p, 0, limits...); !g.OK {
		t.Fatalf("got %+v", g)
	}
	before := dump(t, client)
	g := reserve(t, p, time.Minute, limits...)
	if g.OK || g.Wait < 900*time.Second || g.Wait > 1000*time.Second || !g.At.IsZero() {
		t.Errorf("got %+v, want a refusal with the wait", g)
	}
	if diff := cmp.Diff(before, dump(t, client)); diff != "" {
		t.Errorf("a refusal wrote something (-before +after):\n%s", diff)
	}
}

func dump(t *testing.T, client *redis.Client) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, key := range keys(t, client) {
		out[key] = client.Dump(context.Background(), key).Val()
	}
	return out
}

// TestPace_NobodyWaitsForOthers: chats that are over their own limit hold places
// ahead, broadcasts too; a chat at rest still goes at once, or nearly so.
func TestPace_NobodyWaitsForOthers(t *testing.T) {
	t.Parallel()
	p, _ := newPace(t)
	for range 20 {
		reserve(t, p, 15*time.Second, shared("bot", 30), own("flood", 1, 3))
	}
	for i := range 25 {
		g := reserve(t, p, 2*time.Second, shared("bot", 30), own(fmt.Sprint("reader", i), 1, 3), shared("broadcasts", 20))
		if !g.OK {
			t.Fatalf("broadcast %d: got %+v", i, g)
		}
	}
	// 3 places of the flood and a second's 20 broadcasts leave 7 in the second.
	for i := range 6 {
		g := reserve(t, p, time.Second, shared("bot", 30), own(fmt.Sprint("chat", i), 1, 3))
		if !g.OK {
			t.Errorf("answer %d: got %+v, want a place within the second", i, g)
		}
	}
}

// TestPace_InTurn: who asks first goes first, whichever process asks.
func TestPace_InTurn(t *testing.T) {
	t.Parallel()
	stores, _ := processes(t, 2, redisdb.PaceConfig{})
	var last time.Time
	for i := range 40 {
		g := reserve(t, stores[i%2], 10*time.Second, shared("bot", 30), own(fmt.Sprint("chat", i), 1, 3))
		if !g.OK || !g.At.After(last) {
			t.Fatalf("%d: got %+v, want a place after %s", i, g, last)
		}
		last = g.At
	}
}

// TestPace_Idle: what a chat leaves behind is gone when its bucket is full again.
func TestPace_Idle(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	p, client := newPace(t)
	for range 2 {
		reserve(t, p, time.Minute, shared("bot", 0.1), own("chat", 0.1, 3), pace.Limit{Key: "free", Burst: 1})
	}
	if err := p.Refused(ctx, "bot", "chat", time.Minute); err != nil {
		t.Fatal(err)
	}
	want := []string{"pace:pause:chat", "pace:places:bot", "pace:places:chat", "pace:refused:bot"}
	if diff := cmp.Diff(want, keys(t, client)); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	for key, most := range map[string]time.Duration{
		want[0]: time.Minute, want[1]: 20 * time.Second, want[2]: 20 * time.Second, want[3]: 5 * time.Second,
	} {
		if ttl := client.PTTL(ctx, key).Val(); ttl > most || ttl == -1 {
			t.Errorf("%s lives for %s, want at most %s", key, ttl, most)
		}
	}
}

// TestPace_Rate: an override holds from the next call on, for every process, and
// what was given before it counts.
func TestPace_Rate(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	stores, _ := processes(t, 2, redisdb.PaceConfig{})
	take := func(n int, most time.Duration) (places []time.Time) {
		for range n {
			if g := reserve(t, stores[0], most, shared("broadcasts", 20)); g.OK {
				places = append(places, g.At)
			}
		}
		return places
	}
	set := func(rate float64) {
		t.Helper()
		if err := stores[1].SetRate(ctx, "broadcasts", rate); err != nil {
			t.Fatal(err)
		}
		if got, err := stores[0].Rate(ctx, "broadcasts"); err != nil || got != rate {
			t.Errorf("got rate %v, %v; want %v", got, err, rate)
		}
	}
	before := take(60, time.Minute) // three seconds of broadcasts
	judge(t, shared("20/s", 20), before, time.Second)
	if last := before[59].Sub(before[0]); last > 4*time.Second {
		t.Errorf("20/s: 60 places in %s", last)
	}
	set(2)
	slow := take(6, time.Minute)
	judge(t, shared("2/s", 2), slow, 2*time.Second)
	if first := slow[0].Sub(before[59]); first < 0 {
		t.Errorf("the first place of the lower rate lies %s before the last of the higher", -first)
	}
	set(1000) // there is room between the places given
	if got := len(take(20, time.Second)); got != 20 {
		t.Errorf("1000/s: %d of 20 places within a second", got)
	}
	set(0)
	if g := reserve(t, stores[0], time.Minute, shared("broadcasts", 20)); !g.OK {
		t.Errorf("got %+v", g)
	}
}

// TestPace_Wiped: a Redis that forgot everything starts with full buckets, not
// with errors and not without limits.
func TestPace_Wiped(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	p, client := newPace(t)
	limits := []pace.Limit{shared("bot", 0.1), own("chat", 0.1, 3)}
	for range 2 {
		var got []time.Duration
		for range 4 {
			got = append(got, reserve(t, p, 30*time.Second, limits[1]).Wait)
		}
		if got[2] != 0 || got[3] == 0 {
			t.Errorf("waits %v, want a burst of 3", got)
		}
		first, second := reserve(t, p, 30*time.Second, limits[0]), reserve(t, p, 30*time.Second, limits[0])
		if first.Wait != 0 || second.Wait == 0 {
			t.Errorf("waits %s, %s, want one place at once", first.Wait, second.Wait)
		}
		if err := client.FlushDB(ctx).Err(); err != nil {
			t.Fatal(err)
		}
		if err := client.ScriptFlush(ctx).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func BenchmarkPace_Reserve(b *testing.B) {
	stores, _ := processes(b, 1, redisdb.PaceConfig{})
	for name, rate := range map[string]float64{"free": 1e6, "full": 30} {
		b.Run(name, func(b *testing.B) {
			b.SetParallelism(4)
			b.RunParallel(func(pb *testing.PB) {
				r := rand.New(rand.NewPCG(rand.Uint64(), 0))
				for pb.Next() {
					chat := own(fmt.Sprint("chat", r.IntN(100_000)), 1, 3)
					limits := []pace.Limit{shared(name, rate), chat, shared(name+":broadcasts", rate*2/3)}
					if _, err := stores[0].Reserve(context.Background(), limits, 5*time.Second); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}
