package redisdb

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"supportbot/shared/pace"
)

// PaceConfig is how a messenger is paused that refuses more than one chat. Zero
// values mean the defaults named.
type PaceConfig struct {
	// Window: two different chats refused within it, and the messenger is paused
	// as a whole; 5 s.
	Window time.Duration
	// Probe is how often one call is let through meanwhile; 30 s.
	Probe time.Duration
	// Settle is how long nothing is to be heard of a probe for the pause to be
	// over; 15 s, more than a call to a messenger may take.
	Settle time.Duration
}

// Pace is the pace that all functions share: places, pauses and rates by the keys
// of pace.Limit. Every method is one round trip. A command that the client repeats
// because its connection broke costs at most one unused place.
type Pace struct {
	client redis.UniversalClient
	cfg    PaceConfig
}

// NewPace makes a store on an opened client.
func NewPace(client redis.UniversalClient, c PaceConfig) *Pace {
	if c.Window <= 0 {
		c.Window = 5 * time.Second
	}
	if c.Probe <= 0 {
		c.Probe = 30 * time.Second
	}
	if c.Settle <= 0 {
		c.Settle = 15 * time.Second
	}
	return &Pace{client: client, cfg: c}
}

func placesKey(key string) string  { return "pace:places:" + key }
func pauseKey(key string) string   { return "pace:pause:" + key }
func rateKey(key string) string    { return "pace:rate:" + key }
func refusedKey(key string) string { return "pace:refused:" + key }

// Reserve reserves a place in all the limits, at most so far away, or in none.
func (p *Pace) Reserve(ctx context.Context, limits []pace.Limit, most time.Duration) (pace.Grant, error) {
	keys := make([]string, 0, 3*len(limits))
	args := make([]any, 0, 2+4*len(limits))
	args = append(args, most.Microseconds(), p.cfg.Settle.Microseconds())
	for _, l := range limits {
		keys = append(keys, placesKey(l.Key), pauseKey(l.Key), rateKey(l.Key))
		args = append(args, formatRate(l.Rate), max(l.Burst, 1), l.Shared, l.Mute)
	}
	reply, err := reserve.Run(ctx, p.client, keys, args...).Int64Slice()
	if err != nil {
		return pace.Grant{}, fmt.Errorf("reserve place: %w", err)
	}
	if len(reply) != 3 {
		return pace.Grant{}, fmt.Errorf("reserve place: %d values, want 3", len(reply))
	}
	g := pace.Grant{OK: reply[0] == 1, Wait: time.Duration(reply[1]) * time.Microsecond}
	if g.OK {
		g.At = time.UnixMicro(reply[2]).UTC()
	}
	return g, nil
}

// Pause lets nothing through a key for d. The longest pause counts.
func (p *Pace) Pause(ctx context.Context, key string, d time.Duration) error {
	if err := pause.Run(ctx, p.client, []string{pauseKey(key)}, d.Microseconds()).Err(); err != nil {
		return fmt.Errorf("pause %s: %w", key, err)
	}
	return nil
}

// Refused pauses a chat for d; and the whole it belongs to, when it is paused
// already or another chat of it was refused within the window.
func (p *Pace) Refused(ctx context.Context, whole, chat string, d time.Duration) error {
	keys := []string{pauseKey(chat), pauseKey(whole), refusedKey(whole)}
	err := pause.Run(ctx, p.client, keys, d.Microseconds(), chat,
		p.cfg.Window.Milliseconds(), p.cfg.Probe.Microseconds()).Err()
	if err != nil {
		return fmt.Errorf("pause %s: %w", chat, err)
	}
	return nil
}

// SetRate overrides the rate of a key from the next reservation on; 0 ends that.
// The value stays until it is changed or Redis is wiped.
func (p *Pace) SetRate(ctx context.Context, key string, perSecond float64) error {
	var err error
	if perSecond > 0 {
		err = p.client.Set(ctx, rateKey(key), formatRate(perSecond), 0).Err()
	} else {
		err = p.client.Del(ctx, rateKey(key)).Err()
	}
	if err != nil {
		return fmt.Errorf("set rate of %s: %w", key, err)
	}
	return nil
}

// Rate gives the override of a key; 0 = none.
func (p *Pace) Rate(ctx context.Context, key string) (float64, error) {
	rate, err := p.client.Get(ctx, rateKey(key)).Float64()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("get rate of %s: %w", key, err)
	}
	return rate, nil
}

func formatRate(r float64) string { return strconv.FormatFloat(r, 'f', -1, 64) }
