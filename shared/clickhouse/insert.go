package clickhouse

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"supportbot/shared/analytics"
)

// inserting are the settings of every insert (ClickHouse, "Session settings").
//
//   - A replicated table takes a block that equals an earlier one for a repetition
//     and drops it. Ours are told apart by their keys: an equal block may be wanted,
//     when what it brought was deleted. A token of its own makes each insert another
//     one for every version of the server (which setting turns it off depends on the
//     version).
//   - A block touches a partition for each month; tickets of many years come
//     together.
//   - An insert that returns is written.
//   - All rows make one block: ClickHouse writes nothing before it has read them
//     all, so an insert whose connection breaks leaves nothing. It reads blocks of
//     max_insert_block_size rows and puts them together until they have
//     min_insert_block_size_rows or _bytes.
func inserting(rows int) map[string]string {
	var token [16]byte
	_, _ = rand.Read(token[:]) // never fails
	all := strconv.Itoa(rows)
	return map[string]string{
		"insert_deduplication_token":      hex.EncodeToString(token[:]),
		"max_partitions_per_insert_block": "0",
		"async_insert":                    "0",
		"max_insert_block_size":           all,
		"min_insert_block_size_rows":      all,
		"min_insert_block_size_bytes":     "0",
	}
}

// insert writes n rows as one block.
func (db *DB) insert(ctx context.Context, table string, n int, add func(b *block, i int)) error {
	if n == 0 {
		return nil
	}
	b := newBlock(n, add)
	answer, err := db.do(ctx, call{
		query:    "INSERT INTO " + table + " (" + strings.Join(b.names, ", ") + ") FORMAT RowBinaryWithNamesAndTypes",
		settings: inserting(n), body: b.bytes(), again: true, answer: small,
	})
	if err == nil {
		err = late(answer)
	}
	if refused := (*Error)(nil); errors.As(err, &refused) {
		refused.Message = "" // it may quote the rows
	}
	if err != nil {
		return fmt.Errorf("insert %s: %w", table, err)
	}
	return nil
}

// InsertTickets adds versions of tickets, loaded at the given time. Their events have
// to be in before: a ticket that is in is known to be complete. What it is now goes in
// last, for it is that which is known.
func (db *DB) InsertTickets(ctx context.Context, tickets []analytics.Ticket, loaded time.Time) error {
	err := db.insert(ctx, "tickets", len(tickets), func(b *block, i int) { b.ticket(&tickets[i], loaded) })
	if err != nil {
		return err
	}
	return db.insert(ctx, "tickets_now", len(tickets), func(b *block, i int) {
		b.ticket(&tickets[i], loaded)
		b.story(tickets[i].Story)
	})
}

func (b *block) ticket(t *analytics.Ticket, loaded time.Time) {
	b.text("issue", t.Issue)
	b.uint64("version", t.Version)
	b.millis("updated_at", t.UpdatedAt)
	b.text("key", t.Key)
	b.word("queue", t.Queue)
	b.millis("created_at", t.CreatedAt)
	b.millisOrNull("resolved_at", t.ResolvedAt)
	b.word("type", t.Type)
	b.word("priority", t.Priority)
	b.word("status", t.Status)
	b.word("phase", string(t.Phase))
	b.word("resolution", t.Resolution)
	b.word("assignee", t.Assignee)
	b.word("messenger", t.Messenger)
	b.word("category", t.Category)
	b.word("locale", t.Locale)
	b.uint8("rating", t.Rating)
	b.dayOrNull("deadline", t.Deadline)
	b.millisOrNull("sla_fails_at", t.SLAFailsAt)
	b.millis("loaded_at", loaded)
}

func (b *block) story(s analytics.Story) {
	statuses, phases, times := make([]string, len(s.Path)), make([]string, len(s.Path)), make([]time.Time, len(s.Path))
	for i, stay := range s.Path {
		statuses[i], phases[i], times[i] = stay.Status, string(stay.Phase), stay.Since
	}
	b.millisOrNull("answered_at", s.AnsweredAt)
	b.millisOrNull("rated_at", s.RatedAt)
	b.words("path_statuses", statuses)
	b.words("path_phases", phases)
	b.allMillis("path_times", times)
}

