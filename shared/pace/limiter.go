package pace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"supportbot/shared/env"
	"supportbot/shared/messenger"
	"supportbot/shared/tracker"
)

// store is the pace that all functions share; redisdb.Pace.
type store interface {
	// Reserve reserves a place in all the limits, at most so far away, or in none.
	Reserve(ctx context.Context, limits []Limit, most time.Duration) (Grant, error)
	// Pause lets nothing through a key for d; the longest pause counts.
	Pause(ctx context.Context, key string, d time.Duration) error
	// Refused pauses one chat; and whole, with probes, when it is paused already
	// or another chat of it was refused a moment ago.
	Refused(ctx context.Context, whole, chat string, d time.Duration) error
	// SetRate overrides the rate of a key, for all and at once; 0 ends that.
	SetRate(ctx context.Context, key string, perSecond float64) error
	// Rate gives the override of a key; 0 = none.
	Rate(ctx context.Context, key string) (float64, error)
}

// Config says what the limits are. Zero values mean the defaults named.
type Config struct {
	Messengers map[messenger.Name]Rates // DefaultRates()
	// Tracker is calls per second to Tracker, 8. Yandex publishes no number, only
	// that there is one (429, "You've exceeded the limit for requests to the host
	// within a given time"); five to ten are known to work.
	Tracker float64
	// Share is the part of each shared rate that one process takes while Redis is
	// away, 1/4: nobody knows then how many processes there are.
	Share float64
	// Patience is how long one call waits for Redis, 200 ms.
	Patience time.Duration
	Now      func() time.Time // time.Now
}

// ConfigFrom reads TELEGRAM_RATE_PER_SECOND and VK_RATE_PER_SECOND (of which
// broadcasts get their usual part), TRACKER_RATE_PER_SECOND and TELEGRAM_PAID_RATE.
func ConfigFrom(r *env.Reader) Config {
	rates := DefaultRates()
	for name, variable := range map[messenger.Name]string{
		messenger.Telegram: "TELEGRAM_RATE_PER_SECOND", messenger.VK: "VK_RATE_PER_SECOND",
	} {
		rate := rates[name]
		all := float64(r.Int(variable, int(rate.All)))
		rate.All, rate.Broadcasts = all, all*rate.Broadcasts/rate.All
		rates[name] = rate
	}
	telegram := rates[messenger.Telegram]
	telegram.Paid = min(float64(r.Int("TELEGRAM_PAID_RATE", 0)), paidMost)
	rates[messenger.Telegram] = telegram
	return Config{Tracker: float64(r.Int("TRACKER_RATE_PER_SECOND", defaultTracker)), Messengers: rates}
}

const (
	defaultTracker  = 8
	defaultShare    = 0.25
	defaultPatience = 200 * time.Millisecond

	trackerKey = "tracker"
	// trackerWait is how long a call to Tracker waits for its place, if its
	// context allows.
	trackerWait = 5 * time.Second
	// callWait is the same for a call to a messenger that goes to no chat.
	callWait = 5 * time.Second
	// minPause is the pause after a refusal that names none.
	minPause = time.Second
)

