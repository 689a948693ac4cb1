package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/broadcast"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
)

// readBroadcast reads broadcasts with the sum of their batches' counts.
const readBroadcast = `
SELECT s.id, s.kind, s.state, s.title, s.content, s.audience, s.urgency, coalesce(s.rate, 0), s.hours, s.start_at,
	coalesce(s.parent, 0), coalesce(s.relation, ''), s.created_by, s.created_at, s.started_at, s.finished_at, s.total,
	c.sent, c.blocked, c.failed, c.uncertain, c.skipped
FROM broadcasts s CROSS JOIN LATERAL (
	SELECT coalesce(sum(b.sent), 0)::int AS sent, coalesce(sum(b.blocked), 0)::int AS blocked, coalesce(sum(b.failed), 0)::int AS failed,
		coalesce(sum(b.uncertain), 0)::int AS uncertain, coalesce(sum(b.skipped), 0)::int AS skipped
	FROM batches b WHERE b.broadcast = s.id
) c `

// Broadcast gives a broadcast with its counts; job.ErrNotFound when there is none.
func (db *DB) Broadcast(ctx context.Context, id int64) (broadcast.Broadcast, error) {
	b, err := scanBroadcast(db.pool.QueryRow(ctx, readBroadcast+`WHERE s.id = $1`, id))
	if err != nil {
		return broadcast.Broadcast{}, fmt.Errorf("read broadcast %d: %w", id, err)
	}
	return b, nil
}

// pageBytes is how much the contents and audiences of a page may take where they are
// stored, which is about half of what they are in an answer: that may have 2.5 MB at
// the API gateway, and an audience may name 100,000 people.
const pageBytes = 400 << 10

// Broadcasts gives up to limit broadcasts with an id below before, newest first, in
// any of the states, or in all; fewer where they are large. next is the before of the
// next page, 0 at the end. Messages to one customer are not among them: each is known
// by its id, and they would bury the rest.
func (db *DB) Broadcasts(ctx context.Context, states []broadcast.State, before int64, limit int) (list []broadcast.Broadcast, next int64, err error) {
	page, next, err := db.pageOf(ctx, states, before, limit)
	if err != nil {
		return nil, 0, fmt.Errorf("list broadcasts: %w", err)
	}
	scan := func(row pgx.CollectableRow) (broadcast.Broadcast, error) { return scanBroadcast(row) }
	list, err = collect(ctx, db.pool, "list broadcasts", scan, readBroadcast+`WHERE s.id = ANY($1) ORDER BY s.id DESC`, page)
	return list, next, err
}

// pageOf gives the ids of a page.
func (db *DB) pageOf(ctx context.Context, states []broadcast.State, before int64, limit int) (page []int64, next int64, err error) {
	sql, args := `SELECT id, pg_column_size(content) + pg_column_size(audience) FROM broadcasts WHERE kind <> 'message' AND id < $1`, []any{before, limit}
	if len(states) > 0 {
		sql += ` AND state = ANY($3)`
		args = append(args, texts(states))
	}
	rows, err := db.pool.Query(ctx, sql+` ORDER BY id DESC LIMIT $2`, args...)
	if err != nil {
		return nil, 0, err
	}
	var id int64
	var size, total, found int
	_, err = pgx.ForEachRow(rows, []any{&id, &size}, func() error {
		found++
		if total += size; total <= pageBytes || len(page) == 0 {
			page = append(page, id)
		}
		return nil
	})
	if n := len(page); n > 0 && (n < found || found == limit) {
		next = page[n-1]
	}
	return page, next, err
}

func scanBroadcast(row pgx.Row) (b broadcast.Broadcast, err error) {
	var content, audience, hours []byte
	c := &b.Counts
	err = row.Scan(&b.ID, &b.Kind, &b.State, &b.Title, &content, &audience, &b.Urgency, &b.Rate, &hours, &b.StartAt,
		&b.Parent, &b.Relation, &b.CreatedBy, &b.CreatedAt, &b.StartedAt, &b.FinishedAt, &c.Total,
		&c.Sent, &c.Blocked, &c.Failed, &c.Uncertain, &c.Skipped)
	if errors.Is(err, pgx.ErrNoRows) {
		return b, job.ErrNotFound
	}
	if err != nil {
		return b, err
	}
	b.Draft = b.State == broadcast.Draft
	if err := json.Unmarshal(content, &b.Content); err != nil {
		return b, fmt.Errorf("decode content: %w", err)
	}
	if err := json.Unmarshal(audience, &b.Audience); err != nil {
		return b, fmt.Errorf("decode audience: %w", err)
	}
	if hours != nil {
		if err := json.Unmarshal(hours, &b.Hours); err != nil {
			return b, fmt.Errorf("decode hours: %w", err)
		}
	}
	return b, nil
}

