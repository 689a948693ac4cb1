package redisdb_test

import (
	"context"
	"testing"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/env"
	"supportbot/shared/person"
	"supportbot/shared/redisdb"
)

// FuzzSession: what was not given out opens nothing, however alike it looks.
func FuzzSession(f *testing.F) {
	ctx := context.Background()
	client, err := redisdb.Open(redisdb.Config{URL: env.NewSecret(backendtest.Redis(f))})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = client.Close() })
	sessions := redisdb.NewSessions(client)
	code, err := sessions.Code(ctx, person.Person{ID: 1, Roles: []person.Role{person.Admin}})
	if err != nil {
		f.Fatal(err)
	}
	_, token, ok, err := sessions.Open(ctx, code)
	if err != nil || !ok {
		f.Fatalf("the code opens nothing: %v", err)
	}
	for _, guess := range []string{"", "*", code, token + "=", token[1:], token + "\x00", token + "\n", "console:session:*", "\xff", "a\r\nKEYS *\r\n"} {
		f.Add(guess)
	}
	f.Fuzz(func(t *testing.T, guess string) {
		if guess == token {
			return
		}
		if _, token, ok, err := sessions.Open(ctx, guess); ok || token != "" || err != nil {
			t.Errorf("%q as a code: %t, %v", guess, ok, err)
		}
		if in, ok, err := sessions.Session(ctx, guess); ok || in.Person != 0 || err != nil {
			t.Errorf("%q as a session: %t, %v", guess, ok, err)
		}
	})
}
