package pace

import (
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// buckets are a process's own token buckets by key.
type buckets map[string]*rate.Limiter

func (b buckets) get(key string, perSecond float64, burst int) *rate.Limiter {
	lim, ok := b[key]
	if !ok {
		lim = rate.NewLimiter(rate.Limit(perSecond), burst)
		b[key] = lim
	}
	return lim
}

// until says how far away the next token is.
func until(lim *rate.Limiter, now time.Time) time.Duration {
	missing := 1 - lim.TokensAt(now)
	if missing <= 0 {
		return 0
	}
	return time.Duration(math.Ceil(missing / float64(lim.Limit()) * float64(time.Second)))
}

// front counts the places that this process holds. A process that holds more than
// its messenger allows would be refused by Redis too: it need not ask. Its burst
// is one second's worth, since places may lie ahead.
type front struct {
	mu      sync.Mutex
	buckets buckets // of shared limits: as many as there are bots
}

func newFront() *front { return &front{buckets: buckets{}} }

func (f *front) get(l Limit) *rate.Limiter {
	return f.buckets.get(l.Key, l.Rate, max(1, int(math.Ceil(l.Rate))))
}

func (f *front) wait(l Limit, now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return until(f.get(l), now)
}

func (f *front) count(l Limit, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.get(l).ReserveN(now, 1)
}

const (
	// refusedWindow: two chats refused within it, and it is the messenger.
	refusedWindow = 5 * time.Second
	// alonePause is the longest pause of a whole messenger that a process keeps to
	// without Redis; then it tries, as a probe would.
	alonePause = 30 * time.Second
	// fewKeys are kept without looking whether they are at rest.
	fewKeys = 1024
)

// alone is the pace of a process that has only itself. Of shared rates it takes a
// share; a chat's rate it keeps whole but without a burst, since a chat is served
// by one worker at a time.
type alone struct {
	share float64

	mu      sync.Mutex
	buckets buckets
	pauses  map[string]time.Time
	last    map[string]refusal // by messenger
	sweepAt int                // how many keys there are when those at rest are dropped
}

type refusal struct {
	chat string
	at   time.Time
}

func newAlone(share float64) *alone {
	return &alone{
		share: share, buckets: buckets{}, pauses: map[string]time.Time{}, last: map[string]refusal{}, sweepAt: fewKeys,
	}
}

// reserve is all or nothing, as in Redis.
func (a *alone) reserve(now time.Time, limits []Limit, most time.Duration) Grant {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sweep(now)
	var wait time.Duration
	var take []*rate.Limiter
	for _, l := range limits {
		wait = max(wait, a.pauses[l.Key].Sub(now))
		if l.Rate <= 0 {
			continue
		}
		perSecond := l.Rate
		if l.Shared {
			perSecond *= a.share
		}
		lim := a.buckets.get(l.Key, perSecond, 1)
		wait = max(wait, until(lim, now))
		take = append(take, lim)
	}
	if wait > most {
		return Grant{Wait: wait}
	}
	for _, lim := range take {
		lim.ReserveN(now, 1)
	}
	return Grant{OK: true, Wait: wait}
}

func (a *alone) pause(now time.Time, key string, d time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.longest(key, now.Add(d))
}

func (a *alone) longest(key string, till time.Time) {
	if till.After(a.pauses[key]) {
		a.pauses[key] = till
	}
}

func (a *alone) refused(now time.Time, whole, chat string, d time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sweep(now)
	a.longest(chat, now.Add(d))
	if l, ok := a.last[whole]; ok && l.chat != chat && now.Sub(l.at) < refusedWindow {
		a.longest(whole, now.Add(min(d, alonePause)))
	}
	a.last[whole] = refusal{chat, now}
}

// sweep drops what is as it would be if it had never been, now and then: each time
// there is twice as much as was left.
func (a *alone) sweep(now time.Time) {
	if len(a.buckets)+len(a.pauses) < a.sweepAt {
		return
	}
	for key, lim := range a.buckets {
		if lim.TokensAt(now) >= float64(lim.Burst()) {
			delete(a.buckets, key)
		}
	}
	for key, till := range a.pauses {
		if !till.After(now) {
			delete(a.pauses, key)
		}
	}
	a.sweepAt = max(fewKeys, 2*(len(a.buckets)+len(a.pauses)))
}
