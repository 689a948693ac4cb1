package main

import (
	"context"
	"testing"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/broadcast"
	"supportbot/shared/env"
	"supportbot/shared/messenger"
	"supportbot/shared/person"
	"supportbot/shared/postgres"
	"supportbot/shared/postgres/schema"
	"supportbot/shared/sandbox"
)

// Whoever plays the first customers gets into the console; nobody is written to
// before they have written.
func TestAdmitFirst(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	fakes, err := sandbox.Servers(sandbox.ServersConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fakes.Close)
	vars := variables{"DATABASE_URL": backendtest.Postgres(t, schema.Migrate)}
	for _, v := range fakes.Variables() {
		vars[v.Name] = v.Value
	}
	if told, err := admitFirst(ctx, vars, fakes); err != nil || len(told) != 1 {
		t.Fatalf("told %q, %v", told, err)
	}
	db, err := postgres.Open(postgres.Config{URL: env.NewSecret(vars["DATABASE_URL"])})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	for m, user := range map[messenger.Name]string{messenger.Telegram: "1099511635077", messenger.VK: "1099511637577"} {
		id, err := db.PersonOfUser(ctx, m, user)
		if err != nil {
			t.Fatal(err)
		}
		p, err := db.PersonByID(ctx, id)
		if err != nil || p == nil || len(p.Roles) != 1 || p.Roles[0] != person.Admin {
			t.Errorf("%s: %+v, %v, want an admin", m, p, err)
		}
	}
	bots := broadcast.Bots{messenger.Telegram: "7000000001", messenger.VK: "224455001"}
	if n, err := db.Estimate(ctx, broadcast.Audience{}, broadcast.News, bots, nil); err != nil || len(n) != 0 {
		t.Errorf("a broadcast would go to %v, %v, want to nobody", n, err)
	}
}
