package postgres_test

import (
	"context"
	"sync"
	"testing"
	"time"

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
	ru, settings, off := "ru", person.Settings{News: false, Maintenance: true, Status: false}, false
	v.Update = person.Update{Locale: &ru, Settings: &settings, Reachable: &off}
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
	if err := db.SetBan(ctx, v.Identity.Address, true, "flood"); err != nil {
		t.Fatal(err)
	}
	v.Update = person.Update{}
	if again, _, err := db.Record(ctx, v, nil); err != nil || !again.Banned || again.Locale != "ru" {
		t.Errorf("after the ban %+v, %v", again, err)
	}
}
