package redisdb

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"supportbot/shared/dialog"
	"supportbot/shared/messenger"
	"supportbot/shared/ticket"
)

// Tickets keeps customers' lists of tickets as they were read from Tracker.
//
// Whoever changes a ticket says so here: Upsert with what it is now, or Drop when
// only the fact is known. Both make readings that began before worthless, so a
// slow reader cannot bring an old list back.
type Tickets struct{ client redis.UniversalClient }

// NewTickets makes a cache on an opened client.
func NewTickets(client redis.UniversalClient) *Tickets { return &Tickets{client: client} }

// Get gives what is kept; Known is false when there is nothing. A later Put has
// to carry the generation of the Get before the reading.
func (t *Tickets) Get(ctx context.Context, a messenger.Address) (dialog.Tickets, error) {
	all, err := t.client.HGetAll(ctx, ticketsKey(a)).Result()
	if err != nil {
		return dialog.Tickets{}, fmt.Errorf("get tickets: %w", err)
	}
	fields := make([]any, 0, 2*len(all))
	for k, v := range all {
		fields = append(fields, k, v)
	}
	return tickets(fields), nil
}

// Put keeps a list that was read at k.At, unless the kept one has changed since
// generation k.Generation.
func (t *Tickets) Put(ctx context.Context, a messenger.Address, k dialog.Tickets) error {
	list, err := ticketArgs(k.List)
	if err != nil {
		return fmt.Errorf("put tickets: %w", err)
	}
	args := append([]any{k.Generation, k.At.UnixMilli(), millis(ticketLife)}, list...)
	if err := putTickets.Run(ctx, t.client, []string{ticketsKey(a)}, args...).Err(); err != nil {
		return fmt.Errorf("put tickets: %w", err)
	}
	return nil
}

// Upsert lays one ticket over the kept list; without one it only makes readings
// under way worthless.
func (t *Tickets) Upsert(ctx context.Context, a messenger.Address, s ticket.Summary) error {
	raw, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("update tickets: %w", err)
	}
	if err := upsertTicket.Run(ctx, t.client, []string{ticketsKey(a)}, s.Ref.String(), raw, millis(ticketLife)).Err(); err != nil {
		return fmt.Errorf("update tickets: %w", err)
	}
	return nil
}

// Drop forgets the list: something about it has changed.
func (t *Tickets) Drop(ctx context.Context, a messenger.Address) error {
	if err := dropTickets.Run(ctx, t.client, []string{ticketsKey(a)}, millis(ticketLife)).Err(); err != nil {
		return fmt.Errorf("drop tickets: %w", err)
	}
	return nil
}

func ticketArgs(list []ticket.Summary) ([]any, error) {
	var args []any
	for _, s := range list {
		raw, err := json.Marshal(s)
		if err != nil {
			return nil, err
		}
		args = append(args, s.Ref.String(), raw)
	}
	return args, nil
}

// tickets reads the hash: at, gen, and one field per ticket.
func tickets(fields []any) dialog.Tickets {
	var k dialog.Tickets
	for i := 0; i+1 < len(fields); i += 2 {
		name, value := text(fields, i), text(fields, i+1)
		switch {
		case name == "at":
			if n, err := strconv.ParseInt(value, 10, 64); err == nil {
				k.Known, k.At = true, time.UnixMilli(n).UTC()
			}
		case name == "gen":
			k.Generation, _ = strconv.ParseInt(value, 10, 64)
		case strings.HasPrefix(name, "t:"):
			var s ticket.Summary
			if json.Unmarshal([]byte(value), &s) == nil {
				k.List = append(k.List, s)
			}
		}
	}
	return k
}
