package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/job"
	"supportbot/shared/ticket"
)

// BeginCursor lets the news of an issue begin at a time, unless they have begun.
func (db *DB) BeginCursor(ctx context.Context, issue string, at time.Time) error {
	_, err := db.pool.Exec(ctx, `INSERT INTO ticket_cursors (issue, starts_at) VALUES ($1, $2) ON CONFLICT DO NOTHING`, issue, at)
	if err != nil {
		return fmt.Errorf("begin cursor: %w", err)
	}
	return nil
}

// Cursor gives how far the news of an issue were read; nil when they never were.
func (db *DB) Cursor(ctx context.Context, issue string) (*ticket.Cursor, error) {
	c := ticket.Cursor{Issue: issue}
	err := db.pool.QueryRow(ctx, `SELECT starts_at, comment_id, change_id, recent, resolved FROM ticket_cursors WHERE issue = $1`, issue).
		Scan(&c.StartsAt, &c.Comment, &c.Change, &c.Recent, &c.Resolved)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read cursor: %w", err)
	}
	return &c, nil
}

// Advance moves a cursor and inserts the deliveries that it passed, in one
// transaction and only while the look's lease holds (job.ErrLost).
func (db *DB) Advance(ctx context.Context, look int64, token string, c ticket.Cursor, jobs []job.New) (made []job.Inserted, err error) {
	err = db.inTx(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `UPDATE jobs SET stage_at = clock_timestamp()
			WHERE id = $1 AND lease_token = $2 AND state = 'running'`, look, token)
		if err != nil {
			return fmt.Errorf("check lease: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return job.ErrLost
		}
		if made, err = insertJobs(ctx, tx, jobs); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `
			INSERT INTO ticket_cursors (issue, starts_at, comment_id, change_id, recent, resolved) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (issue) DO UPDATE SET comment_id = excluded.comment_id, change_id = excluded.change_id,
				recent = excluded.recent, resolved = excluded.resolved, updated_at = now()`,
			c.Issue, c.StartsAt, c.Comment, c.Change, append([]string{}, c.Recent...), c.Resolved)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("advance cursor: %w", err)
	}
	return made, nil
}

// joinLook brings a look forward that waits in the lane and has not started. Its
// row is locked until the commit: it starts after what made us ask. Being asked
// for makes it a first look again.
const joinLook = `
UPDATE jobs SET run_at = least(run_at, clock_timestamp() + make_interval(secs => $3)), payload = payload - 'second'
WHERE id = (
	SELECT id FROM jobs WHERE lane = $1 AND kind = $2 AND open AND held_at IS NULL AND state IN ('accepted', 'queued')
	ORDER BY priority DESC, sequence, id LIMIT 1 FOR UPDATE)
RETURNING id, queue, lane, state, extract(epoch FROM run_at - clock_timestamp())::float8`

// Look asks for an issue to be looked at: it joins a look that has not started, or
// makes a new one.
func (db *DB) Look(ctx context.Context, j job.New) (out job.Inserted, err error) {
	err = db.inTx(ctx, func(tx pgx.Tx) error {
		err := scanInserted(tx.QueryRow(ctx, joinLook, j.Lane.Name, j.Kind, j.Delay.Seconds()), &out)
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		made, err := insertJobs(ctx, tx, []job.New{j})
		if err == nil {
			out = made[0]
		}
		return err
	})
	if err != nil {
		return job.Inserted{}, fmt.Errorf("ask for look: %w", err)
	}
	return out, nil
}

// Sent gives what the customer has of an agent's reply; nil when nothing was sent.
func (db *DB) Sent(ctx context.Context, issue, comment string) (*ticket.Sent, error) {
	s := ticket.Sent{Issue: issue, Comment: comment}
	err := db.pool.QueryRow(ctx, `SELECT version, messages, files FROM answers WHERE issue = $1 AND comment = $2`, issue, comment).
		Scan(&s.Version, &s.Messages, &s.Files)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read sent reply: %w", err)
	}
	return &s, nil
}

