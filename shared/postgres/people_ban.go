package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
)

// BanUser bans whoever writes as this user of a messenger, or lifts the ban. It
// gives every address that they write from, in whatever messenger: the kept copies
// of the person are to be dropped there. job.ErrNotFound: nobody has written as
// this user.
func (db *DB) BanUser(ctx context.Context, m messenger.Name, user string, banned bool, reason string) ([]messenger.Address, error) {
	all, err := collect(ctx, db.pool, "ban user", pgx.RowToStructByPos[messenger.Address], `
		WITH who AS (
			SELECT DISTINCT person_id FROM identities WHERE messenger = $1 AND user_id = $2
		), changed AS (
			UPDATE people SET banned_at = CASE WHEN $3 THEN coalesce(banned_at, clock_timestamp()) END, ban_reason = nullif($4, '')
			FROM who WHERE people.id = who.person_id
		)
		SELECT i.messenger, i.bot, i.chat FROM identities i JOIN who USING (person_id) ORDER BY 1, 2, 3`,
		string(m), clean(user), banned, clean(reason))
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("ban user: %w", job.ErrNotFound)
	}
	return all, nil
}
