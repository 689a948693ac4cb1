package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/gauge"
	"supportbot/shared/job"
)

// late finds the lane with due work that nobody has worked on for longest: since its head
// became due, its lease ran out, or it was used last. What stands behind a head that
// waits, or in a lane that is being drained, is not late.
var late = fmt.Sprintf(`
WITH RECURSIVE `+openLanes+`
SELECT n.lane, extract(epoch FROM clock_timestamp() - greatest(h.run_at, l.lease_until, l.used_at))::float8 AS seconds
FROM names n
JOIN jobs h ON h.id = (`+headOf+`)
LEFT JOIN lanes l ON l.name = n.lane
WHERE h.run_at <= clock_timestamp() AND (l.lease_until IS NULL OR l.lease_until <= clock_timestamp())
ORDER BY seconds DESC LIMIT 1`, "''", "n.lane")

// Health looks; it changes nothing.
func (db *DB) Health(ctx context.Context) (gauge.Health, error) {
	var h gauge.Health
	var loaded *time.Time
	err := db.pool.QueryRow(ctx, `
		SELECT clock_timestamp(),
			(SELECT max(version_id) FROM goose_db_version WHERE is_applied),
			(SELECT count(*) FROM jobs WHERE state = $1),
			(SELECT count(*) FROM dead_letters WHERE kept_at > clock_timestamp() - interval '1 hour'),
			(SELECT reached FROM analytics_loads WHERE name = 'tickets')`, string(job.NeedsReview)).
		Scan(&h.Now, &h.Schema, &h.Reviews, &h.Dead, &loaded)
	if err != nil {
		return h, fmt.Errorf("read health: %w", err)
	}
	h.Loaded = orZero(loaded)
	found, err := collect(ctx, db.pool, "find late jobs", func(row pgx.CollectableRow) (found gauge.Health, err error) {
		var seconds float64
		err = row.Scan(&found.Lane, &seconds)
		found.Late = time.Duration(seconds * float64(time.Second))
		return found, err
	}, late)
	if err == nil && len(found) > 0 {
		h.Lane, h.Late = found[0].Lane, found[0].Late
	}
	return h, err
}