// InDoubt gives the version of an agent's reply that the delivery under the key may have
// sent, nobody knows, and for which it waits for a person; 0: it does not.
func (db *DB) InDoubt(ctx context.Context, key string) (version int64, err error) {
	err = db.pool.QueryRow(ctx, `
		SELECT coalesce((stage_data ->> 'version')::bigint, 0) FROM jobs
		WHERE key = $1 AND state = 'needs_review' AND stage LIKE 'begin %'`, key).Scan(&version)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return 0, fmt.Errorf("look for reply in doubt: %w", err)
	}
	return version, nil
}

// SaveSent notes what the customer has of an agent's reply. An older version
// changes nothing.
func (db *DB) SaveSent(ctx context.Context, s ticket.Sent) error {
	_, err := db.pool.Exec(ctx, `
		INSERT INTO answers (issue, comment, version, messages, files) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (issue, comment) DO UPDATE SET version = excluded.version, messages = excluded.messages,
			files = excluded.files, sent_at = now()
		WHERE answers.version <= excluded.version`,
		s.Issue, s.Comment, s.Version, append([]string{}, s.Messages...), append([]string{}, s.Files...))
	if err != nil {
		return fmt.Errorf("note sent reply: %w", err)
	}
	return nil
}

// Watermark gives how far a poll has come; zero when it never ran.
func (db *DB) Watermark(ctx context.Context, name string) (at time.Time, err error) {
	err = db.pool.QueryRow(ctx, `SELECT at FROM watermarks WHERE name = $1`, name).Scan(&at)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return time.Time{}, fmt.Errorf("read watermark: %w", err)
	}
	return at, nil
}

// RaiseWatermark notes how far a poll has come; it never goes back.
func (db *DB) RaiseWatermark(ctx context.Context, name string, at time.Time) error {
	_, err := db.pool.Exec(ctx, `
		INSERT INTO watermarks (name, at) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET at = greatest(watermarks.at, excluded.at)`, name, at)
	if err != nil {
		return fmt.Errorf("raise watermark: %w", err)
	}
	return nil
}

// Duty runs f if nobody else does this duty now: one holder at a time, for at
// most lease. done is false when somebody else holds it. How long f took is noted, and,
// if it ended well, when.
func (db *DB) Duty(ctx context.Context, name string, lease time.Duration, f func(context.Context) error) (done bool, err error) {
	var token string
	err = db.pool.QueryRow(ctx, `
		INSERT INTO duties AS d (name, lease_token, lease_until)
		VALUES ($1, gen_random_uuid(), clock_timestamp() + make_interval(secs => $2))
		ON CONFLICT (name) DO UPDATE SET lease_token = excluded.lease_token, lease_until = clock_timestamp() + make_interval(secs => $2)
		WHERE d.lease_until IS NULL OR d.lease_until <= clock_timestamp()
		RETURNING lease_token::text`, name, lease.Seconds()).Scan(&token)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("take duty %s: %w", name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, lease)
	defer cancel()
	began := time.Now()
	err = f(ctx)
	after, stop := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer stop()
	_, rerr := db.pool.Exec(after, `UPDATE duties SET lease_token = NULL, lease_until = NULL,
			took = make_interval(secs => $3), done_at = CASE WHEN $4 THEN clock_timestamp() ELSE done_at END
		WHERE name = $1 AND lease_token = $2::uuid`, name, token, time.Since(began).Seconds(), err == nil)
	return true, errors.Join(err, rerr)
}

// DutyDone notes that a duty ended well that nobody has to hold.
func (db *DB) DutyDone(ctx context.Context, name string, took time.Duration) error {
	_, err := db.pool.Exec(ctx, `INSERT INTO duties (name, done_at, took) VALUES ($1, clock_timestamp(), make_interval(secs => $2))
		ON CONFLICT (name) DO UPDATE SET done_at = excluded.done_at, took = excluded.took`, name, took.Seconds())
	if err != nil {
		return fmt.Errorf("note duty %s: %w", name, err)
	}
	return nil
}
