package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/person"
)

// PersonOfUser gives the id of who writes as a messenger's user. job.ErrNotFound:
// nobody does.
func (db *DB) PersonOfUser(ctx context.Context, m messenger.Name, user string) (int64, error) {
	who, err := ids(ctx, db.pool, personOfUser, string(m), clean(user))
	if err == nil && len(who) == 0 {
		err = job.ErrNotFound
	}
	if err != nil {
		return 0, fmt.Errorf("find person: %w", err)
	}
	return who[0], nil
}

const personOfUser = `SELECT person_id FROM identities WHERE messenger = $1 AND user_id = $2 ORDER BY seen_at DESC LIMIT 1`

// SetRoles gives the person behind a messenger's user these roles and no others. It
// gives the person's id and chats, for the caller to drop what conversations keep of
// the person. job.ErrNotFound: nobody has written as this user.
func (db *DB) SetRoles(ctx context.Context, m messenger.Name, user string, roles []person.Role) (id int64, chats []messenger.Address, err error) {
	err = pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		who, err := ids(ctx, tx, personOfUser, string(m), clean(user))
		if err != nil {
			return err
		}
		if len(who) == 0 {
			return job.ErrNotFound
		}
		id = who[0]
		if _, err := tx.Exec(ctx, `UPDATE people SET roles = $2 WHERE id = $1`, id, texts(roles)); err != nil {
			return err
		}
		chats, err = addresses(ctx, tx, `SELECT messenger, bot, chat FROM identities WHERE person_id = $1 ORDER BY 1, 2, 3`, id)
		return err
	})
	if err != nil {
		return 0, nil, fmt.Errorf("set roles: %w", err)
	}
	return id, chats, nil
}
