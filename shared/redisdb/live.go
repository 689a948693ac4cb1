package redisdb

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"supportbot/shared/broadcast"
)

// Live shows how far broadcasts are, so that whoever watches costs the database
// nothing. Everything in it is a copy: each batch's counts as they were last
// recounted. Losing it loses nothing.
//
// Who sends shows all that changes every second. What nobody shows any more is
// forgotten soon, and the database asked again: a copy that was read before a change
// and written after it does not stay.
type Live struct{ client redis.UniversalClient }

// NewLive makes it on an opened client.
func NewLive(client redis.UniversalClient) *Live { return &Live{client} }

const (
	liveKeep = 10 * time.Second
	// liveFresh is how long a speed is worth showing.
	liveFresh = 5 * time.Second

	fieldState, fieldTotal  = "state", "total"
	batchPrefix, ratePrefix = "batch:", "rate:"
)

func liveKey(id int64) string { return "broadcast:live:" + strconv.FormatInt(id, 10) }

// Show notes what one batch of a broadcast has, and how many messages a second its
// run sends.
func (l *Live) Show(ctx context.Context, b broadcast.Broadcast, of broadcast.Batch, rate float64) error {
	return l.set(ctx, b.ID, fieldState, string(b.State), fieldTotal, b.Counts.Total,
		batchPrefix+strconv.FormatInt(of.ID, 10), counts(of),
		ratePrefix+string(of.Messenger)+":"+of.Bot, fmt.Sprint(rate, time.Now().UnixMilli()))
}

func counts(of broadcast.Batch) string {
	c := of.Counts
	return fmt.Sprintf("%d %d %d %d %d %d %s:%s", c.Total, c.Sent, c.Blocked, c.Failed, c.Uncertain, c.Skipped, of.Messenger, of.Bot)
}

// SetState notes the state.
func (l *Live) SetState(ctx context.Context, id int64, s broadcast.State) error {
	return l.set(ctx, id, fieldState, string(s))
}

// Put notes all of a broadcast, from the database.
func (l *Live) Put(ctx context.Context, b broadcast.Broadcast, batches []broadcast.Batch) error {
	values := []any{fieldState, string(b.State), fieldTotal, b.Counts.Total}
	for _, x := range batches {
		values = append(values, batchPrefix+strconv.FormatInt(x.ID, 10), counts(x))
	}
	return l.set(ctx, b.ID, values...)
}

func (l *Live) set(ctx context.Context, id int64, values ...any) error {
	_, err := l.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.HSet(ctx, liveKey(id), values...)
		p.Expire(ctx, liveKey(id), liveKeep)
		return nil
	})
	if err != nil {
		return fmt.Errorf("show progress of broadcast %d: %w", id, err)
	}
	return nil
}

// Progress gives how far a broadcast is; ok is false when that is not known here, or
// not of all its batches, and the database has to be asked (see Put).
func (l *Live) Progress(ctx context.Context, id int64) (p broadcast.Progress, ok bool, err error) {
	all, err := l.client.HGetAll(ctx, liveKey(id)).Result()
	if err != nil {
		return p, false, fmt.Errorf("read progress of broadcast %d: %w", id, err)
	}
	var total int
	if n, _ := fmt.Sscan(all[fieldTotal], &total); n != 1 || all[fieldState] == "" {
		return p, false, nil
	}
	now := time.Now()
	open, rates := map[string]int{}, map[string]float64{} // by messenger and bot
	for field, value := range all {
		switch {
		case strings.HasPrefix(field, batchPrefix):
			var c broadcast.Counts
			var bot string
			if n, _ := fmt.Sscan(value, &c.Total, &c.Sent, &c.Blocked, &c.Failed, &c.Uncertain, &c.Skipped, &bot); n != 7 {
				return p, false, nil // of another version
			}
			p.Counts.Add(c)
			open[bot] += c.Open()
		case strings.HasPrefix(field, ratePrefix):
			var rate float64
			var at int64
			if _, err := fmt.Sscan(value, &rate, &at); err == nil && now.Sub(time.UnixMilli(at)) < liveFresh {
				p.Rate += rate
				rates[strings.TrimPrefix(field, ratePrefix)] = rate
			}
		}
	}
	if p.Counts.Total != total {
		return broadcast.Progress{}, false, nil
	}
	p.State = broadcast.State(all[fieldState])
	if p.State == broadcast.Running {
		p.EndsAt = end(now, open, rates)
	}
	return p, true, nil
}

// end is when the last of the messengers is done, none waiting for another; nil while
// nothing is known of one.
func end(now time.Time, open map[string]int, rates map[string]float64) *time.Time {
	var longest float64 // seconds
	for bot, n := range open {
		switch {
		case n == 0:
		case rates[bot] <= 0:
			return nil
		default:
			longest = max(longest, float64(n)/rates[bot])
		}
	}
	if longest == 0 {
		return nil
	}
	at := now.Add(time.Duration(longest * float64(time.Second))).UTC()
	return &at
}
