package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/person"
)

const personColumns = `p.id, p.locale, p.roles, p.news, p.maintenance, p.status, p.banned_at IS NOT NULL`

// seeIdentity notes a visit of a known identity and applies its update. Names
// that the messenger did not tell stay as they were.
const seeIdentity = `
WITH seen AS (
	UPDATE identities SET
		user_id = $4,
		name = coalesce(nullif($5, ''), name),
		username = coalesce(nullif($6, ''), username),
		seen_at = greatest(seen_at, $7),
		reachable = coalesce($8, reachable),
		unreachable_since = CASE WHEN coalesce($8, reachable) THEN NULL ELSE coalesce(unreachable_since, clock_timestamp()) END
	WHERE messenger = $1 AND bot = $2 AND chat = $3
	RETURNING person_id
)
UPDATE people p SET
	locale = coalesce($9, locale),
	news = coalesce($10, news),
	maintenance = coalesce($11, maintenance),
	status = coalesce($12, status)
FROM seen WHERE p.id = seen.person_id
RETURNING ` + personColumns

// Record notes a visit and inserts the jobs that follow from it, in one
// transaction. Somebody unknown becomes a new person.
func (db *DB) Record(ctx context.Context, v person.Visit, jobs []job.New) (p person.Person, made []job.Inserted, err error) {
	err = db.inTx(ctx, func(tx pgx.Tx) error {
		p, err = visit(ctx, tx, v)
		if err != nil || len(jobs) == 0 {
			return err
		}
		made, err = insertJobs(ctx, tx, jobs)
		return err
	})
	if err != nil {
		return person.Person{}, nil, fmt.Errorf("record visit: %w", err)
	}
	return p, made, nil
}

func visit(ctx context.Context, tx pgx.Tx, v person.Visit) (person.Person, error) {
	p, err := see(ctx, tx, v)
	if !errors.Is(err, pgx.ErrNoRows) {
		return p, err
	}
	// Two first visits at once must not make two people. The lock ends with the
	// transaction.
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, v.Identity.Address.String()); err != nil {
		return person.Person{}, fmt.Errorf("lock identity: %w", err)
	}
	if p, err = see(ctx, tx, v); !errors.Is(err, pgx.ErrNoRows) {
		return p, err
	}
	if err := meet(ctx, tx, v); err != nil {
		return person.Person{}, err
	}
	return see(ctx, tx, v)
}

func see(ctx context.Context, tx pgx.Tx, v person.Visit) (p person.Person, err error) {
	a, u := v.Identity.Address, v.Identity.User
	var news, maintenance, status *bool
	if s := v.Update.Settings; s != nil {
		news, maintenance, status = &s.News, &s.Maintenance, &s.Status
	}
	err = scanPerson(tx.QueryRow(ctx, seeIdentity, string(a.Messenger), a.Bot, a.Chat, clean(u.ID), clean(u.Name), clean(u.Username),
		v.Identity.SeenAt, v.Update.Reachable, v.Update.Locale, news, maintenance, status), &p)
	return p, err
}

// meet makes a person and their identity.
func meet(ctx context.Context, tx pgx.Tx, v person.Visit) error {
	a, u := v.Identity.Address, v.Identity.User
	locale := u.Locale
	if locale != "en" {
		locale = "ru"
	}
	_, err := tx.Exec(ctx, `
		WITH made AS (INSERT INTO people (locale) VALUES ($5) RETURNING id)
		INSERT INTO identities (messenger, bot, chat, person_id, user_id, seen_at)
		SELECT $1, $2, $3, made.id, $4, $6 FROM made`,
		string(a.Messenger), a.Bot, a.Chat, clean(u.ID), locale, v.Identity.SeenAt)
	if err != nil {
		return fmt.Errorf("make person: %w", err)
	}
	return nil
}

func scanPerson(row pgx.Row, p *person.Person) error {
	return row.Scan(&p.ID, &p.Locale, &p.Roles, &p.Settings.News, &p.Settings.Maintenance, &p.Settings.Status, &p.Banned)
}

// Person gives who writes from an address; nil when nobody has.
func (db *DB) Person(ctx context.Context, a messenger.Address) (*person.Person, error) {
	var p person.Person
	err := scanPerson(db.pool.QueryRow(ctx, `SELECT `+personColumns+`
		FROM identities i JOIN people p ON p.id = i.person_id
		WHERE i.messenger = $1 AND i.bot = $2 AND i.chat = $3`, string(a.Messenger), a.Bot, a.Chat), &p)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find person: %w", err)
	}
	return &p, nil
}

// SetReachable notes whether an address can be written to.
func (db *DB) SetReachable(ctx context.Context, a messenger.Address, reachable bool) error {
	_, err := db.pool.Exec(ctx, `
		UPDATE identities SET reachable = $4, unreachable_since = CASE WHEN NOT $4 THEN coalesce(unreachable_since, clock_timestamp()) END
		WHERE messenger = $1 AND bot = $2 AND chat = $3`, string(a.Messenger), a.Bot, a.Chat, reachable)
	if err != nil {
		return fmt.Errorf("note reachability: %w", err)
	}
	return nil
}

// SetBan bans the person behind an address, or lifts the ban. The caller also
// drops the conversation's kept copy of the person. job.ErrNotFound: nobody
// writes from there.
func (db *DB) SetBan(ctx context.Context, a messenger.Address, banned bool, reason string) error {
	tag, err := db.pool.Exec(ctx, `
		UPDATE people SET banned_at = CASE WHEN $4 THEN coalesce(banned_at, clock_timestamp()) END, ban_reason = nullif($5, '')
		WHERE id = (SELECT person_id FROM identities WHERE messenger = $1 AND bot = $2 AND chat = $3)`,
		string(a.Messenger), a.Bot, a.Chat, banned, clean(reason))
	if err != nil {
		return fmt.Errorf("set ban: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return fmt.Errorf("set ban of %s: %w", a, job.ErrNotFound)
	}
	return nil
}
