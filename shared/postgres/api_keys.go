package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/job"
	"supportbot/shared/person"
)

const keyColumns = `name, role, coalesce(person_id, 0), created_at, used_at, revoked_at`

// CreateKey notes a key of the notification API by its SHA-256. job.ErrMismatch: a
// key with that name is in use; job.ErrNotFound: there is no such person (0: nobody).
func (db *DB) CreateKey(ctx context.Context, name string, role person.Role, hash []byte, of int64) error {
	_, err := db.pool.Exec(ctx, `INSERT INTO api_keys (name, role, hash, person_id) VALUES ($1, $2, $3, nullif($4::bigint, 0))`,
		clean(name), string(role), hash, of)
	switch code(err) {
	case uniqueViolation:
		err = job.ErrMismatch
	case foreignKeyViolation:
		err = job.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("create key %s: %w", name, err)
	}
	return nil
}

// RevokeKey ends a key at once and for good; its name may be used again.
func (db *DB) RevokeKey(ctx context.Context, name string) error {
	tag, err := db.pool.Exec(ctx, `UPDATE api_keys SET revoked_at = clock_timestamp() WHERE name = $1 AND revoked_at IS NULL`, clean(name))
	if err == nil && tag.RowsAffected() == 0 {
		err = job.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("revoke key %s: %w", name, err)
	}
	return nil
}

// KeyByHash gives the key with a hash; nil for one that is unknown or was revoked.
// That it was used is noted at most once a minute.
func (db *DB) KeyByHash(ctx context.Context, hash []byte) (*person.APIKey, error) {
	k, err := scanKey(db.pool.QueryRow(ctx, `
		WITH used AS (
			UPDATE api_keys SET used_at = clock_timestamp()
			WHERE hash = $1 AND revoked_at IS NULL AND (used_at IS NULL OR used_at < clock_timestamp() - interval '1 minute')
		)
		SELECT `+keyColumns+` FROM api_keys WHERE hash = $1 AND revoked_at IS NULL`, hash))
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find key: %w", err)
	}
	return &k, nil
}

// Keys lists all keys, also those that were revoked, newest first.
func (db *DB) Keys(ctx context.Context) ([]person.APIKey, error) {
	scan := func(row pgx.CollectableRow) (person.APIKey, error) { return scanKey(row) }
	return collect(ctx, db.pool, "list keys", scan, `SELECT `+keyColumns+` FROM api_keys ORDER BY id DESC`)
}

func scanKey(row pgx.Row) (k person.APIKey, err error) {
	err = row.Scan(&k.Name, &k.Role, &k.Person, &k.CreatedAt, &k.UsedAt, &k.RevokedAt)
	return k, err
}
