package postgres_test

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// names gives a query's texts.
func names(t *testing.T, url, sql string) []string {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	rows, _ := conn.Query(context.Background(), sql)
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestRetention_EveryTableHasARule: the README says of each table how long its rows are
// kept, and of no other.
func TestRetention_EveryTableHasARule(t *testing.T) {
	t.Parallel()
	_, url := openURL(t, 1)
	raw, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rules, ok := strings.Cut(string(raw), "\n**What is kept how long.**")
	if !ok {
		t.Fatal("the README has no table of retention")
	}
	rules, _, _ = strings.Cut(rules, "\n\n**")
	var documented []string
	for _, line := range strings.Split(rules, "\n") {
		if cells := strings.Split(line, "|"); len(cells) > 3 && strings.TrimSpace(cells[2]) != "" {
			for _, m := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(cells[1], -1) {
				documented = append(documented, m[1])
			}
		}
	}
	tables := names(t, url, `SELECT table_name::text FROM information_schema.tables
		WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name <> 'goose_db_version'`)
	slices.Sort(tables)
	slices.Sort(documented)
	if !slices.Equal(tables, documented) {
		t.Errorf("the README has rules for\n%v, the tables are\n%v", documented, tables)
	}
}

// TestExpire: what is over goes, batch by batch, and nothing else.
func TestExpire(t *testing.T) {
	t.Parallel()
	db, url := openURL(t, 1)
	ctx := context.Background()
	exec(t, url, `INSERT INTO dead_letters (queue, message, state, kept_at) VALUES
		('q', 'old 1', '', now() - interval '31 days'), ('q', 'old 2', '', now() - interval '31 days'), ('q', 'new', '', now() - interval '29 days')`)
	exec(t, url, `INSERT INTO ticket_cursors (issue, starts_at, updated_at, resolved) VALUES
		('old 1', now(), now() - interval '367 days', true), ('old 2', now(), now() - interval '366 days', true), ('new', now(), now() - interval '364 days', true),
		('open', now(), now() - interval '999 days', false)`)
	exec(t, url, `INSERT INTO answers (issue, comment, version, messages, sent_at) VALUES
		('old 1', '1', 1, '{}', now() - interval '400 days'), ('old 1', '2', 1, '{}', now()), ('new', 'old', 1, '{}', now() - interval '999 days'),
		('open', '1', 1, '{}', now() - interval '999 days')`)
	exec(t, url, `INSERT INTO duties (name, done_at, lease_token, lease_until) VALUES
		('old 1', now() - interval '31 days', NULL, NULL), ('old 2', now() - interval '31 days', NULL, NULL),
		('new', now(), NULL, NULL), ('held', now() - interval '31 days', gen_random_uuid(), now() + interval '1 min')`)
	exec(t, url, `INSERT INTO broadcasts (kind, state, title, content, audience, created_by, purged_at, parent, relation) VALUES
		('message', 'finished', 'old 1', '{}', '{}', 'x', now(), NULL, NULL), ('message', 'finished', 'old 2', '{}', '{}', 'x', now(), NULL, NULL),
		('message', 'finished', 'not purged', '{}', '{}', 'x', NULL, NULL, NULL), ('news', 'finished', 'news', '{}', '{}', 'x', now(), NULL, NULL)`)
	exec(t, url, `INSERT INTO broadcasts (kind, state, title, content, audience, created_by, purged_at, parent, relation)
		SELECT 'message', 'finished', 'old test', '{}', '{}', 'x', now(), id, 'test' FROM broadcasts WHERE title = 'news'`)
	exec(t, url, `INSERT INTO batches (broadcast, messenger, bot, number, size) SELECT id, 'vk', '1', 1, 1 FROM broadcasts`)

	left := func() []string {
		return names(t, url, `SELECT 'letter ' || message FROM dead_letters UNION ALL SELECT 'cursor ' || issue FROM ticket_cursors
			UNION ALL SELECT 'answer ' || issue || ' ' || comment FROM answers UNION ALL SELECT 'duty ' || name FROM duties
			UNION ALL SELECT 'broadcast ' || title FROM broadcasts UNION ALL SELECT 'batch ' || title FROM batches JOIN broadcasts b ON b.id = broadcast ORDER BY 1`)
	}
	// One of each kind, and both answers of one ticket.
	if deleted, err := db.Expire(ctx, 1, time.Time{}); err != nil || deleted != 6 {
		t.Errorf("at first %d rows, %v, want 6; left are %v", deleted, err, left())
	}
	// And all of it while there is time.
	if deleted, err := db.Expire(ctx, 1, time.Now().Add(time.Minute)); err != nil || deleted != 5 {
		t.Errorf("then %d rows, %v, want 5", deleted, err)
	}
	want := []string{
		"answer new old", "answer open 1", "batch news", "batch not purged", "broadcast news", "broadcast not purged", "cursor new", "cursor open",
		"duty held", "duty new", "letter new",
	}
	if got := left(); !slices.Equal(got, want) {
		t.Errorf("left are\n%v, want\n%v", got, want)
	}
	if deleted, err := db.Expire(ctx, 100, time.Time{}); err != nil || deleted != 0 {
		t.Errorf("once more: %d, %v", deleted, err)
	}
}
