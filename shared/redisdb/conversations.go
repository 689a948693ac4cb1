package redisdb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"supportbot/shared/dialog"
	"supportbot/shared/messenger"
)

// How long things are kept.
const (
	leaseTime  = dialog.LeaseTime
	seenLife   = 48 * time.Hour     // messengers repeat an update for a day
	seenSize   = 1000               // at most, per conversation
	banBelief  = time.Hour          // after it a ban is looked up again
	warnPause  = time.Minute        // of calm before a flooding customer is told again
	ticketLife = 7 * 24 * time.Hour // of a list that could not be read again
)

const indexKey = "conversations:pending"

// Conversations keeps the state of conversations with what they still owe.
// Every method is one round trip.
type Conversations struct{ client redis.UniversalClient }

// NewConversations makes a store on an opened client.
func NewConversations(client redis.UniversalClient) *Conversations {
	return &Conversations{client: client}
}

func conversationKey(a messenger.Address) string { return "conversation:{" + a.String() + "}" }
func seenKey(a messenger.Address) string         { return "seen:{" + a.String() + "}" }
func erasedKey(a messenger.Address) string       { return "erased:" + hashed(a.String()) }
func spentKey(a messenger.Address) string        { return "spent:" + hashed(a.String()) }
func ticketsKey(a messenger.Address) string      { return "tickets:{" + a.String() + "}" }

func millis(d time.Duration) int64 { return d.Milliseconds() }

// marked adds the key of a mark, if one has to be there.
func marked(name string, keys ...string) []string {
	if name == "" {
		return keys
	}
	return append(keys, markKey(name))
}

// Load reads a conversation and counts the event against its customer's limit. An
// event that is refused counts as seen.
func (c *Conversations) Load(ctx context.Context, l dialog.Lookup) (dialog.Snapshot, error) {
	at := ""
	if !l.At.IsZero() {
		at = strconv.FormatInt(l.At.UnixMilli(), 10)
	}
	keys := marked(l.Mark, conversationKey(l.Address), seenKey(l.Address), ticketsKey(l.Address), erasedKey(l.Address), spentKey(l.Address))
	reply, err := load.Run(ctx, c.client, keys,
		l.Key, l.Burst, millis(l.Every), millis(warnPause), millis(dialog.DraftLife), millis(seenLife), seenSize, at).Slice()
	if err != nil {
		return dialog.Snapshot{}, fmt.Errorf("load conversation: %w", err)
	}
	return snapshot(reply, "")
}

// Commit writes w if nobody wrote since w.Version. Committed comes with the
// pending entries, and Holds if the reply lease was free; any other verdict but
// Seen and Forgotten comes with the conversation as it is now.
func (c *Conversations) Commit(ctx context.Context, w dialog.Write) (dialog.Snapshot, error) {
	args, err := commitArgs(w)
	if err != nil {
		return dialog.Snapshot{}, fmt.Errorf("commit conversation: %w", err)
	}
	keys := marked(w.Mark, conversationKey(w.Address), seenKey(w.Address), ticketsKey(w.Address), indexKey, spentKey(w.Address))
	reply, err := commit.Run(ctx, c.client, keys, args...).Slice()
	if err != nil {
		return dialog.Snapshot{}, fmt.Errorf("commit conversation: %w", err)
	}
	return snapshot(reply, w.Token)
}

func commitArgs(w dialog.Write) ([]any, error) {
	state, err := json.Marshal(w.State)
	if err != nil {
		return nil, err
	}
	var profile, entry []byte
	ban, writer := "", ""
	if w.Profile != nil {
		if profile, err = json.Marshal(w.Profile); err != nil {
			return nil, err
		}
		ban = "0"
		if w.Profile.Person.Banned {
			ban = strconv.FormatInt(millis(banBelief), 10)
		}
	}
	if w.Entry != nil {
		if entry, err = json.Marshal(w.Entry); err != nil {
			return nil, err
		}
		writer = w.Entry.Writer
	}
	args := []any{w.Key, w.Version, state, profile, ban, entry, writer, w.Token, millis(leaseTime),
		millis(dialog.DraftLife), w.Address.String(), millis(seenLife), seenSize}
	if w.Tickets == nil {
		return append(args, "", ""), nil
	}
	list, err := ticketArgs(w.Tickets.List)
	if err != nil {
		return nil, err
	}
	return append(append(args, w.Tickets.Generation, w.Tickets.At.UnixMilli()), list...), nil
}

// Take notes that the jobs of the entry named recorded ("" = none) are inserted
// and takes the reply lease if it is free and anything is pending. Without the
// lease there are no entries in the answer.
func (c *Conversations) Take(ctx context.Context, a messenger.Address, token, recorded string) (dialog.Snapshot, error) {
	keys := []string{conversationKey(a), ticketsKey(a), indexKey}
	reply, err := seize.Run(ctx, c.client, keys, token, millis(leaseTime), recorded, a.String()).Slice()
	if err != nil {
		return dialog.Snapshot{}, fmt.Errorf("take reply lease: %w", err)
	}
	return snapshot(reply, token)
}

