// Package staff brings into the database whom a deployment declares: people with
// roles, which they have from their first message on, and keys of the API. So nobody
// needs a machine in the database's network to let in the first admin. What is declared
// no more is taken back; whatever else was granted is left alone.
package staff

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/messenger"
	"supportbot/shared/person"
)

// Declared is what a deployment declares. Of a map that is nil nothing is said, and all
// of it stays as it is.
type Declared struct {
	People map[string][]person.Role `json:"staff"` // by account: "telegram:123456"
	Keys   map[string]Key           `json:"keys"`  // by name
}

// Key is a key of the API. Only its hash is known.
type Key struct {
	Role   person.Role `json:"role"`
	SHA256 string      `json:"sha256"` // in hex
}

func (k Key) digest() string { return strings.ToLower(k.SHA256) }

var (
	keyRoles = []person.Role{person.Admin, person.Analyst, person.Operator}
	roles    = append([]person.Role{person.Agent}, keyRoles...)
)

// Check is the error of something that cannot be.
func (d Declared) Check() error {
	var problems []error
	for account, list := range d.People {
		m, user, _ := strings.Cut(account, ":")
		if !slices.Contains([]messenger.Name{messenger.Telegram, messenger.VK}, messenger.Name(m)) || user == "" {
			problems = append(problems, fmt.Errorf("%q is no account like telegram:123456", account))
		}
		if len(list) == 0 || slices.ContainsFunc(list, func(r person.Role) bool { return !slices.Contains(roles, r) }) {
			problems = append(problems, fmt.Errorf("the roles of %s are %q; there are %q", account, list, roles))
		}
	}
	owner := map[string]string{} // of a hash
	for _, name := range slices.Sorted(maps.Keys(d.Keys)) {
		k := d.Keys[name]
		if other, taken := owner[k.digest()]; taken {
			problems = append(problems, fmt.Errorf("the keys %s and %s have the same SHA-256: they are one key, which has one name and one role", other, name))
		}
		owner[k.digest()] = name
		if hash, err := hex.DecodeString(k.SHA256); err != nil || len(hash) != 32 {
			problems = append(problems, fmt.Errorf("the key %s has no SHA-256 in hex", name))
		}
		if !slices.Contains(keyRoles, k.Role) {
			problems = append(problems, fmt.Errorf("the role of the key %s is %q; there are %q", name, k.Role, keyRoles))
		}
	}
	return errors.Join(problems...)
}

// Apply makes the database say what is declared, all of it or nothing. It may run twice
// and at the same time. People whom conversations know already get their roles there
// within an hour.
func Apply(ctx context.Context, url string, d Declared) error {
	if err := d.Check(); err != nil {
		return err
	}
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return errors.New("the database's address cannot be read") // the cause may repeat the password
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return fmt.Errorf("declare staff: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		// Whoever writes for the first time reads the table: they come before this, and are
		// found, or after it, and read what is declared. All others go on.
		if _, err := tx.Exec(ctx, `LOCK TABLE staff IN ACCESS EXCLUSIVE MODE`); err != nil {
			return err
		}
		return errors.Join(people(ctx, tx, d.People), keys(ctx, tx, d.Keys))
	})
	if err != nil {
		return fmt.Errorf("declare staff: %w", err)
	}
	return nil
}

// own is a person's chat with a bot; in a group others write, too.
const own = `i.messenger = s.messenger AND i.user_id = s.user_id AND i.chat = i.user_id`

const takeBack = `
WITH s AS (DELETE FROM staff WHERE messenger || ':' || user_id <> ALL($1) RETURNING messenger, user_id)
UPDATE people p SET roles = '{}' FROM s JOIN identities i ON ` + own + ` WHERE p.id = i.person_id`

const give = `
WITH declared AS (
	SELECT i.person_id, array_agg(DISTINCT role ORDER BY role) AS roles
	FROM staff s JOIN identities i ON ` + own + ` CROSS JOIN unnest(s.roles) AS role GROUP BY i.person_id
)
UPDATE people p SET roles = d.roles FROM declared d WHERE p.id = d.person_id AND p.roles <> d.roles`

func people(ctx context.Context, tx pgx.Tx, declared map[string][]person.Role) error {
	if declared == nil {
		return nil
	}
	if _, err := tx.Exec(ctx, takeBack, slices.AppendSeq([]string{}, maps.Keys(declared))); err != nil {
		return fmt.Errorf("take roles back: %w", err)
	}
	for account, list := range declared {
		m, user, _ := strings.Cut(account, ":")
		_, err := tx.Exec(ctx, `INSERT INTO staff (messenger, user_id, roles) VALUES ($1, $2, $3)
			ON CONFLICT (messenger, user_id) DO UPDATE SET roles = excluded.roles`, m, user, list)
		if err != nil {
			return fmt.Errorf("note roles of %s: %w", account, err)
		}
	}
	if _, err := tx.Exec(ctx, give); err != nil {
		return fmt.Errorf("give roles: %w", err)
	}
	return nil
}

func keys(ctx context.Context, tx pgx.Tx, declared map[string]Key) error {
	if declared == nil {
		return nil
	}
	hashes := []string{}
	for _, k := range declared {
		hashes = append(hashes, k.digest())
	}
	_, err := tx.Exec(ctx, `UPDATE api_keys SET revoked_at = clock_timestamp()
		WHERE declared AND revoked_at IS NULL AND encode(hash, 'hex') <> ALL($1)`, hashes)
	if err != nil {
		return fmt.Errorf("revoke keys: %w", err)
	}
	// A name may go from one key to another: none is in the way while they are given anew.
	_, err = tx.Exec(ctx, `UPDATE api_keys SET name = encode(hash, 'hex') WHERE declared AND revoked_at IS NULL`)
	if err != nil {
		return fmt.Errorf("free names of keys: %w", err)
	}
	for name, k := range declared {
		if err := addKey(ctx, tx, name, k); err != nil {
			return err
		}
	}
	return nil
}

// addKey adds a key, or gives it its name and role. One that was revoked opens nothing
// ever again.
func addKey(ctx context.Context, tx pgx.Tx, name string, k Key) error {
	var taken bool
	err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM api_keys WHERE name = $1 AND revoked_at IS NULL AND NOT declared)`, name).Scan(&taken)
	if err == nil && taken {
		err = errors.New("another key has this name; revoke that, or take another name")
	}
	if err != nil {
		return fmt.Errorf("add key %s: %w", name, err)
	}
	tag, err := tx.Exec(ctx, `INSERT INTO api_keys (name, role, hash, declared) VALUES ($1, $2, decode($3, 'hex'), true)
		ON CONFLICT (hash) DO UPDATE SET name = excluded.name, role = excluded.role WHERE api_keys.declared AND api_keys.revoked_at IS NULL`,
		name, string(k.Role), k.SHA256)
	if err == nil && tag.RowsAffected() == 0 {
		err = errors.New("it was revoked, or made by hand; make another one")
	}
	if err != nil {
		return fmt.Errorf("add key %s: %w", name, err)
	}
	return nil
}
