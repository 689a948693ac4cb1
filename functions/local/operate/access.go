package operate

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"supportbot/shared/job"
	"supportbot/shared/person"
	"supportbot/shared/postgres"
)

// keyRoles are what a program may be, roles what a person may be.
var (
	keyRoles = []person.Role{person.Admin, person.Analyst, person.Operator}
	roles    = []person.Role{person.Agent, person.Admin, person.Analyst, person.Operator}
)

// key makes an API key. It is shown once and kept nowhere.
func (o *Operator) key(ctx context.Context, args []string) error {
	if len(args) < 2 || len(args) > 3 || !slices.Contains(keyRoles, person.Role(args[1])) {
		return fmt.Errorf("%w: a name and a role (admin, analyst or operator) are needed", ErrUsage)
	}
	db, err := o.database()
	if err != nil {
		return err
	}
	defer db.Close()
	var of int64
	if len(args) == 3 {
		id, err := o.personOf(ctx, db, args[2])
		if err != nil {
			return err
		}
		of = id
	}
	var b [32]byte
	_, _ = rand.Read(b[:])
	key := base64.RawURLEncoding.EncodeToString(b[:])
	hash := sha256.Sum256([]byte(key))
	err = db.CreateKey(ctx, args[0], person.Role(args[1]), hash[:], of)
	if errors.Is(err, job.ErrMismatch) {
		return fmt.Errorf("there is a key named %s; revoke it first, or take another name", args[0])
	}
	if err != nil {
		return err
	}
	o.say("%s\nThis is the key %s, for the header X-API-Key. It is shown only now.", key, args[0])
	return nil
}

func (o *Operator) revoke(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%w: which key?", ErrUsage)
	}
	db, err := o.database()
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.RevokeKey(ctx, args[0]); errors.Is(err, job.ErrNotFound) {
		return fmt.Errorf("there is no key named %s", args[0])
	} else if err != nil {
		return err
	}
	o.say("The key %s opens nothing any more.", args[0])
	return nil
}

func (o *Operator) keys(ctx context.Context, args []string) error {
	if len(args) != 0 {
		return fmt.Errorf("%w: nothing follows", ErrUsage)
	}
	db, err := o.database()
	if err != nil {
		return err
	}
	defer db.Close()
	all, err := db.Keys(ctx)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		o.say("No keys.")
	}
	for _, k := range all {
		used, state := "never used", ""
		if k.UsedAt != nil {
			used = "used " + at(*k.UsedAt)
		}
		if k.RevokedAt != nil {
			state = ", revoked " + at(*k.RevokedAt)
		}
		o.say("%-24s %-9s made %s, %s%s", k.Name, k.Role, at(k.CreatedAt), used, state)
	}
	return nil
}

// grant gives a person roles in place of those that they have.
func (o *Operator) grant(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("%w: whom, and which roles?", ErrUsage)
	}
	m, user, err := parseUser(args[0])
	if err != nil {
		return err
	}
	list := []person.Role{}
	for _, r := range strings.Split(args[1], ",") {
		switch {
		case r == "none":
		case slices.Contains(roles, person.Role(r)):
			list = append(list, person.Role(r))
		default:
			return fmt.Errorf("%w: there is no role %q; there are agent, admin, analyst, operator and none", ErrUsage, r)
		}
	}
	db, kept, err := o.stores()
	if err != nil {
		return err
	}
	defer db.Close()
	defer kept.close()
	_, chats, err := db.SetRoles(ctx, m, user, list)
	if errors.Is(err, job.ErrNotFound) {
		return fmt.Errorf("nobody has written as %s: they have to send /start to the bot first", args[0])
	}
	if err != nil {
		return err
	}
	if err := kept.forget(ctx, chats); err != nil {
		return fmt.Errorf("%s has the roles in an hour at the latest: %w", args[0], err)
	}
	o.say("%s has the roles: %s. The console opens with /console in the bot.", args[0], args[1])
	return nil
}

// personOf finds who writes as a user.
func (o *Operator) personOf(ctx context.Context, db *postgres.DB, user string) (int64, error) {
	m, number, err := parseUser(user)
	if err != nil {
		return 0, err
	}
	id, err := db.PersonOfUser(ctx, m, number)
	if errors.Is(err, job.ErrNotFound) {
		return 0, fmt.Errorf("nobody has written as %s: they have to send /start to the bot first", user)
	}
	return id, err
}
