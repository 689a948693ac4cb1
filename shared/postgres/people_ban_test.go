package postgres_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/person"
)

// A ban is a person's: it holds in every chat that they write from.
func TestBanUser(t *testing.T) {
	t.Parallel()
	db, url := openURL(t, 2)
	ctx := context.Background()
	first, second, other := visitOf(messenger.Telegram, "7"), visitOf(messenger.VK, "7"), visitOf(messenger.Telegram, "8")
	for _, v := range []person.Visit{first, second, other} {
		if _, _, err := db.Record(ctx, v, nil); err != nil {
			t.Fatal(err)
		}
	}
	banned := func(v person.Visit) bool {
		t.Helper()
		p, err := db.Person(ctx, v.Identity.Address)
		if err != nil {
			t.Fatal(err)
		}
		return p.Banned
	}
	got, err := db.BanUser(ctx, messenger.Telegram, "7", true, "spam")
	if diff := cmp.Diff([]messenger.Address{first.Identity.Address}, got); diff != "" || err != nil {
		t.Errorf("%v, addresses (-want +got):\n%s", err, diff)
	}
	if !banned(first) || banned(second) || banned(other) {
		t.Errorf("banned: %v, the same id in another messenger: %v, another: %v", banned(first), banned(second), banned(other))
	}
	exec(t, url, `UPDATE identities SET person_id = (SELECT person_id FROM identities WHERE messenger = 'telegram' AND user_id = '7') WHERE messenger = 'vk'`)
	got, err = db.BanUser(ctx, messenger.VK, "7", false, "")
	want := []messenger.Address{first.Identity.Address, second.Identity.Address}
	if diff := cmp.Diff(want, got); diff != "" || err != nil || banned(first) {
		t.Errorf("%v, still banned %v, addresses of both messengers (-want +got):\n%s", err, banned(first), diff)
	}
	for _, m := range []messenger.Name{messenger.VK, "icq"} {
		if _, err := db.BanUser(ctx, m, "9", true, ""); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("of somebody unknown: %v, want ErrNotFound", err)
		}
	}
}
