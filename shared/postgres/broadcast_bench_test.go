package postgres_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/backend"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/broadcast"
	"supportbot/shared/postgres/schema"
)

// bareInsert is what planning cannot do without: the same people, reachable, neither
// banned nor opted out, put into the same table. It knows no one copy for each
// person, no batches of a size, no jobs, no state.
const bareInsert = `
INSERT INTO recipients (batch, n, identity)
SELECT i.id / 6000, i.id % 6000, i.id FROM identities i JOIN people p ON p.id = i.person_id
WHERE i.reachable AND p.banned_at IS NULL AND p.news`

// generate makes n people: two thirds write in Telegram, one third in VK, a tenth in
// both; some have blocked the bot, some want no news.
func generate(s *studio, n int) {
	s.t.Helper()
	s.exec(`INSERT INTO people (locale, news) SELECT CASE WHEN random() < 0.8 THEN 'ru' ELSE 'en' END, random() < 0.95 FROM generate_series(1, $1)`, n)
	const identity = `INSERT INTO identities (messenger, bot, chat, person_id, user_id, name, seen_at, reachable)
		SELECT CASE WHEN (people.id %% 3 = 0) <> %v THEN 'vk' ELSE 'telegram' END, CASE WHEN (people.id %% 3 = 0) <> %v THEN $2 ELSE $1 END,
			(1099511627776 + people.id)::text, people.id, people.id::text, 'Name ' || people.id, now() - random() * interval '300 days', random() < 0.97
		FROM people %s ORDER BY people.id`
	s.exec(fmt.Sprintf(identity, false, false, ""), telegramBot, vkBot)
	s.exec(fmt.Sprintf(identity, true, true, "WHERE people.id % 10 = 0"), telegramBot, vkBot)
	s.exec(`VACUUM ANALYZE people`)
	s.exec(`VACUUM ANALYZE identities`)
}

// BenchmarkPlan plans news to everybody beside the bare INSERT..SELECT, in turn, on a
// server with its default durability; the medians count.
//
//	go test -run - -bench Plan -benchtime 1x -timeout 30m ./shared/postgres
func BenchmarkPlan(b *testing.B) {
	server := backendtest.PostgresServer(b, backend.Options{Durable: true})
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := studioOn(b, durable(b, server.URL(), fmt.Sprintf("plan%d_%d", n, b.N)), "", 2)
			generate(s, n)
			var plans, bare []time.Duration
			for range max(3, b.N) {
				s.exec(`CHECKPOINT`)
				bare = append(bare, took(func() { s.exec(bareInsert) }))
				clearRecipients(s)
				s.exec(`CHECKPOINT`)
				made, jobs := s.create(news("text"))
				p := planOf(made, s.claim(jobs[0].ID))
				plans = append(plans, took(func() {
					if _, err := s.db.Plan(s.ctx, p); err != nil {
						b.Fatal(err)
					}
				}))
				if planned := s.broadcast(made.ID); planned.State != broadcast.Running || planned.Counts.Total < n*8/10 {
					b.Fatalf("planned %+v", planned.Counts)
				}
				clearRecipients(s)
			}
			p, i := median(plans), median(bare)
			b.ReportMetric(p.Seconds(), "s/plan")
			b.ReportMetric(i.Seconds(), "s/bare")
			b.ReportMetric(p.Seconds()/i.Seconds(), "plan/bare")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// durable makes a database on a server of the benchmark's own.
func durable(b *testing.B, server, name string) string {
	b.Helper()
	conn, err := pgx.Connect(context.Background(), server)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(context.Background(), "CREATE DATABASE "+name); err != nil {
		b.Fatal(err)
	}
	cfg, err := pgx.ParseConfig(server)
	if err != nil {
		b.Fatal(err)
	}
	url := fmt.Sprintf("postgres://%s@%s:%d/%s?sslmode=disable", cfg.User, cfg.Host, cfg.Port, name)
	if err := schema.Migrate(context.Background(), url); err != nil {
		b.Fatal(err)
	}
	return url
}

func clearRecipients(s *studio) {
	s.t.Helper()
	s.exec(`TRUNCATE recipients, batches`)
	s.exec(`UPDATE broadcasts SET state = 'cancelled'`)
	s.exec(`UPDATE jobs SET state = 'cancelled', lease_token = NULL WHERE open`)
}

func took(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// BenchmarkSend is what one recipient costs the database: claims and outcomes of 50 at
// a time, counted every 600, durable. Run it with -benchtime 24000x.
func BenchmarkSend(b *testing.B) {
	server := backendtest.PostgresServer(b, backend.Options{Durable: true})
	s := studioOn(b, durable(b, server.URL(), fmt.Sprint("send", b.N)), "", 2)
	s.crowd(min(max(b.N, 1), 20*broadcast.BatchSize))
	made, _ := s.planned(news("text"))
	batches := list[int64](s, `SELECT id FROM batches WHERE broadcast = $1 ORDER BY id`, made.ID)
	b.ResetTimer()
	start := time.Now()
	for _, batch := range batches {
		workThrough(s, batch, broadcast.Sent)
	}
	b.ReportMetric(float64(made.Counts.Total)/time.Since(start).Seconds(), "recipients/s")
}