func (c Config) withDefaults() Config {
	if c.Messengers == nil {
		c.Messengers = DefaultRates()
	}
	if !(c.Tracker > 0) || math.IsInf(c.Tracker, 1) {
		c.Tracker = defaultTracker
	}
	if !(c.Share > 0 && c.Share <= 1) {
		c.Share = defaultShare
	}
	if c.Patience <= 0 {
		c.Patience = defaultPatience
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// Limiter gives places for one class of calls. All its methods may be used by many
// goroutines; none holds a lock while it waits.
type Limiter struct {
	cfg    Config
	class  Class
	store  store
	health *health
	front  *front
	alone  *alone
}

// New makes the limiter of answers over the store that all functions share.
func New(c Config, s store, log *slog.Logger) *Limiter {
	c = c.withDefaults()
	return &Limiter{
		cfg: c, class: Answers, store: s,
		health: &health{log: log}, front: newFront(), alone: newAlone(c.Share),
	}
}

// Class gives the limiter of another class. Both count in the same buckets.
func (l *Limiter) Class(c Class) *Limiter {
	of := *l
	of.class = c
	return &of
}

func (l *Limiter) rates(m messenger.Name) Rates {
	if r, ok := l.cfg.Messengers[m]; ok {
		return r.sane()
	}
	return careful()
}

// Reserve asks for a place for one message to a chat, at most so far away (and
// never further than MaxAhead). It returns within Config.Patience, whatever Redis
// does. The only error is that of a context that is over.
func (l *Limiter) Reserve(ctx context.Context, to messenger.Address, most time.Duration) (Grant, error) {
	return l.reserve(ctx, l.rates(to.Messenger).limits(to, l.class), most)
}

// Wait waits until one message to a chat may be sent. When that is further away
// than most, or than the context lasts, it returns a *TooLong at once.
func (l *Limiter) Wait(ctx context.Context, to messenger.Address, most time.Duration) error {
	return l.wait(ctx, l.rates(to.Messenger).limits(to, l.class), most)
}

// Call waits for a place for one call of a bot's that goes to no chat, where the
// messenger counts these too; the Pace of its adapter. Without one within 5 seconds,
// or before the context is over, there is at once a *messenger.Error that says how
// long to wait (a *TooLong is inside). All its errors are a *messenger.Error.
func (l *Limiter) Call(ctx context.Context, m messenger.Name, bot string) error {
	all := l.rates(m).all(m, bot)
	all.Mute = true
	err := l.wait(ctx, []Limit{all}, callWait)
	if err == nil {
		return nil
	}
	failed := &messenger.Error{Kind: messenger.Temporary, Err: fmt.Errorf("wait for a place: %w", err)}
	var long *TooLong
	if errors.As(err, &long) {
		failed.Kind, failed.RetryAfter = messenger.RateLimited, long.Wait
	}
	return failed
}

// Ahead tells how far away the next place for a message is, and takes none.
func (l *Limiter) Ahead(ctx context.Context, m messenger.Name, bot string) (time.Duration, error) {
	return l.look(ctx, l.rates(m).limits(messenger.Address{Messenger: m, Bot: bot}, l.class))
}

// TrackerAhead tells how far away the next place for a call to Tracker is, and takes none.
func (l *Limiter) TrackerAhead(ctx context.Context) (time.Duration, error) {
	return l.look(ctx, l.trackerLimits())
}

// look asks for a place that would have to be over already: none is given, and the
// answer says how far away the next one is.
func (l *Limiter) look(ctx context.Context, limits []Limit) (time.Duration, error) {
	g, err := l.store.Reserve(ctx, limits, -time.Microsecond)
	if err != nil {
		return 0, fmt.Errorf("look at the pace: %w", err)
	}
	return max(g.Wait, 0), nil
}

// Refused tells that the messenger answered a call to a chat with "too many", and
// how long it asked to wait. The chat is paused for all functions; the whole
// messenger when two of its chats were refused within 5 seconds, with one call let
// through every 30 seconds to see whether it is over.
func (l *Limiter) Refused(ctx context.Context, to messenger.Address, wait time.Duration) {
	whole, chat, wait := allKey(to.Messenger, to.Bot), chatKey(to), max(wait, minPause)
	l.alone.refused(l.cfg.Now(), whole, chat, wait)
	l.tell(ctx, func(ctx context.Context) error { return l.store.Refused(ctx, whole, chat, wait) })
}

// Tracker waits for a place for one call to Tracker; the Pace of its client. When
// there is none within 5 seconds, or before the context is over, it returns at
// once a *tracker.Error that says how long to wait (a *TooLong is inside).
func (l *Limiter) Tracker(ctx context.Context) error {
	err := l.wait(ctx, l.trackerLimits(), trackerWait)
	var long *TooLong
	if errors.As(err, &long) {
		return &tracker.Error{Kind: tracker.RateLimited, RetryAfter: long.Wait, Call: "wait for a place", Err: err}
	}
	return err
}

func (l *Limiter) trackerLimits() []Limit {
	limits := []Limit{{Key: trackerKey, Rate: l.cfg.Tracker, Burst: 1, Shared: true}}
	if l.class == Loads || l.class == History {
		limits = append(limits, Limit{Key: trackerKey + ":loads", Rate: l.cfg.Tracker * 3 / 4, Burst: 1, Shared: true})
	}
	if l.class == History {
		limits = append(limits, Limit{Key: trackerKey + ":history", Rate: l.cfg.Tracker / 2, Burst: 1, Shared: true})
	}
	return limits
}

// TrackerRefused tells that Tracker answered 429, and how long it asked to wait;
// all functions' calls to it are paused. The Refused of its client.
func (l *Limiter) TrackerRefused(ctx context.Context, wait time.Duration) {
	wait = max(wait, minPause)
	l.alone.pause(l.cfg.Now(), trackerKey, wait)
	l.tell(ctx, func(ctx context.Context) error { return l.store.Pause(ctx, trackerKey, wait) })
}

// SetBroadcastRate changes how many broadcasts per second a bot sends, for all
// functions and at once. It can only be lowered: 0, or more than BroadcastLimit, is
// that limit.
func (l *Limiter) SetBroadcastRate(ctx context.Context, m messenger.Name, bot string, perSecond float64) error {
	if !(perSecond >= 0) {
		return fmt.Errorf("set rate of broadcasts: %v is no rate", perSecond)
	}
	if perSecond > l.BroadcastLimit(m) {
		perSecond = 0
	}
	if err := l.store.SetRate(ctx, broadcastsKey(m, bot), perSecond); err != nil {
		return fmt.Errorf("set rate of broadcasts: %w", err)
	}
	return nil
}

// BroadcastRate gives how many broadcasts per second a bot sends.
func (l *Limiter) BroadcastRate(ctx context.Context, m messenger.Name, bot string) (float64, error) {
	set, err := l.store.Rate(ctx, broadcastsKey(m, bot))
	if err != nil {
		return 0, fmt.Errorf("get rate of broadcasts: %w", err)
	}
	if set > 0 {
		return set, nil
	}
	return l.BroadcastLimit(m), nil
}

// BroadcastLimit is how many calls per second broadcasts may make in a messenger.
func (l *Limiter) BroadcastLimit(m messenger.Name) float64 { return l.rates(m).broadcasts() }

// Paid says whether broadcasts in a messenger are paid for to go faster.
func (l *Limiter) Paid(m messenger.Name) bool { return l.rates(m).Paid > 0 }