// InsertEvents adds events.
func (db *DB) InsertEvents(ctx context.Context, events []analytics.Event) error {
	return db.insert(ctx, "ticket_events", len(events), func(b *block, i int) {
		e := &events[i]
		b.text("issue", e.Issue)
		b.text("id", e.ID)
		b.word("kind", string(e.Kind))
		b.millis("at", e.At)
		b.word("actor", e.Actor)
		b.word("before", e.Before)
		b.word("after", e.After)
		b.word("before_phase", string(e.BeforePhase))
		b.word("after_phase", string(e.AfterPhase))
		b.millis("opened_at", e.OpenedAt)
		b.uint64("version", e.Version)
		b.flag("deleted", e.Deleted)
	})
}

// InsertAgents adds what agents are called.
func (db *DB) InsertAgents(ctx context.Context, agents []analytics.Agent) error {
	return db.insert(ctx, "agents", len(agents), func(b *block, i int) {
		a := &agents[i]
		b.text("id", a.ID)
		b.text("login", a.Login)
		b.text("name", a.Name)
		b.millis("seen_at", a.SeenAt)
	})
}

// InsertStatuses adds what statuses are called and mean.
func (db *DB) InsertStatuses(ctx context.Context, statuses []analytics.StatusName, loaded time.Time) error {
	return db.insert(ctx, "statuses", len(statuses), func(b *block, i int) {
		s := &statuses[i]
		b.text("key", s.Key)
		b.text("name", s.Name)
		b.word("phase", string(s.Phase))
		b.millis("loaded_at", loaded)
	})
}

// InsertMessages adds counts of messages.
func (db *DB) InsertMessages(ctx context.Context, counts []analytics.Messages) error {
	return db.insert(ctx, "messages", len(counts), func(b *block, i int) {
		c := &counts[i]
		b.day("day", c.Day)
		b.word("messenger", c.Messenger)
		b.word("direction", c.Direction)
		b.word("kind", c.Kind)
		b.uint64("messages", c.Count)
	})
}

// InsertBatches adds counts of broadcasts' batches.
func (db *DB) InsertBatches(ctx context.Context, batches []analytics.Batch) error {
	return db.insert(ctx, "broadcast_batches", len(batches), func(b *block, i int) {
		c := &batches[i]
		b.int64("broadcast", c.Broadcast)
		b.int64("batch", c.ID)
		b.word("kind", c.Kind)
		b.word("relation", c.Relation)
		b.word("messenger", c.Messenger)
		b.millis("created_at", c.CreatedAt)
		b.millisOrNull("started_at", c.StartedAt)
		b.millisOrNull("done_at", c.DoneAt)
		b.uint32("size", c.Size)
		b.uint32("sent", c.Sent)
		b.uint32("blocked", c.Blocked)
		b.uint32("failed", c.Failed)
		b.uint32("uncertain", c.Uncertain)
		b.uint32("skipped", c.Skipped)
		b.micros("read_at", c.ReadAt)
	})
}

// Known tells which versions of the issues were loaded at since or later, complete
// with their events. Of one that is not the latest it may not know, and of one that
// counts no more, since Tracker did not show it, it does not.
func (db *DB) Known(ctx context.Context, issues []string, since time.Time) (map[analytics.Version]bool, error) {
	known := map[analytics.Version]bool{}
	if len(issues) == 0 {
		return known, nil
	}
	list, err := json.Marshal(issues)
	if err != nil {
		return nil, fmt.Errorf("look for loaded tickets: %w", err)
	}
	res, err := db.Select(ctx, `
		SELECT DISTINCT issue, version, toUnixTimestamp64Milli(updated_at) FROM tickets_now
		WHERE issue IN (SELECT arrayJoin(JSONExtract({issues:String}, 'Array(String)')))
			AND loaded_at >= fromUnixTimestamp64Milli({since:Int64})
			AND (issue, version, updated_at, loaded_at) NOT IN (SELECT issue, version, updated_at, loaded_at FROM tickets_gone)`,
		map[string]string{"issues": string(list), "since": strconv.FormatInt(since.UnixMilli(), 10)})
	if err != nil {
		return nil, fmt.Errorf("look for loaded tickets: %w", err)
	}
	for _, row := range res.Rows {
		var v analytics.Version
		if err := scan(row, &v.Issue, &v.Version, &v.UpdatedAt); err != nil {
			return nil, fmt.Errorf("look for loaded tickets: %w", err)
		}
		known[v] = true
	}
	return known, nil
}

// Empty reports whether there is no ticket at all.
func (db *DB) Empty(ctx context.Context) (bool, error) {
	res, err := db.Select(ctx, "SELECT 1 FROM tickets LIMIT 1", nil)
	if err != nil {
		return false, fmt.Errorf("look for any ticket: %w", err)
	}
	return len(res.Rows) == 0, nil
}
