package bench

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"supportbot/shared/broadcast"
	"supportbot/shared/env"
	"supportbot/shared/messenger"
	"supportbot/shared/postgres"
)

const (
	plansMost = 1.5 // times as long as the bare statement
	planMost  = 60  // s, for the largest broadcast
)

// bareInsert is what planning cannot do without: the same people, reachable, neither
// banned nor opted out, put into the same table. It knows no one copy for each person,
// no batches of a size, no jobs, no state.
const bareInsert = `
INSERT INTO recipients (batch, n, identity)
SELECT i.id / 6000, i.id % 6000, i.id FROM identities i JOIN people p ON p.id = i.person_id
WHERE i.reachable AND p.banned_at IS NULL AND p.news`

// plan measures planning, half of the people in Telegram and half in VK, beside the
// bare statement, in turn.
func (s *stage) plan(ctx context.Context, o options, r *report) error {
	r.note("plan: news to everybody, half of them in Telegram and half in VK; beside it a bare INSERT ... SELECT of as many rows into the")
	r.note("same table; in turn, each after a checkpoint")
	for _, people := range sizes(o) {
		plans, bare, err := s.plans(ctx, o, people)
		if err != nil {
			return fmt.Errorf("%d recipients: %w", people, err)
		}
		label := fmt.Sprintf("plan, %d recipients", people)
		r.figure(label, median(plans), "s")
		r.figure(label+": the bare INSERT", median(bare), "s")
		if people == o.rows {
			r.atMost(label, median(plans), planMost, "s")
		}
		r.atMost(label+" : the bare INSERT", ratioOf(plans, bare), plansMost, "")
	}
	return nil
}

// plans gives the seconds that both took, in each round.
func (s *stage) plans(ctx context.Context, o options, people int) (plans, bare []float64, err error) {
	url, err := s.database(ctx, "planned", migrated)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, s.drop(ctx, "planned")) }()
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return nil, nil, fmt.Errorf("open database: %w", err)
	}
	defer pool.Close()
	db, err := postgres.Open(postgres.Config{URL: env.NewSecret(url), MaxConns: 2})
	if err != nil {
		return nil, nil, err
	}
	defer db.Close()
	bots := broadcast.Bots{messenger.Telegram: telegramBot, messenger.VK: fmt.Sprint(vkGroup)}
	if err := populate(ctx, pool, people, bots); err != nil {
		return nil, nil, err
	}
	for range o.rounds {
		took, err := timed(ctx, pool, func() error { _, err := pool.Exec(ctx, bareInsert); return err })
		if err != nil {
			return nil, nil, fmt.Errorf("insert: %w", err)
		}
		bare = append(bare, took)
		p, err := claimPlan(ctx, db, bots)
		if err != nil {
			return nil, nil, err
		}
		if took, err = timed(ctx, pool, func() error { _, err := db.Plan(ctx, p); return err }); err != nil {
			return nil, nil, err
		}
		plans = append(plans, took)
		if err := unplan(ctx, pool, p.Broadcast.ID, people); err != nil {
			return nil, nil, err
		}
	}
	return plans, bare, nil
}

// timed gives the seconds that something took, right after a checkpoint, and with an
// empty table.
func timed(ctx context.Context, pool *pgxpool.Pool, do func() error) (float64, error) {
	for _, sql := range []string{"TRUNCATE recipients, batches", "CHECKPOINT"} {
		if _, err := pool.Exec(ctx, sql); err != nil {
			return 0, err
		}
	}
	began := time.Now()
	err := do()
	return time.Since(began).Seconds(), err
}

// claimPlan makes a broadcast and claims its planning as a worker does.
func claimPlan(ctx context.Context, db *postgres.DB, bots broadcast.Bots) (p broadcast.Plan, err error) {
	b, _, jobs, err := db.CreateBroadcast(ctx, broadcast.New{By: "key:bench", Spec: broadcast.Spec{
		Kind: broadcast.News, Content: broadcast.Content{Texts: map[string]string{"ru": newsText}},
	}})
	if err != nil {
		return p, err
	}
	p = broadcast.Plan{Broadcast: b, Bots: bots, Job: jobs[0].ID, Token: token()}
	c, err := db.Claim(ctx, broadcast.Queue, p.Job, p.Token)
	if err == nil && c.Job == nil {
		err = errors.New("planning was not to be had")
	}
	return p, err
}

func token() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// unplan makes sure that everybody was planned for, and forgets it.
func unplan(ctx context.Context, pool *pgxpool.Pool, id int64, people int) error {
	var total int
	if err := pool.QueryRow(ctx, `SELECT total FROM broadcasts WHERE id = $1 AND state = 'running'`, id).Scan(&total); err != nil {
		return fmt.Errorf("look at a plan: %w", err)
	}
	if total != people {
		return fmt.Errorf("%d recipients were planned, want %d", total, people)
	}
	for _, sql := range []string{
		`UPDATE broadcasts SET state = 'cancelled'`, `UPDATE jobs SET state = 'cancelled', lease_token = NULL WHERE open`,
		`UPDATE lanes SET lease_token = NULL, lease_until = NULL`,
	} {
		if _, err := pool.Exec(ctx, sql); err != nil {
			return fmt.Errorf("forget a plan: %w", err)
		}
	}
	return nil
}
