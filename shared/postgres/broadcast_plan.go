package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/broadcast"
	"supportbot/shared/job"
)

// snapshot puts the chosen identities of a broadcast into batches, in one statement.
// Each bot's are counted as they stream by (a window without order needs no sort);
// slot is the count and the bot in one number. The batches' ids are then looked up
// in an array: a join with so few rows would sort a million.
//
// The arguments after the choice's own: broadcast, batch size, number of bots, their
// messengers, the bots.
func snapshot(q *choice, id int64) string {
	var slots []string
	n := len(q.bots)
	for k := 1; k <= n; k++ {
		slots = append(slots, fmt.Sprintf("WHEN %d THEN (count(*) FILTER (WHERE k = %d) OVER w - 1) * %d + %d", k, k, n, k-1))
	}
	names, bots := make([]string, n), make([]string, n)
	for i, b := range q.bots {
		names[i], bots[i] = string(b.Messenger), b.Bot
	}
	list := fmt.Sprintf("unnest(%s::text[], %s::text[]) WITH ORDINALITY AS bots (messenger, bot, k)", q.arg(names), q.arg(bots))
	return strings.NewReplacer(
		"{choice}", q.sql, "{slots}", strings.Join(slots, " "), "{bots}", list, "{n}", fmt.Sprint(n),
		"{size}", fmt.Sprint(broadcast.BatchSize), "{broadcast}", q.arg(id),
	).Replace(`
WITH chosen AS MATERIALIZED (
	SELECT id, CASE k {slots} END AS slot FROM ({choice}) one WINDOW w AS (ROWS UNBOUNDED PRECEDING)
), sizes AS (
	SELECT slot % {n} + 1 AS k, max(slot) / {n} + 1 AS recipients FROM chosen GROUP BY 1
), made AS (
	INSERT INTO batches (broadcast, messenger, bot, number, size)
	SELECT {broadcast}, messenger, bot, number, least(recipients - (number - 1) * {size}, {size})
	FROM sizes JOIN {bots} USING (k) CROSS JOIN generate_series(1, (recipients - 1) / {size} + 1) number
	ORDER BY number, k
	RETURNING id, messenger, bot, number, size
), ids AS (
	SELECT array_agg(made.id ORDER BY number, k) AS list
	FROM generate_series(1, (SELECT max(number) FROM made)) number CROSS JOIN {bots} LEFT JOIN made USING (messenger, bot, number)
), filled AS (
	INSERT INTO recipients (batch, n, identity)
	SELECT (SELECT list FROM ids)[slot / ({size} * {n}) * {n} + slot % {n} + 1], slot / {n} % {size} + 1, id FROM chosen
)
SELECT id, messenger, bot, size FROM made ORDER BY id`)
}

// errMoved means that the broadcast's state has changed under way.
var errMoved = errors.New("the broadcast's state has changed")

// Plan implements planning: the snapshot, the batches' jobs and the new state are
// one transaction. It locks nothing that others need before its last two statements,
// so that a cancellation of what is being planned, and renewals of leases, do not
// wait for it. Of two at once one waits, and finds the work done.
func (db *DB) Plan(ctx context.Context, p broadcast.Plan) (jobs []job.Inserted, err error) {
	id := p.Broadcast.ID
	if _, err := db.pool.Exec(ctx, `UPDATE broadcasts SET state = 'planning' WHERE id = $1 AND state = 'scheduled'`, id); err != nil {
		return nil, fmt.Errorf("plan broadcast %d: %w", id, err)
	}
	err = db.inTx(ctx, func(tx pgx.Tx) error {
		var state broadcast.State
		b := &pgx.Batch{}
		b.Queue(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0)), set_config('work_mem', '64MB', true), set_config('jit', 'off', true)`,
			broadcast.PlanKey(id))
		b.Queue(`SELECT state FROM broadcasts WHERE id = $1`, id).QueryRow(func(row pgx.Row) error { return row.Scan(&state) })
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return err
		}
		if state == broadcast.Planning {
			if err := plan(ctx, tx, p); err != nil {
				return err
			}
		}
		jobs, err = firstJobs(ctx, tx, id)
		return err
	})
	if errors.Is(err, errMoved) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("plan broadcast %d: %w", id, err)
	}
	return jobs, nil
}

func plan(ctx context.Context, tx pgx.Tx, p broadcast.Plan) error {
	id, total := p.Broadcast.ID, 0
	var batches []part
	if q := audience(p.Broadcast, p.Bots, p.Tickets); len(q.bots) > 0 {
		var err error
		if batches, err = fill(ctx, tx, &q, id); err != nil {
			return err
		}
	}
	for _, b := range batches {
		total += b.size
	}
	if err := makeJobs(ctx, tx, p.Broadcast, batches); err != nil {
		return err
	}
	tag, err := tx.Exec(ctx, `
		UPDATE broadcasts SET total = $2, started_at = clock_timestamp(),
			state = CASE WHEN $2 > 0 THEN 'running' ELSE 'finished' END,
			finished_at = CASE WHEN $2 = 0 THEN clock_timestamp() END
		WHERE id = $1 AND state = 'planning'`, id, total)
	if err != nil {
		return fmt.Errorf("start broadcast: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return errMoved
	}
	if tag, err = tx.Exec(ctx, `SELECT FROM jobs WHERE id = $1 AND lease_token = $2 AND state = 'running' FOR SHARE`, p.Job, p.Token); err != nil {
		return fmt.Errorf("check lease: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return job.ErrLost
	}
	return nil
}

// fill makes the batches and their recipients.
func fill(ctx context.Context, tx pgx.Tx, q *choice, id int64) ([]part, error) {
	sql := snapshot(q, id)
	return collect(ctx, tx, "snapshot recipients", func(row pgx.CollectableRow) (p part, err error) {
		err = row.Scan(&p.id, &p.messenger, &p.bot, &p.size)
		return p, err
	}, sql, q.args...)
}
