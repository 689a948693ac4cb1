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

// silent are tickets that are over and without news. Of one that is open nothing is
// forgotten, however long it is silent: whoever answers in it at last has a customer.
const silent = `SELECT issue FROM ticket_cursors WHERE resolved AND updated_at < now() - make_interval(secs => $1) ORDER BY updated_at LIMIT $2`

// retention deletes, in order, what is older than $1 seconds: at most $2 rows. The rules
// for all tables are in the README, "Operations". An index can be asked for what is before
// now(), not for what is before the time by the clock.
var retention = []struct {
	what string
	keep time.Duration
	sql  string
}{
	{"dead letters", job.Keep, `
		DELETE FROM dead_letters WHERE id IN (
			SELECT id FROM dead_letters WHERE kept_at < now() - make_interval(secs => $1) ORDER BY id LIMIT $2)`},
	// The cursor goes last: it is what the answers are found by.
	{"answers", keepNews, `DELETE FROM answers WHERE issue IN (` + silent + `)`},
	{"cursors", keepNews, `DELETE FROM ticket_cursors c WHERE issue IN (` + silent + `)
			AND NOT EXISTS (SELECT FROM answers a WHERE a.issue = c.issue)`},
	{"duties that are no more", job.Keep, `
		DELETE FROM duties WHERE name IN (
			SELECT name FROM duties WHERE done_at < now() - make_interval(secs => $1) AND lease_token IS NULL LIMIT $2)`},
	// Purged means that the recipients are gone, broadcast.Keep after the end. Messages
	// to one customer go altogether: as many as there are, nobody looks at them again.
	{"messages to one", 0, `
		WITH old AS (
			SELECT id FROM broadcasts b WHERE kind = 'message' AND purged_at <= now() - make_interval(secs => $1)
				AND NOT EXISTS (SELECT FROM broadcasts child WHERE child.parent = b.id)
			ORDER BY id LIMIT $2
		), parts AS (DELETE FROM batches USING old WHERE batches.broadcast = old.id)
		DELETE FROM broadcasts USING old WHERE broadcasts.id = old.id`},
}

// Expire deletes what is kept no longer, so many of each kind at a time, as long as there
// are as many of any, and begins no more after until. It gives how many rows are gone. What
// a rule fails to delete keeps no other rule back.
func (db *DB) Expire(ctx context.Context, limit int, until time.Time) (deleted int64, err error) {
	return repeated(limit, until, func() (most int64, err error) {
		for _, e := range retention {
			n, eerr := db.changeMany(ctx, e.sql, e.keep.Seconds(), limit)
			if eerr != nil && err == nil {
				err = fmt.Errorf("delete old %s: %w", e.what, eerr)
			}
			most += n
		}
		return most, err
	})
}

// repeated does a round of deletions as long as it finds as many rows as it may take and
// the time is not over, once in any case. It gives how many rows they were.
func repeated(limit int, until time.Time, round func() (int64, error)) (all int64, err error) {
	for {
		n, err := round()
		all += n
		if err != nil || n < int64(limit) || !time.Now().Before(until) {
			return all, err
		}
	}
}
