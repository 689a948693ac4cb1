package postgres_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/person"
)

func visitOf(m messenger.Name, chat string) person.Visit {
	return person.Visit{Identity: person.Identity{
		Address: messenger.Address{Messenger: m, Bot: "1099511627777", Chat: chat},
		User:    messenger.User{ID: chat, Name: "Имя", Username: "nick", Locale: "en"},
		SeenAt:  time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}}
}

func TestRecord_FirstVisitsAtOnceMakeOnePerson(t *testing.T) {
	t.Parallel()
	db := open(t, 8)
	v := visitOf(messenger.Telegram, "1099511627999")
	ids := make([]int64, 8)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Add(1)
		go func() {
			defer wg.Done()
			p, _, err := db.Record(context.Background(), v, nil)
			if err != nil {
				t.Error(err)
			}
			ids[i] = p.ID
		}()
	}
	wg.Wait()
	for _, id := range ids {
		if id == 0 || id != ids[0] {
			t.Fatalf("people %v, want one", ids)
		}
	}
}

// Who is gone is told of, too; that makes nobody.
func TestRecord_UnreachableIsNobodyNew(t *testing.T) {
	t.Parallel()
	db := open(t, 2)
	v := visitOf(messenger.Telegram, "1099511627998")
	no := false
	left := v
	left.Update.Reachable = &no
	if p, _, err := db.Record(context.Background(), left, nil); err != nil || p.ID != 0 {
		t.Errorf("made %+v, %v", p, err)
	}
	if p, err := db.Person(context.Background(), v.Identity.Address); p != nil || err != nil {
		t.Errorf("found %+v, %v", p, err)
	}
	met, _, err := db.Record(context.Background(), v, nil)
	if err != nil || met.ID == 0 {
		t.Fatalf("met %+v, %v", met, err)
	}
	if p, _, err := db.Record(context.Background(), left, nil); err != nil || p.ID != met.ID {
		t.Errorf("left: %+v, %v; want %d", p, err, met.ID)
	}
}

func TestRecord_SameUpdateAtOnceMakesOneJob(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		pooled bool
		gather *job.Gather
	}{
		{"directly", false, nil},
		{"through a transaction pooler", true, nil},
		{"as part of an album", false, &job.Gather{Member: "part", Wait: time.Second, Cap: time.Minute}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			db, url := openURL(t, 8)
			if tc.pooled {
				db = connect(t, backendtest.PgBouncer(t, url), 8)
			}
			j := newJob("update", "in:a", 1)
			j.Gather = tc.gather
			var wg sync.WaitGroup
			found := make([]job.Inserted, 8)
			for i := range found {
				wg.Add(1)
				go func() {
					defer wg.Done()
					_, made, err := db.Record(context.Background(), visitOf(messenger.Telegram, "1099511627999"), []job.New{j})
					if err != nil {
						t.Error(err)
						return
					}
					found[i] = made[0]
				}()
			}
			wg.Wait()
			isNew := 0
			for _, in := range found {
				if in.New {
					isNew++
				}
				if in.ID == 0 || in.ID != found[0].ID {
					t.Errorf("jobs %+v, want one", found)
				}
			}
			if isNew != 1 {
				t.Errorf("%d times new, want once", isNew)
			}
		})
	}
}

func TestRecord_AJobThatCannotBeInsertedLeavesNobody(t *testing.T) {
	t.Parallel()
	db := open(t, 1)
	ctx := context.Background()
	v := visitOf(messenger.Telegram, "7")
	var long strings.Builder // more than an index takes, and not to be compressed
	for range 10_000 {
		fmt.Fprintf(&long, "%x", rand.Uint64())
	}
	if _, _, err := db.Record(ctx, v, []job.New{newJob("good", "in:a", 1), newJob(long.String(), "in:a", 2)}); err == nil {
		t.Fatal("a key of 160,000 characters was taken")
	}
	if p, err := db.Person(ctx, v.Identity.Address); err != nil || p != nil {
		t.Errorf("person %+v, %v, want nobody", p, err)
	}
	if j, err := db.Find(ctx, "good"); err != nil || j != nil {
		t.Errorf("job %+v, %v, want none", j, err)
	}
	if _, made, err := db.Record(ctx, v, []job.New{newJob("good", "in:a", 1)}); err != nil || !made[0].New {
		t.Errorf("after that: %+v, %v", made, err)
	}
}

func TestRecord_SameIDInTwoMessengersIsTwoPeople(t *testing.T) {
	t.Parallel()
	db := open(t, 2)
	ctx := context.Background()
	a, _, err := db.Record(ctx, visitOf(messenger.Telegram, "42"), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := db.Record(ctx, visitOf(messenger.VK, "42"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.ID == b.ID {
		t.Errorf("one person %d for two messengers", a.ID)
	}
}

func TestRecord_UpdatesAndJobsAreOne(t *testing.T) {
	t.Parallel()
	db := open(t, 2)
	ctx := context.Background()
	v := visitOf(messenger.Telegram, "7")
	ru, on, off, settings := "ru", true, false, person.Settings{Maintenance: true}
	v.Update = person.Update{Locale: &ru, Settings: &person.Choice{News: &off, Status: &off}, Reachable: &on}
	if _, made, err := db.Record(ctx, v, []job.New{newJob("record", "in:a", 1)}); err != nil || len(made) != 1 || !made[0].New {
		t.Fatalf("record: %v, %v", made, err)
	}
	got, err := db.Person(ctx, v.Identity.Address)
	if err != nil {
		t.Fatal(err)
	}
	if got.Locale != "ru" || got.Settings != settings {
		t.Errorf("person %+v, want locale ru and settings %+v", got, settings)
	}
	if _, err := db.BanUser(ctx, messenger.Telegram, v.Identity.User.ID, true, "flood"); err != nil {
		t.Fatal(err)
	}
	v.Update = person.Update{}
	if again, _, err := db.Record(ctx, v, nil); err != nil || !again.Banned || again.Locale != "ru" {
		t.Errorf("after the ban %+v, %v", again, err)
	}
}

// Each of a person's chats keeps a copy of the settings for a while: what is chosen in
// one must not take back what was chosen in the other.
func TestRecord_ChoicesInTwoChats(t *testing.T) {
	t.Parallel()
	db := open(t, 2)
	ctx, off := context.Background(), false
	one, other := visitOf(messenger.Telegram, "7"), visitOf(messenger.VK, "8")
	var people []int64
	for _, v := range []person.Visit{one, other} {
		p, _, err := db.Record(ctx, v, nil)
		if err != nil {
			t.Fatal(err)
		}
		people = append(people, p.ID)
	}
	if _, err := db.Link(ctx, people[0], people[1]); err != nil {
		t.Fatal(err)
	}
	one.Update.Settings, other.Update.Settings = &person.Choice{Maintenance: &off}, &person.Choice{News: &off}
	for _, v := range []person.Visit{one, other} {
		if _, _, err := db.Record(ctx, v, nil); err != nil {
			t.Fatal(err)
		}
	}
	p, err := db.Person(ctx, one.Identity.Address)
	if want := (person.Settings{Status: true}); err != nil || p.Settings != want {
		t.Errorf("settings %+v, %v, want %+v", p, err, want)
	}
}
