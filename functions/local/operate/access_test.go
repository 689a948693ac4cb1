package operate_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"supportbot/functions/local/operate"
	"supportbot/shared/messenger"
	"supportbot/shared/person"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	ctx, d := context.Background(), newDesk(t)
	a := messenger.Address{Messenger: messenger.Telegram, Bot: "1", Chat: "1099511627999"}
	p, _, err := d.DB.Record(ctx, person.Visit{Identity: person.Identity{
		Address: a, User: messenger.User{ID: "1099511627999", Name: "CANARY"}, SeenAt: time.Now(),
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if out := d.must("keys"); out != "No keys.\n" {
		t.Errorf("keys when there are none: %q", out)
	}
	key, _, _ := strings.Cut(d.must("key", "crm", "admin", "telegram:1099511627999"), "\n")
	hash := sha256.Sum256([]byte(key))
	k, err := d.DB.KeyByHash(ctx, hash[:])
	if err != nil || k == nil || k.Role != person.Admin || k.Person != p.ID || len(key) < 40 {
		t.Fatalf("key %q is %+v, %v", key, k, err)
	}
	if out := d.must("keys"); !strings.Contains(out, "crm") || !strings.Contains(out, " UTC, used ") || strings.Contains(out, key) {
		t.Errorf("keys: %s", out)
	}
	if _, err := d.do("key", "crm", "admin"); err == nil || !strings.Contains(err.Error(), "revoke it first") {
		t.Errorf("a second key of the name: %v", err)
	}
	d.must("revoke", "crm")
	if k, err := d.DB.KeyByHash(ctx, hash[:]); k != nil || err != nil {
		t.Errorf("a revoked key is %+v, %v", k, err)
	}
	d.must("key", "crm", "analyst")

	d.must("grant", "telegram:1099511627999", "admin,operator")
	got, err := d.DB.Person(ctx, a)
	if err != nil || !slices.Equal(got.Roles, []person.Role{person.Admin, person.Operator}) {
		t.Errorf("person %+v, %v", got, err)
	}
	d.must("grant", "telegram:1099511627999", "none")
	if got, _ = d.DB.Person(ctx, a); got.Staff() {
		t.Errorf("person %+v", got)
	}
	for _, wrong := range [][]string{
		{"key"}, {"key", "x", "customer"}, {"key", "x", "admin", "me"}, {"revoke"}, {"keys", "x"}, {"grant", "telegram:1"}, {"grant", "x:1", "admin"},
		{"grant", "telegram:1", "king"},
	} {
		if _, err := d.do(wrong[0], wrong[1:]...); !errors.Is(err, operate.ErrUsage) {
			t.Errorf("%v: %v", wrong, err)
		}
	}
	for _, nobody := range [][]string{{"grant", "telegram:1", "admin"}, {"key", "x", "admin", "vk:5"}, {"revoke", "x"}} {
		if _, err := d.do(nobody[0], nobody[1:]...); err == nil || errors.Is(err, operate.ErrUsage) {
			t.Errorf("%v: %v", nobody, err)
		}
	}
}
