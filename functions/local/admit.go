package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"supportbot/shared/env"
	"supportbot/shared/messenger"
	"supportbot/shared/messenger/all"
	"supportbot/shared/person"
	"supportbot/shared/postgres"
	"supportbot/shared/sandbox"
)

// admitFirst makes admins of the first customers of the stand-ins, so that /console in
// the sandbox opens the console; told says so. They have not written yet, so nothing
// can be sent to them before they do. Whoever writes to a real bot gets a role from an
// operator.
func admitFirst(ctx context.Context, vars variables, fakes *sandbox.Running) (told []string, err error) {
	first, names := map[messenger.Name]string{}, []string{}
	if fakes.Telegram != nil {
		p := fakes.Telegram.People()[0]
		first[messenger.Telegram] = strconv.FormatInt(p.ID, 10)
		names = append(names, p.FirstName+" "+p.LastName)
	}
	if fakes.VK != nil {
		p := fakes.VK.People()[0]
		first[messenger.VK] = strconv.FormatInt(p.ID, 10)
		names = append(names, p.FirstName+" "+p.LastName)
	}
	if len(first) == 0 {
		return nil, nil
	}
	e := env.NewReaderFrom(vars.get)
	bots, err := all.New(all.ConfigFrom(e), logger("local"), nil)
	if err != nil {
		return nil, err
	}
	db, err := postgres.Open(postgres.ConfigFrom(e))
	if err != nil {
		return nil, err
	}
	defer db.Close()
	for m, id := range first {
		if err := admit(ctx, db, messenger.Address{Messenger: m, Bot: bots.Bots()[m], Chat: id}); err != nil {
			return nil, fmt.Errorf("admit the first customers: %w", err)
		}
	}
	return []string{"The console for broadcasts: write /console to the bot as " + strings.Join(names, " or ")}, nil
}

// admit makes an admin of who will write from an address, whose chat is the user's.
func admit(ctx context.Context, db *postgres.DB, a messenger.Address) error {
	_, _, err := db.Record(ctx, person.Visit{
		Identity: person.Identity{Address: a, User: messenger.User{ID: a.Chat}, SeenAt: time.Unix(0, 0)},
	}, nil)
	if err == nil {
		err = db.SetReachable(ctx, a, false)
	}
	if err != nil {
		return err
	}
	_, _, err = db.SetRoles(ctx, a.Messenger, a.Chat, []person.Role{person.Admin})
	return err
}