// Batches gives the batches of a broadcast with their counts as they were last
// written.
func (db *DB) Batches(ctx context.Context, id int64) ([]broadcast.Batch, error) {
	scan := func(row pgx.CollectableRow) (broadcast.Batch, error) { return scanBatch(row) }
	return collect(ctx, db.pool, "read batches", scan, `
		SELECT id, broadcast, messenger, bot, number, size, sent, blocked, failed, uncertain, skipped
		FROM batches WHERE broadcast = $1 ORDER BY id`, id)
}

func scanBatch(row pgx.Row) (b broadcast.Batch, err error) {
	c := &b.Counts
	err = row.Scan(&b.ID, &b.Broadcast, &b.Messenger, &b.Bot, &b.Number, &c.Total, &c.Sent, &c.Blocked, &c.Failed, &c.Uncertain, &c.Skipped)
	return b, err
}

// listRecipients goes from batch to batch; within one through the index of what is
// odd, or of the numbers. Of batches that never began nobody looks for who was sent to.
const listRecipients = `
SELECT r.batch, r.n, coalesce(i.person_id, 0), b.messenger, coalesce(r.outcome, ''), coalesce(r.error, ''), coalesce(r.done_at, r.claimed_at)
FROM batches b
CROSS JOIN LATERAL (
	SELECT * FROM recipients r
	WHERE r.batch = b.id AND (b.id > $2 OR r.n > $3) %s
	ORDER BY r.n LIMIT $4
) r
LEFT JOIN identities i ON i.id = r.identity
WHERE b.broadcast = $1 AND b.id >= $2
ORDER BY b.id, r.n LIMIT $4`

// Recipients gives up to limit recipients with an outcome ("": all) after a place,
// "" being the beginning; next is the place to go on, "" at the end.
func (db *DB) Recipients(ctx context.Context, id int64, outcome broadcast.Outcome, after string, limit int) (list []broadcast.Listed, next string, err error) {
	batch, n, err := place(after)
	if err != nil {
		return nil, "", err
	}
	args, filter := []any{id, batch, n, limit}, ""
	switch outcome {
	case "":
	case broadcast.Sent:
		filter = "AND r.outcome = 'sent' AND b.started_at IS NOT NULL"
	default:
		filter, args = "AND r.odd = $5", append(args, string(outcome))
	}
	list, err = collect(ctx, db.pool, "list recipients", func(row pgx.CollectableRow) (l broadcast.Listed, err error) {
		err = row.Scan(&batch, &n, &l.Customer, &l.Messenger, &l.Outcome, &l.Error, &l.At)
		return l, err
	}, fmt.Sprintf(listRecipients, filter), args...)
	if err != nil {
		return nil, "", err
	}
	if len(list) == limit && limit > 0 {
		next = fmt.Sprintf("%d-%d", batch, n)
	}
	return list, next, nil
}

// place reads the place that Recipients gives; a wrong one is nowhere.
func place(s string) (batch, n int64, err error) {
	if s == "" {
		return 0, 0, nil
	}
	b, m, _ := strings.Cut(s, "-")
	batch, berr := strconv.ParseInt(b, 10, 64)
	n, nerr := strconv.ParseInt(m, 10, 32)
	if berr != nil || nerr != nil {
		return 0, 0, fmt.Errorf("list recipients after an unknown place: %w", job.ErrNotFound)
	}
	return batch, n, nil
}

// Estimate says how many would get a broadcast now, in each messenger.
func (db *DB) Estimate(ctx context.Context, a broadcast.Audience, k broadcast.Kind, bots broadcast.Bots, tickets []messenger.Address) (map[messenger.Name]int, error) {
	out := map[messenger.Name]int{}
	q := audience(broadcast.Broadcast{Spec: broadcast.Spec{Kind: k, Audience: a}}, bots, tickets)
	if len(q.bots) == 0 {
		return out, nil
	}
	rows, err := db.pool.Query(ctx, `SELECT k, count(*) FROM (`+q.sql+`) chosen GROUP BY k`, q.args...)
	if err != nil {
		return nil, fmt.Errorf("estimate audience: %w", err)
	}
	var bot, n int
	if _, err := pgx.ForEachRow(rows, []any{&bot, &n}, func() error { out[q.bots[bot-1].Messenger] = n; return nil }); err != nil {
		return nil, fmt.Errorf("estimate audience: %w", err)
	}
	return out, nil
}

// texts gives strings as the driver wants them.
func texts[S ~string](list []S) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = clean(string(s))
	}
	return out
}
