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

// PersonByID gives a person by their id, or by one that they had before two became
// one; nil when there is none.
func (db *DB) PersonByID(ctx context.Context, id int64) (*person.Person, error) {
	p, err := personByID(ctx, db.pool, id)
	if errors.Is(err, job.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find person: %w", err)
	}
	return &p, nil
}

// personByID gives job.ErrNotFound when there is none.
func personByID(ctx context.Context, q session, id int64) (p person.Person, err error) {
	err = scanPerson(q.QueryRow(ctx, `SELECT `+personColumns+`
		FROM people o JOIN people p ON p.id = coalesce(o.merged_into, o.id) WHERE o.id = $1`, id), &p)
	return p, notFound(err)
}

// Addresses gives the chats of a person, those that can be written to first, of them the
// one last used.
func (db *DB) Addresses(ctx context.Context, id int64) ([]messenger.Address, error) {
	list, err := addresses(ctx, db.pool, `SELECT i.messenger, i.bot, i.chat
		FROM people o JOIN identities i ON i.person_id = coalesce(o.merged_into, o.id) WHERE o.id = $1 ORDER BY i.reachable DESC, i.seen_at DESC, i.id DESC`, id)
	if err != nil {
		return nil, fmt.Errorf("find addresses: %w", err)
	}
	return list, nil
}

func addresses(ctx context.Context, q reader, sql string, args ...any) ([]messenger.Address, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (a messenger.Address, err error) {
		err = row.Scan(&a.Messenger, &a.Bot, &a.Chat)
		return a, err
	})
}

// lockPeople locks two people and their identities, in the order in which visits lock
// them: identities first. It gives their ids as they are now; job.ErrNotFound when
// one of them is not there.
func lockPeople(ctx context.Context, tx pgx.Tx, a, b int64) (int64, int64, error) {
	for range 10 {
		one, err := personByID(ctx, tx, a)
		if err != nil {
			return 0, 0, err
		}
		two, err := personByID(ctx, tx, b)
		if err != nil {
			return 0, 0, err
		}
		pair := []int64{one.ID, two.ID}
		if _, err := tx.Exec(ctx, `SELECT FROM identities WHERE person_id = ANY($1) ORDER BY messenger, bot, chat FOR UPDATE`, pair); err != nil {
			return 0, 0, fmt.Errorf("lock identities: %w", err)
		}
		locked, err := ids(ctx, tx, `SELECT id FROM people WHERE id = ANY($1) AND merged_into IS NULL ORDER BY id FOR UPDATE`, pair)
		if err != nil {
			return 0, 0, fmt.Errorf("lock people: %w", err)
		}
		if len(locked) == 2 || len(locked) == 1 && one.ID == two.ID {
			return one.ID, two.ID, nil
		}
		// One of them was linked to somebody else, or erased, meanwhile: look again.
	}
	return 0, 0, errors.New("they are being linked by somebody else all the time")
}

// Link makes one person of two: they write from several messengers. The identities of
// other become those of keep; roles and tags are united; who has opted out as either
// stays so, and so does who is banned. The old id goes on to mean the person. Linking
// those who are one already changes nothing. The caller drops the kept copies of the
// person in the conversations (Addresses).
func (db *DB) Link(ctx context.Context, keep, other int64) (p person.Person, err error) {
	err = db.inTx(ctx, func(tx pgx.Tx) error {
		keep, other, err := lockPeople(ctx, tx, keep, other)
		if err != nil {
			return err
		}
		if keep != other {
			b := &pgx.Batch{}
			b.Queue(`UPDATE identities SET person_id = $1 WHERE person_id = $2`, keep, other)
			b.Queue(unite, keep, other)
			b.Queue(`UPDATE api_keys SET person_id = $1 WHERE person_id = $2`, keep, other)
			b.Queue(`UPDATE people SET merged_into = $1, roles = '{}', tags = '{}', banned_at = NULL, ban_reason = NULL
				WHERE id = $2 OR merged_into = $2`, keep, other)
			if err := tx.SendBatch(ctx, b).Close(); err != nil {
				return err
			}
		}
		p, err = personByID(ctx, tx, keep)
		return err
	})
	if err != nil {
		return person.Person{}, fmt.Errorf("link people: %w", err)
	}
	return p, nil
}

// unite adds to person $1 what is known of person $2.
const unite = `
UPDATE people p SET
	roles = ARRAY(SELECT DISTINCT unnest(p.roles || o.roles) ORDER BY 1),
	tags = ARRAY(SELECT DISTINCT unnest(p.tags || o.tags) ORDER BY 1),
	news = p.news AND o.news, maintenance = p.maintenance AND o.maintenance, status = p.status AND o.status,
	banned_at = least(p.banned_at, o.banned_at), ban_reason = coalesce(p.ban_reason, o.ban_reason),
	created_at = least(p.created_at, o.created_at)
FROM people o WHERE p.id = $1 AND o.id = $2`

// MoveChat notes that a chat has a new id. When somebody writes from there already
// the old one is only no longer to be written to.
func (db *DB) MoveChat(ctx context.Context, from messenger.Address, chat string) error {
	_, err := db.pool.Exec(ctx, `UPDATE identities SET chat = $4 WHERE messenger = $1 AND bot = $2 AND chat = $3`,
		string(from.Messenger), from.Bot, from.Chat, clean(chat))
	if code(err) == uniqueViolation {
		return db.SetReachable(ctx, from, false)
	}
	if err != nil {
		return fmt.Errorf("move chat: %w", err)
	}
	return nil
}
