package redisdb_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/person"
	"supportbot/shared/redisdb"
)

func TestSessions(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	_, client := processes(t, 1, redisdb.PaceConfig{})
	s := redisdb.NewSessions(client)
	code, err := s.Code(ctx, person.Person{ID: 7, Roles: []person.Role{person.Admin}, Locale: "ru"})
	if err != nil {
		t.Fatal(err)
	}

	// Ten connections open the link: one signs in.
	var opened atomic.Int64
	var token string
	var all sync.WaitGroup
	for range 10 {
		all.Add(1)
		go func() {
			defer all.Done()
			in, got, ok, err := s.Open(ctx, code)
			if err != nil {
				t.Error(err)
			}
			if ok {
				opened.Add(1)
				token = got
				if in.Person != 7 || in.Expires.Before(time.Now().Add(11*time.Hour)) {
					t.Errorf("session %+v", in)
				}
			}
		}()
	}
	all.Wait()
	if n := opened.Load(); n != 1 {
		t.Fatalf("%d sign-ins with one link", n)
	}

	in, ok, err := s.Session(ctx, token)
	if err != nil || !ok || in.Person != 7 {
		t.Fatalf("session %+v, %v, %v", in, ok, err)
	}
	in.Roles = []person.Role{person.Analyst}
	if err := s.Keep(ctx, token, in); err != nil {
		t.Fatal(err)
	}
	again, _, _ := s.Session(ctx, token)
	if diff := cmp.Diff(in, again); diff != "" {
		t.Error(diff)
	}
	keys, err := client.Keys(ctx, "*").Result()
	if err != nil || len(keys) == 0 {
		t.Fatal(err)
	}
	for _, k := range keys {
		if strings.Contains(k, token) || strings.Contains(k, code) {
			t.Errorf("Redis knows a secret: %s", k)
		}
		if ttl := client.TTL(ctx, k).Val(); ttl <= 0 || ttl > 12*time.Hour {
			t.Errorf("%s lives %s", k, ttl)
		}
	}

	over := in
	over.Expires = time.Now().Add(-time.Second) // Redis' clock may be behind
	if err := s.Keep(ctx, token, over); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := s.Session(ctx, token); ok || err != nil {
		t.Errorf("a session that is over: %v, %v", ok, err)
	}

	if err := s.Close(ctx, token); err != nil {
		t.Fatal(err)
	}
	// Whoever read it before changes nothing that is ended.
	if err := s.Keep(ctx, token, in); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := s.Session(ctx, token); ok || err != nil {
		t.Errorf("a closed session: %v, %v", ok, err)
	}
	for _, wrong := range []string{"", "x", code} {
		if _, _, ok, err := s.Open(ctx, wrong); ok || err != nil {
			t.Errorf("code %q: %v, %v", wrong, ok, err)
		}
	}
}
