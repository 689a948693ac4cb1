package postgres

import (
	"context"
	"fmt"
	"time"

	"supportbot/shared/job"
)

// keepNews is how long after the last news of a ticket it is remembered what of it the
// customer has. News that come later begin with themselves.
const keepNews = 365 * 24 * time.Hour

// retention deletes, in order, what is older than $1 seconds: at most $2 rows. The rules
// for all tables are in the README, "Operations".
var retention = []struct {
	what string
	keep time.Duration
	sql  string
}{
	{"dead letters", job.Keep, `
		DELETE FROM dead_letters WHERE id IN (
			SELECT id FROM dead_letters WHERE kept_at < clock_timestamp() - make_interval(secs => $1) ORDER BY id LIMIT $2)`},
	// The cursor goes last: it is what the answers are found by.
	{"answers", keepNews, `
		DELETE FROM answers WHERE issue IN (
			SELECT issue FROM ticket_cursors WHERE updated_at < clock_timestamp() - make_interval(secs => $1) ORDER BY updated_at LIMIT $2)`},
	{"cursors", keepNews, `
		DELETE FROM ticket_cursors c WHERE issue IN (
			SELECT issue FROM ticket_cursors WHERE updated_at < clock_timestamp() - make_interval(secs => $1) ORDER BY updated_at LIMIT $2)
			AND NOT EXISTS (SELECT FROM answers a WHERE a.issue = c.issue)`},
	{"duties that are no more", job.Keep, `
		DELETE FROM duties WHERE name IN (
			SELECT name FROM duties WHERE done_at < clock_timestamp() - make_interval(secs => $1) AND lease_token IS NULL LIMIT $2)`},
	// Purged means that the recipients are gone, broadcast.Keep after the end. Messages
	// to one customer go altogether: as many as there are, nobody looks at them again.
	{"messages to one", 0, `
		WITH old AS (
			SELECT id FROM broadcasts b WHERE kind = 'message' AND purged_at <= clock_timestamp() - make_interval(secs => $1)
				AND NOT EXISTS (SELECT FROM broadcasts child WHERE child.parent = b.id)
			ORDER BY id LIMIT $2
		), parts AS (DELETE FROM batches USING old WHERE batches.broadcast = old.id)
		DELETE FROM broadcasts USING old WHERE broadcasts.id = old.id`},
}

// Expire deletes what is kept no longer, at most limit of each kind, and gives how many
// rows. What a rule fails to delete keeps no other rule back.
func (db *DB) Expire(ctx context.Context, limit int) (deleted int64, err error) {
	for _, e := range retention {
		tag, eerr := db.pool.Exec(ctx, e.sql, e.keep.Seconds(), limit)
		if eerr != nil && err == nil {
			err = fmt.Errorf("delete old %s: %w", e.what, eerr)
		}
		deleted += tag.RowsAffected()
	}
	return deleted, err
}