// Finish clears an entry: from now on its event is seen. Whoever holds the lease
// gets the entries that came meanwhile and goes on holding it, or lets it go when
// there are none.
func (c *Conversations) Finish(ctx context.Context, d dialog.Done) (dialog.Snapshot, error) {
	args, err := finishArgs(d)
	if err != nil {
		return dialog.Snapshot{}, fmt.Errorf("finish entry: %w", err)
	}
	keys := []string{conversationKey(d.Address), seenKey(d.Address), ticketsKey(d.Address), indexKey}
	reply, err := finish.Run(ctx, c.client, keys, args...).Slice()
	if err != nil {
		return dialog.Snapshot{}, fmt.Errorf("finish entry: %w", err)
	}
	return snapshot(reply, d.Token)
}

func finishArgs(d dialog.Done) ([]any, error) {
	profile := ""
	switch {
	case d.Forget:
		profile = "-"
	case d.Profile != nil:
		raw, err := json.Marshal(d.Profile)
		if err != nil {
			return nil, err
		}
		profile = string(raw)
	}
	args := []any{d.Token, millis(leaseTime), d.Key, d.Address.String(), profile,
		millis(seenLife), seenSize, millis(dialog.DraftLife)}
	if d.Tickets == nil {
		return append(args, "", ""), nil
	}
	list, err := ticketArgs(d.Tickets.List)
	if err != nil {
		return nil, err
	}
	return append(append(args, d.Tickets.Generation, d.Tickets.At.UnixMilli()), list...), nil
}

// Release gives the lease back although entries are pending; the replies of begun
// ("" = none) were begun, those of all others were not.
func (c *Conversations) Release(ctx context.Context, a messenger.Address, token, begun string) error {
	if err := release.Run(ctx, c.client, []string{conversationKey(a)}, token, begun).Err(); err != nil {
		return fmt.Errorf("release reply lease: %w", err)
	}
	return nil
}

// Stale names conversations whose oldest entry is at least age old and that were
// not named for as long, those first that have waited longest.
func (c *Conversations) Stale(ctx context.Context, age time.Duration, most int) ([]messenger.Address, error) {
	before, after, _ := strings.Cut(conversationKey(messenger.Address{}), messenger.Address{}.String())
	names, err := stale.Run(ctx, c.client, []string{indexKey}, millis(age), most, before, after).StringSlice()
	if err != nil {
		return nil, fmt.Errorf("list stale conversations: %w", err)
	}
	var out []messenger.Address
	for _, n := range names {
		if a, err := messenger.ParseAddress(n); err == nil {
			out = append(out, a)
		}
	}
	return out, nil
}

// ForgetPerson drops the kept copy of the person: the next event reads it from
// Postgres. To be called after a ban or its end, so that it holds at once.
func (c *Conversations) ForgetPerson(ctx context.Context, a messenger.Address) error {
	if err := c.client.HDel(ctx, conversationKey(a), "p", "ban").Err(); err != nil {
		return fmt.Errorf("forget person: %w", err)
	}
	return nil
}

// Kept gives the dialog's state as it is kept; nil when there is none.
func (c *Conversations) Kept(ctx context.Context, a messenger.Address) (json.RawMessage, error) {
	raw, err := c.client.HGet(ctx, conversationKey(a), "s").Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read conversation: %w", err)
	}
	return raw, nil
}

// Idle says that a conversation owes nothing, and that nobody works on it now.
func (c *Conversations) Idle(ctx context.Context, a messenger.Address) (bool, error) {
	n, err := idle.Run(ctx, c.client, []string{conversationKey(a)}, millis(leaseTime)).Int()
	if err != nil {
		return false, fmt.Errorf("look at conversation: %w", err)
	}
	return n == 1, nil
}

// Erase drops all that is kept of a conversation. ok is false, and nothing is done,
// while somebody works on it: what they would write after it would stay. As long as
// messengers may repeat what was said before, the time is kept, and what was seen, both
// as digests.
func (c *Conversations) Erase(ctx context.Context, a messenger.Address) (ok bool, err error) {
	if err := dropCodes(ctx, c.client, a); err != nil {
		return false, fmt.Errorf("erase conversation: %w", err)
	}
	keys := []string{conversationKey(a), seenKey(a), ticketsKey(a), indexKey, erasedKey(a), spentKey(a)}
	n, err := erase.Run(ctx, c.client, keys, a.String(), millis(leaseTime), millis(seenLife), seenSize).Int()
	if err != nil {
		return false, fmt.Errorf("erase conversation: %w", err)
	}
	return n == 1, nil
}
