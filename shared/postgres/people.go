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

// seenIdentity notes a visit of a known identity. Names that the messenger did not
// tell stay as they were.
const seenIdentity = `
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
)`

// seePerson gives who it is.
const seePerson = seenIdentity + `
SELECT ` + personColumns + ` FROM seen JOIN people p ON p.id = seen.person_id`

// changePerson also applies the visit's update.
const changePerson = seenIdentity + `
UPDATE people p SET
	locale = coalesce($9, locale),
	news = coalesce($10, news),
	maintenance = coalesce($11, maintenance),
	status = coalesce($12, status),
	tags = CASE WHEN $13::text[] IS NULL THEN tags ELSE (ARRAY(
		SELECT tag FROM unnest(tags || $13::text[]) WITH ORDINALITY AS t (tag, at) GROUP BY tag ORDER BY min(at)))[1:$14] END
FROM seen WHERE p.id = seen.person_id
RETURNING ` + personColumns

// Record notes a visit and inserts the jobs that follow from it, in one
// transaction. Somebody unknown becomes a new person, but for who cannot be written to:
// that is told of people who are gone, the erased among them. It gives a zero one then.
func (db *DB) Record(ctx context.Context, v person.Visit, jobs []job.New) (p person.Person, made []job.Inserted, err error) {
	err = again(func() error {
		p, made, err = db.record(ctx, v, jobs)
		return err
	})
	if err != nil {
		return person.Person{}, nil, fmt.Errorf("record visit: %w", err)
	}
	return p, made, nil
}

// record takes one round trip for somebody known without jobs, two with them, and one
// more for somebody new.
func (db *DB) record(ctx context.Context, v person.Visit, jobs []job.New) (p person.Person, made []job.Inserted, err error) {
	if len(jobs) == 0 { // each batch is a transaction
		err = seeOrMeet(func(b *pgx.Batch) error { return db.pool.SendBatch(ctx, b).Close() }, v, &p)
		return p, nil, err
	}
	err = db.inFlights(ctx, func(f *flights) error {
		if err := seeOrMeet(func(b *pgx.Batch) error { return f.send(ctx, b) }, v, &p); err != nil {
			return err
		}
		made, err = insertLast(ctx, f, jobs)
		return err
	})
	return p, made, err
}

// seeOrMeet sees somebody known, or makes a person of somebody new who can be written to.
func seeOrMeet(send func(b *pgx.Batch) error, v person.Visit, p *person.Person) error {
	var known bool
	b := &pgx.Batch{}
	queueSee(b, v, p, &known)
	r := v.Update.Reachable
	if err := send(b); err != nil || known || r != nil && !*r {
		return err
	}
	b = &pgx.Batch{}
	queueMeet(b, v)
	queueSee(b, v, p, &known)
	return send(b)
}

// insertLast inserts jobs and ends the transaction, in one round trip if it can.
func insertLast(ctx context.Context, f *flights, jobs []job.New) ([]job.Inserted, error) {
	if !plain(jobs) {
		return insertJobs(ctx, f.conn, jobs)
	}
	b := &pgx.Batch{}
	out, err := queueInserts(b, jobs)
	if err != nil {
		return nil, err
	}
	if err := f.last(ctx, b); err != nil {
		return nil, err
	}
	return out, findExisting(ctx, f.conn, jobs, out)
}

// queueSee queues the visit of somebody known; known is set if there is such a one.
func queueSee(b *pgx.Batch, v person.Visit, p *person.Person, known *bool) {
	a, u, up := v.Identity.Address, v.Identity.User, v.Update
	sql, args := seePerson, []any{
		string(a.Messenger), a.Bot, a.Chat, clean(u.ID), clean(u.Name), clean(u.Username), v.Identity.SeenAt, up.Reachable,
	}
	if up.Locale != nil || up.Settings != nil || up.Tags != nil {
		var c person.Choice
		if up.Settings != nil {
			c = *up.Settings
		}
		sql, args = changePerson, append(args, up.Locale, c.News, c.Maintenance, c.Status, up.Tags, person.MaxTags)
	}
	b.Queue(sql, args...).QueryRow(func(row pgx.Row) error {
		err := scanPerson(row, p)
		*known = err == nil
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
}

// queueMeet makes a person and their identity, unless somebody just did; in a chat of
// their own with the roles that the deployment gives them (package staff). Two first
// visits at once must not make two people: the lock ends with the transaction.
func queueMeet(b *pgx.Batch, v person.Visit) {
	a, u := v.Identity.Address, v.Identity.User
	locale := u.Locale
	if locale != "en" {
		locale = "ru"
	}
	b.Queue(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, a.String())
	b.Queue(`
		WITH made AS (
			INSERT INTO people (locale, roles)
			SELECT $5, coalesce((SELECT roles FROM staff WHERE messenger = $1 AND user_id = $4 AND user_id = $3), '{}')
			WHERE NOT EXISTS (SELECT FROM identities WHERE messenger = $1 AND bot = $2 AND chat = $3)
			RETURNING id
		)
		INSERT INTO identities (messenger, bot, chat, person_id, user_id, seen_at)
		SELECT $1, $2, $3, made.id, $4, $6 FROM made`,
		string(a.Messenger), a.Bot, a.Chat, clean(u.ID), locale, v.Identity.SeenAt)
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
