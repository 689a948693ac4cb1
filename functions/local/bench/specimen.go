package bench

import (
	"context"
	"maps"
	"strconv"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/messenger"
)

// specimen is what one update of a customer who is known sends to Postgres.
type specimen struct {
	step, job []flight
	id, key   string // of the job
}

// specimens records one customer of each messenger, on databases of their own.
func (w *outside) specimens(ctx context.Context, s *stage) (map[messenger.Name]specimen, error) {
	url, err := s.database(ctx, "specimen", migrated)
	if err != nil {
		return nil, err
	}
	if err := execute(ctx, url, "ALTER TABLE jobs ALTER id RESTART "+strconv.Itoa(specimenID)); err != nil {
		return nil, err
	}
	t, err := newTap(url)
	if err != nil {
		return nil, err
	}
	defer t.close()
	vars := maps.Clone(w.vars)
	vars["DATABASE_URL"], vars["DATABASE_MAX_CONNS"] = t.url, "1"
	f, err := startFunction(ctx, vars)
	if err != nil {
		return nil, err
	}
	defer f.stop()
	if err := w.connect(ctx, f.url); err != nil {
		return nil, err
	}
	all := map[messenger.Name]specimen{}
	for _, name := range []messenger.Name{messenger.Telegram, messenger.VK} {
		sp, err := w.newcomer(name, specimenOne).specimen(ctx, t)
		if err != nil {
			return nil, err
		}
		err = withConn(ctx, url, func(c *pgx.Conn) error {
			return c.QueryRow(ctx, `SELECT id::text, key FROM jobs ORDER BY id DESC LIMIT 1`).Scan(&sp.id, &sp.key)
		})
		if err != nil {
			return nil, err
		}
		all[name] = sp
	}
	return all, nil
}

func (p *person) specimen(ctx context.Context, t *tap) (sp specimen, err error) {
	if err := opened(ctx, []*person{p}, 1); err != nil {
		return sp, err
	}
	_, err = t.take()
	for range 5 {
		if err == nil {
			_, err = fillsForm(ctx, p)
		}
	}
	if err != nil {
		return sp, err
	}
	if sp.step, err = t.take(); err != nil {
		return sp, err
	}
	if _, err = adds(ctx, p); err != nil { // acknowledged, the next one is not
		return sp, err
	}
	if _, err = t.take(); err != nil {
		return sp, err
	}
	if _, err = adds(ctx, p); err != nil {
		return sp, err
	}
	sp.job, err = t.take()
	return sp, err
}
