package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/ticket"
)

// Leftover is a job that was not over when a backup was made. Whether it has been
// done since, the database cannot know.
type Leftover struct {
	ID        int64
	Kind      string
	Key       string
	CreatedAt time.Time
}

// Leftovers lists the jobs that are not over, the oldest first. Looks are none: they
// only read, and what they find is measured by the cursors.
func (db *DB) Leftovers(ctx context.Context) ([]Leftover, error) {
	return collect(ctx, db.pool, "list leftovers", pgx.RowToStructByPos[Leftover],
		`SELECT id, kind, key, created_at FROM jobs WHERE open AND kind <> $1 ORDER BY id`, ticket.KindLook)
}

// RunningBroadcasts lists the broadcasts that are being sent.
func (db *DB) RunningBroadcasts(ctx context.Context) ([]int64, error) {
	all, err := ids(ctx, db.pool, `SELECT id FROM broadcasts WHERE state = 'running' ORDER BY id`)
	if err != nil {
		return nil, fmt.Errorf("list broadcasts: %w", err)
	}
	return all, nil
}

// LastTrace gives when the database was last worked with, as far as it shows; zero
// when there is nothing in it.
func (db *DB) LastTrace(ctx context.Context) (at time.Time, err error) {
	var last *time.Time
	err = db.pool.QueryRow(ctx, `SELECT greatest(
		(SELECT max(greatest(created_at, published_at, started_at, stage_at, finished_at)) FROM jobs),
		(SELECT max(used_at) FROM lanes), (SELECT max(done_at) FROM duties),
		(SELECT max(seen_at) FROM identities), (SELECT max(at) FROM watermarks))`).Scan(&last)
	if err != nil {
		return at, fmt.Errorf("find last trace: %w", err)
	}
	if last != nil {
		at = *last
	}
	return at, nil
}

// KnownIssues tells of which of the issues the database knows how far their news
// were read.
func (db *DB) KnownIssues(ctx context.Context, issues []string) (map[string]bool, error) {
	found, err := collect(ctx, db.pool, "find cursors", pgx.RowTo[string], `SELECT issue FROM ticket_cursors WHERE issue = ANY($1)`, issues)
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool, len(found))
	for _, issue := range found {
		known[issue] = true
	}
	return known, nil
}

// setAside leaves it to a person whether a job is done once more. Whom a review
// concerns was told when it was one, or it never was: nobody is told now.
const setAside = `
UPDATE jobs SET state = 'needs_review', lease_token = NULL, held_at = NULL, held_for = NULL, gather_until = NULL,
	last_error = 'it was not over when the backup was made', finished_at = clock_timestamp(), told_at = clock_timestamp()
WHERE open AND kind <> $1`

// Restore makes a database that was restored from a backup fit to be worked with:
// nothing from before this moment goes out. The news of all issues begin now, those
// of the issues named too, which the backup may not know; jobs that were not over
// are set aside for an operator to replay or cancel; messages that were not brought
// meanwhile are not looked for. It is one transaction.
func (db *DB) Restore(ctx context.Context, issues []string) error {
	err := db.inTx(ctx, func(tx pgx.Tx) error {
		for _, q := range []struct {
			sql  string
			args []any
		}{
			{`UPDATE lanes SET lease_token = NULL, lease_until = NULL WHERE lease_token IS NOT NULL`, nil},
			{setAside, []any{ticket.KindLook}},
			{`UPDATE ticket_cursors SET starts_at = greatest(starts_at, now()), updated_at = now()`, nil},
			{`INSERT INTO ticket_cursors (issue, starts_at) SELECT unnest($1::text[]), now() ON CONFLICT DO NOTHING`,
				[]any{append([]string{}, issues...)}},
			{`UPDATE watermarks SET at = greatest(at, now()) WHERE name LIKE 'missed:%'`, nil},
		} {
			if _, err := tx.Exec(ctx, q.sql, q.args...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return nil
}
