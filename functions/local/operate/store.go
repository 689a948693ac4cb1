package operate

import (
	"context"
	"fmt"
	"regexp"

	"github.com/redis/go-redis/v9"

	"supportbot/shared/messenger"
	"supportbot/shared/postgres"
	"supportbot/shared/redisdb"
)

var userForm = regexp.MustCompile(`^(` + string(messenger.Telegram) + `|` + string(messenger.VK) + `):([0-9]{1,20})$`)

// parseUser reads "telegram:123456": a messenger and the id of a user of its.
func parseUser(s string) (m messenger.Name, id string, err error) {
	parts := userForm.FindStringSubmatch(s)
	if parts == nil {
		return "", "", fmt.Errorf("%w: %q is no user; one is telegram:123456 or vk:123456", ErrUsage, s)
	}
	return messenger.Name(parts[1]), parts[2], nil
}

// database opens the database.
func (o *Operator) database() (*postgres.DB, error) {
	cfg := postgres.ConfigFrom(o.Env)
	if err := o.Env.Err(); err != nil {
		return nil, err
	}
	return postgres.Open(cfg)
}

// stores opens the database and what conversations keep of people.
func (o *Operator) stores() (*postgres.DB, copies, error) {
	cfg := redisdb.ConfigFrom(o.Env) // first, so that all problems are told at once
	db, err := o.database()
	if err != nil {
		return nil, copies{}, err
	}
	client, err := redisdb.Open(cfg)
	if err != nil {
		db.Close()
		return nil, copies{}, err
	}
	return db, copies{client}, nil
}

// copies are what conversations keep of people.
type copies struct{ client *redis.Client }

func (c copies) close() { _ = c.client.Close() }

// forget lets each of the chats read its person anew.
func (c copies) forget(ctx context.Context, chats []messenger.Address) error {
	for _, a := range chats {
		if err := redisdb.NewConversations(c.client).ForgetPerson(ctx, a); err != nil {
			return err
		}
	}
	return nil
}
