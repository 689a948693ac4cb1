package postgres_test

import (
	"crypto/sha256"
	"errors"
	"testing"

	"supportbot/shared/job"
	"supportbot/shared/person"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	of := s.person("", "a")
	hash := func(key string) []byte { h := sha256.Sum256([]byte(key)); return h[:] }
	create := func(name string, role person.Role, key string, of int64) error {
		return s.db.CreateKey(s.ctx, name, role, hash(key), of)
	}
	for _, tc := range []struct {
		name, key string
		of        int64
		want      error
	}{
		{"ci", "one", of, nil}, {"console", "two", 0, nil},
		{"ci", "three", 0, job.ErrMismatch}, {"other", "one", 0, job.ErrMismatch}, {"nobody's", "four", 1 << 40, job.ErrNotFound},
	} {
		if err := create(tc.name, person.Admin, tc.key, tc.of); !errors.Is(err, tc.want) {
			t.Errorf("create %s: %v, want %v", tc.name, err, tc.want)
		}
	}
	if err := create("customer's", person.Customer, "five", 0); err == nil {
		t.Error("a customer has got a key")
	}
	for range 2 {
		k, err := s.db.KeyByHash(s.ctx, hash("one"))
		if err != nil || k == nil || k.Name != "ci" || k.Role != person.Admin || k.Person != of || k.CreatedAt.IsZero() {
			t.Fatalf("key %+v, %v", k, err)
		}
	}
	used := `SELECT used_at::text FROM api_keys WHERE name = 'ci'`
	at := get[string](s, used)
	if _, err := s.db.KeyByHash(s.ctx, hash("one")); err != nil || get[string](s, used) != at {
		t.Errorf("noted again within the minute, %v", err)
	}
	s.exec(`UPDATE api_keys SET used_at = used_at - interval '61 s'`)
	if _, err := s.db.KeyByHash(s.ctx, hash("one")); err != nil || get[string](s, used) < at {
		t.Errorf("not noted after a minute, %v", err)
	}
	if k, err := s.db.KeyByHash(s.ctx, hash("unknown")); err != nil || k != nil {
		t.Errorf("unknown key: %+v, %v", k, err)
	}
	if err := s.db.RevokeKey(s.ctx, "ci"); err != nil {
		t.Fatal(err)
	}
	if k, err := s.db.KeyByHash(s.ctx, hash("one")); err != nil || k != nil {
		t.Errorf("revoked key: %+v, %v", k, err)
	}
	for _, name := range []string{"ci", "unknown"} {
		if err := s.db.RevokeKey(s.ctx, name); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("revoke %s: %v, want ErrNotFound", name, err)
		}
	}
	if err := create("ci", person.Analyst, "six", 0); err != nil { // its name is free again
		t.Errorf("create again: %v", err)
	}
	if err := create("again", person.Analyst, "one", 0); !errors.Is(err, job.ErrMismatch) { // its hash is not
		t.Errorf("a revoked key came back: %v", err)
	}
	all, err := s.db.Keys(s.ctx)
	if err != nil || len(all) != 3 || all[0].Name != "ci" || all[0].Role != person.Analyst || all[0].RevokedAt != nil || all[2].RevokedAt == nil || all[2].UsedAt == nil {
		t.Errorf("keys %+v, %v", all, err)
	}
}
