package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/messenger"
	"supportbot/shared/person"
	"supportbot/shared/ticket"
)

// Dossier gives what the database knows of a person; the tickets and what else is kept
// elsewhere is left to the caller. job.ErrNotFound: nobody has the id. It reads all
// jobs and recipients that are kept, so it is not for every day.
func (db *DB) Dossier(ctx context.Context, id int64) (d person.Dossier, err error) {
	err = db.pool.QueryRow(ctx, `
		SELECT p.id, p.locale, p.roles, p.tags, p.news, p.maintenance, p.status, p.created_at, p.banned_at, coalesce(p.ban_reason, '')
		FROM people o JOIN people p ON p.id = coalesce(o.merged_into, o.id) WHERE o.id = $1`, id).
		Scan(&d.Person.ID, &d.Person.Locale, &d.Person.Roles, &d.Person.Tags, &d.Person.Settings.News, &d.Person.Settings.Maintenance,
			&d.Person.Settings.Status, &d.Person.Since, &d.Person.Banned, &d.Person.Reason)
	if err != nil {
		return d, fmt.Errorf("read person: %w", notFound(err))
	}
	if d.Chats, err = collect(ctx, db.pool, "read chats", scanChat, `
		SELECT messenger, bot, chat, user_id, name, username, reachable, registered_at, seen_at
		FROM identities WHERE person_id = $1 ORDER BY seen_at DESC, id DESC`, d.Person.ID); err != nil {
		return d, err
	}
	if d.Broadcasts, err = collect(ctx, db.pool, "read broadcasts", pgx.RowToStructByPos[person.Received], `
		SELECT b.broadcast, c.kind, c.title, coalesce(r.outcome, ''), r.done_at,
			CASE WHEN c.kind = 'message' OR jsonb_array_length(c.audience->'customers') = 1 THEN c.content->'texts' END
		FROM identities i JOIN recipients r ON r.identity = i.id JOIN batches b ON b.id = r.batch JOIN broadcasts c ON c.id = b.broadcast
		WHERE i.person_id = $1 ORDER BY b.broadcast, r.n`, d.Person.ID); err != nil {
		return d, err
	}
	var inbound []string
	var chats []messenger.Address
	for _, c := range d.Chats {
		inbound, chats = append(inbound, ticket.InboundLane(c.Address)), append(chats, c.Address)
	}
	d.Requests, err = collect(ctx, db.pool, "read requests", pgx.RowToStructByPos[person.Request], `
		SELECT kind, state, created_at, CASE WHEN lane = ANY($2) THEN payload END
		FROM jobs WHERE lane = ANY($1) ORDER BY id`, lanesOf(chats), inbound)
	return d, err
}

func scanChat(row pgx.CollectableRow) (c person.Chat, err error) {
	err = row.Scan(&c.Messenger, &c.Bot, &c.Chat, &c.User, &c.Name, &c.Username, &c.Reachable, &c.Registered, &c.Seen)
	return c, err
}
