package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/broadcast"
)

// refusedNow is why identity i of person p must not get a broadcast s now; null if
// it may.
const refusedNow = `CASE
		WHEN p.id IS NULL THEN 'erased'
		WHEN NOT i.reachable THEN 'unreachable'
		WHEN p.banned_at IS NOT NULL THEN 'banned'
		WHEN s.kind = 'news' AND NOT p.news OR s.kind = 'maintenance' AND NOT p.maintenance THEN 'opted out'
		END`

// Next gives recipients after n that have neither outcome nor claim and whose time
// has come, by n.
func (db *DB) Next(ctx context.Context, batch int64, after, limit int) ([]broadcast.Recipient, error) {
	return collect(ctx, db.pool, "read recipients", func(row pgx.CollectableRow) (r broadcast.Recipient, err error) {
		err = row.Scan(&r.N, &r.Address.Messenger, &r.Address.Bot, &r.Address.Chat, &r.Locale, &r.Deferred, &r.Refused)
		return r, err
	}, `
		SELECT r.n, b.messenger, b.bot, coalesce(i.chat, ''), coalesce(p.locale, ''), r.not_before IS NOT NULL, coalesce(`+refusedNow+`, '')
		FROM (
			SELECT * FROM recipients r
			WHERE r.batch = $1 AND r.n > $2 AND r.outcome IS NULL AND r.claim IS NULL AND (r.not_before IS NULL OR r.not_before <= clock_timestamp())
			ORDER BY r.n LIMIT $3
		) r
		JOIN batches b ON b.id = r.batch
		JOIN broadcasts s ON s.id = b.broadcast
		LEFT JOIN identities i ON i.id = r.identity
		LEFT JOIN people p ON p.id = i.person_id
		ORDER BY r.n`, batch, after, limit)
}

// Skip writes that recipients were skipped, unless they are claimed or have an
// outcome.
func (db *DB) Skip(ctx context.Context, batch int64, reasons map[int]string) error {
	ns, why := make([]int32, 0, len(reasons)), make([]string, 0, len(reasons))
	for n, reason := range reasons {
		ns, why = append(ns, int32(n)), append(why, clean(reason))
	}
	err := again(func() error {
		_, err := db.pool.Exec(ctx, `
			WITH v AS MATERIALIZED (SELECT $1::bigint AS batch, n, why FROM unnest($2::int[], $3::text[]) AS v (n, why))
			UPDATE recipients r SET outcome = 'skipped', error = v.why, not_before = NULL, done_at = clock_timestamp()
			FROM v WHERE r.batch = v.batch AND r.n = v.n AND r.outcome IS NULL AND r.claim IS NULL`, batch, ns, why)
		return err
	})
	if err != nil {
		return fmt.Errorf("skip recipients: %w", err)
	}
	return nil
}

// claim claims recipients $3 of batch $1 with token $2 while their broadcast runs.
//
// The broadcast's row is locked for share before the first recipient is touched, and
// read as it is then. A change of state waits for the claims that saw it running, so
// that whoever comes after the change sees them all; a claim that waited for the
// change sees the new state and claims nobody. Two claims do not wait for each other.
//
// Recipients are looked up by batch and number of a materialized list, here and in
// what follows: the planner knows little of a batch that was made a minute ago, and
// must not come to think that reading all of it is cheaper.
const claim = `
WITH v AS MATERIALIZED (
	SELECT $1::bigint AS batch, n FROM unnest($3::int[]) n
), s AS MATERIALIZED (
	SELECT s.state, s.kind FROM batches b JOIN broadcasts s ON s.id = b.broadcast WHERE b.id = $1 FOR SHARE OF s
), who AS MATERIALIZED (
	SELECT r.batch, r.n, i.messenger, i.bot, i.chat, p.locale, ` + refusedNow + ` AS refused
	FROM s CROSS JOIN v
	JOIN recipients r ON r.batch = v.batch AND r.n = v.n
	LEFT JOIN identities i ON i.id = r.identity
	LEFT JOIN people p ON p.id = i.person_id
	WHERE s.state = 'running' AND r.outcome IS NULL AND r.claim IS NULL
), got AS (
	UPDATE recipients r SET
		claim = CASE WHEN who.refused IS NULL THEN $2::uuid END,
		claimed_at = CASE WHEN who.refused IS NULL THEN clock_timestamp() END,
		not_before = CASE WHEN who.refused IS NULL THEN r.not_before END,
		outcome = CASE WHEN who.refused IS NOT NULL THEN 'skipped' END,
		error = who.refused,
		done_at = CASE WHEN who.refused IS NOT NULL THEN clock_timestamp() END
	FROM who
	WHERE r.batch = who.batch AND r.n = who.n AND r.outcome IS NULL AND r.claim IS NULL
		AND (r.not_before IS NULL OR r.not_before <= clock_timestamp())
	RETURNING r.n, who.messenger, who.bot, who.chat, who.locale, r.not_before IS NOT NULL AS deferred, r.claim
), begun AS (
	UPDATE batches SET started_at = clock_timestamp() WHERE id = $1 AND started_at IS NULL AND EXISTS (SELECT FROM got)
)
SELECT s.state, coalesce(g.n, 0), coalesce(g.messenger, ''), coalesce(g.bot, ''), coalesce(g.chat, ''), coalesce(g.locale, ''), coalesce(g.deferred, false)
FROM s LEFT JOIN got g ON g.claim IS NOT NULL
ORDER BY g.n`

// ClaimRecipients claims those of ns that may be written to now, if the broadcast
// runs, and skips those who must not be. It gives the broadcast's state, "" for an
// unknown batch.
func (db *DB) ClaimRecipients(ctx context.Context, batch int64, token string, ns []int) (got []broadcast.Recipient, state broadcast.State, err error) {
	err = again(func() error {
		got, state = nil, ""
		rows, err := db.pool.Query(ctx, claim, batch, token, numbers(ns))
		if err != nil {
			return err
		}
		var r broadcast.Recipient
		a := &r.Address
		_, err = pgx.ForEachRow(rows, []any{&state, &r.N, &a.Messenger, &a.Bot, &a.Chat, &r.Locale, &r.Deferred}, func() error {
			if r.N > 0 { // there is a row without one when nobody was claimed
				got = append(got, r)
			}
			return nil
		})
		return err
	})
	if err != nil {
		return nil, "", fmt.Errorf("claim recipients: %w", err)
	}
	return got, state, nil
}

func numbers(ns []int) []int32 {
	out := make([]int32, len(ns))
	for i, n := range ns {
		out[i] = int32(n)
	}
	return out
}
