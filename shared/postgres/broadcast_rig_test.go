package postgres_test

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/broadcast"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/postgres"
	"supportbot/shared/postgres/schema"
)

const (
	telegramBot = "1099511627777"
	vkBot       = "2199023255553"
)

var bothBots = broadcast.Bots{messenger.Telegram: telegramBot, messenger.VK: vkBot}

// studio is a store for broadcasts with a look behind it.
type studio struct {
	t    testing.TB
	ctx  context.Context
	db   *postgres.DB
	url  string
	conn *pgx.Conn
}

func newStudio(t testing.TB, conns int) *studio {
	t.Helper()
	return studioOn(t, backendtest.Postgres(t, schema.Migrate), "", conns)
}

// studioOn works through via (a pooler) if it is given.
func studioOn(t testing.TB, url, via string, conns int) *studio {
	t.Helper()
	if via == "" {
		via = url
	}
	s := &studio{t: t, ctx: context.Background(), db: connect(t, via, conns), url: url}
	s.conn = s.session()
	return s
}

// session is a connection of the test's own.
func (s *studio) session() *pgx.Conn {
	s.t.Helper()
	conn, err := pgx.Connect(s.ctx, s.url)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func (s *studio) exec(sql string, args ...any) {
	s.t.Helper()
	if _, err := s.conn.Exec(s.ctx, sql, args...); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
}

// get reads one value.
func get[T any](s *studio, sql string, args ...any) (v T) {
	s.t.Helper()
	if err := s.conn.QueryRow(s.ctx, sql, args...).Scan(&v); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
	return v
}

// list reads a column.
func list[T any](s *studio, sql string, args ...any) []T {
	s.t.Helper()
	rows, err := s.conn.Query(s.ctx, sql, args...)
	if err != nil {
		s.t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[T])
	if err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
	return all
}

// person makes a person who writes from chats "telegram:<chat>" or "vk:<chat>", the
// last of them last used; set changes the row, e.g. "news = false".
func (s *studio) person(set string, chats ...string) int64 {
	s.t.Helper()
	id := get[int64](s, `INSERT INTO people DEFAULT VALUES RETURNING id`)
	for i, chat := range chats {
		name, bot := messenger.Telegram, telegramBot
		if rest, is := cut(chat, "vk:"); is {
			name, bot, chat = messenger.VK, vkBot, rest
		} else {
			chat, _ = cut(chat, "telegram:")
		}
		s.exec(`INSERT INTO identities (messenger, bot, chat, person_id, user_id, seen_at)
			VALUES ($1, $2, $3, $4, $3, timestamptz '2026-01-01Z' + make_interval(days => $5))`, string(name), bot, chat, id, i)
	}
	if set != "" {
		s.exec(`UPDATE people SET `+set+` WHERE id = $1`, id)
	}
	return id
}

func cut(s, prefix string) (string, bool) {
	if len(s) >= len(prefix) && s[:len(prefix)] == prefix {
		return s[len(prefix):], true
	}
	return s, false
}

// crowd makes n people in Telegram.
func (s *studio) crowd(n int) {
	s.t.Helper()
	s.exec(`WITH p AS (INSERT INTO people (locale) SELECT 'ru' FROM generate_series(1, $1) RETURNING id)
		INSERT INTO identities (messenger, bot, chat, person_id, user_id, seen_at)
		SELECT 'telegram', $2, (1099511627776 + id)::text, id, id::text, now() FROM p`, n, telegramBot)
}

func news(text string) broadcast.Spec {
	return broadcast.Spec{Kind: broadcast.News, Content: broadcast.Content{Texts: map[string]string{"ru": text}}}
}

func (s *studio) create(spec broadcast.Spec) (broadcast.Broadcast, []job.Inserted) {
	s.t.Helper()
	b, _, jobs, err := s.db.CreateBroadcast(s.ctx, broadcast.New{Spec: spec, By: "key:test"})
	if err != nil {
		s.t.Fatal(err)
	}
	return b, jobs
}

// claimed is a job that was claimed with a token.
type claimed struct {
	job   *job.Job
	token string
}

// claim claims the head of a job's lane.
func (s *studio) claim(id int64) claimed {
	s.t.Helper()
	token := newToken()
	c, err := s.db.Claim(s.ctx, broadcast.Queue, id, token)
	if err != nil || c.Job == nil {
		s.t.Fatalf("claim job %d: %+v, %v", id, c, err)
	}
	return claimed{c.Job, token}
}

func (s *studio) finish(c claimed, v job.Verdict) job.State {
	s.t.Helper()
	done, err := s.db.Finish(s.ctx, job.Finish{Job: c.job, Token: c.token, Verdict: v})
	if err != nil {
		s.t.Fatal(err)
	}
	return done.State
}

func planOf(b broadcast.Broadcast, c claimed) broadcast.Plan {
	return broadcast.Plan{Broadcast: b, Bots: bothBots, Job: c.job.ID, Token: c.token}
}

// planned creates a broadcast and plans it.
func (s *studio) planned(spec broadcast.Spec) (broadcast.Broadcast, []job.Inserted) {
	s.t.Helper()
	b, jobs := s.create(spec)
	return s.plan(b, jobs[0].ID)
}

func (s *studio) plan(b broadcast.Broadcast, planning int64) (broadcast.Broadcast, []job.Inserted) {
	s.t.Helper()
	c := s.claim(planning)
	jobs, err := s.db.Plan(s.ctx, planOf(b, c))
	if err != nil {
		s.t.Fatal(err)
	}
	s.finish(c, job.VerdictCompleted)
	return s.broadcast(b.ID), jobs
}

func (s *studio) broadcast(id int64) broadcast.Broadcast {
	s.t.Helper()
	b, err := s.db.Broadcast(s.ctx, id)
	if err != nil {
		s.t.Fatal(err)
	}
	return b
}

// batch is the only batch of a broadcast, or the first.
func (s *studio) batch(id int64) int64 {
	s.t.Helper()
	return get[int64](s, `SELECT id FROM batches WHERE broadcast = $1 ORDER BY id LIMIT 1`, id)
}

func (s *studio) claimed(batch int64, token string, ns ...int) []int {
	s.t.Helper()
	got, _, err := s.db.ClaimRecipients(s.ctx, batch, token, ns)
	if err != nil {
		s.t.Fatal(err)
	}
	return numbersOf(got)
}

func numbersOf(rs []broadcast.Recipient) (ns []int) {
	for _, r := range rs {
		ns = append(ns, r.N)
	}
	return ns
}

func (s *studio) write(batch int64, token string, rs ...broadcast.Result) {
	s.t.Helper()
	if err := s.db.Write(s.ctx, batch, token, rs); err != nil {
		s.t.Fatal(err)
	}
}

func (s *studio) settle(id int64) broadcast.State {
	s.t.Helper()
	state, err := s.db.Settle(s.ctx, id)
	if err != nil {
		s.t.Fatal(err)
	}
	return state
}

func (s *studio) wantState(id int64, want broadcast.State) {
	s.t.Helper()
	if got := s.broadcast(id).State; got != want {
		s.t.Errorf("broadcast is %s, want %s", got, want)
	}
}

// outcomes shows a batch's recipients in one line: "sent uncertain - skipped(banned)".
func (s *studio) outcomes(batch int64) string {
	s.t.Helper()
	return get[string](s, `SELECT coalesce(string_agg(coalesce(outcome, CASE WHEN claim IS NULL THEN '-' ELSE 'claimed' END)
		|| coalesce('(' || error || ')', ''), ' ' ORDER BY n), '') FROM recipients WHERE batch = $1`, batch)
}

// age lets claims and waits of a batch be older.
func (s *studio) age(batch int64, d time.Duration) {
	s.t.Helper()
	s.exec(`UPDATE recipients SET claimed_at = claimed_at - make_interval(secs => $2), not_before = not_before - make_interval(secs => $2)
		WHERE batch = $1`, batch, d.Seconds())
}

func newToken() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	h := hex.EncodeToString(b[:])
	return fmt.Sprintf("%s-%s-%s-%s-%s", h[:8], h[8:12], h[12:16], h[16:20], h[20:])
}
