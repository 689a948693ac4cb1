package postgres_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/broadcast"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/person"
	"supportbot/shared/postgres/schema"
)

func chat(m messenger.Name, id string) messenger.Address {
	return messenger.Address{Messenger: m, Bot: bothBots[m], Chat: id}
}

func TestLink_UnitesWhatIsKnown(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	a := s.person("locale = 'en', roles = '{agent}', tags = '{x,y}', news = false", "a")
	b := s.person("locale = 'ru', roles = '{admin,agent}', tags = '{y,z}', status = false, banned_at = now(), ban_reason = 'flood', created_at = '2020-01-01Z'", "vk:b")
	if err := s.db.CreateKey(s.ctx, "theirs", person.Admin, []byte("h"), b); err != nil {
		t.Fatal(err)
	}
	want := person.Person{ID: a, Locale: "en", Roles: []person.Role{person.Admin, person.Agent}, Settings: person.Settings{Maintenance: true}, Banned: true}
	for i, pair := range [][2]int64{{a, b}, {a, b}, {b, a}, {a, a}, {b, b}} { // again and again, by either id
		got, err := s.db.Link(s.ctx, pair[0], pair[1])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d: person (-want +got):\n%s", i, diff)
		}
	}
	if got := get[string](s, `SELECT array_to_string(tags, ',') || ' ' || ban_reason || ' ' || extract(year FROM created_at) FROM people WHERE id = $1`, a); got != "x,y,z flood 2020" {
		t.Errorf("person has %q", got)
	}
	for _, id := range []int64{a, b} {
		p, err := s.db.PersonByID(s.ctx, id)
		if err != nil || p == nil || p.ID != a {
			t.Errorf("person %d is %+v, %v; want %d", id, p, err, a)
		}
		all, err := s.db.Addresses(s.ctx, id)
		if err != nil || len(all) != 2 {
			t.Errorf("addresses of %d: %v, %v", id, all, err)
		}
	}
	if p, err := s.db.Person(s.ctx, chat(messenger.VK, "b")); err != nil || p.ID != a {
		t.Errorf("who writes from VK is %+v, %v", p, err)
	}
	if got := get[int64](s, `SELECT person_id FROM api_keys`); got != a {
		t.Errorf("the key is %d's", got)
	}
	if got := get[string](s, `SELECT roles::text || tags::text || coalesce(ban_reason, '') FROM people WHERE id = $1`, b); got != "{}{}" {
		t.Errorf("the old row still says %q", got)
	}
	// A third one joins by the old id, and a broadcast to the old id reaches them.
	c := s.person("", "c")
	if got, err := s.db.Link(s.ctx, c, b); err != nil || got.ID != c {
		t.Fatalf("link by an old id: %+v, %v", got, err)
	}
	s.exec(`UPDATE people SET banned_at = NULL`)
	spec := news("text")
	spec.Kind, spec.Audience.Customers = broadcast.Message, []int64{b, a}
	s.planned(spec)
	if got := list[string](s, `SELECT chat FROM recipients r JOIN identities i ON i.id = r.identity`); len(got) != 1 {
		t.Errorf("a message to all their ids reached %v, want one copy", got)
	}
}

func TestLink_Unknown(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	a := s.person("", "a")
	for _, pair := range [][2]int64{{a, 1 << 40}, {1 << 40, a}} {
		if _, err := s.db.Link(s.ctx, pair[0], pair[1]); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("link %v: %v, want ErrNotFound", pair, err)
		}
	}
	if p, err := s.db.PersonByID(s.ctx, 1<<40); err != nil || p != nil {
		t.Errorf("unknown person %+v, %v", p, err)
	}
}

// Everybody is linked to everybody at once, while they write: in the end there is one
// person with all identities, and no visit was lost.
func TestLink_AtOnceAndWithVisits(t *testing.T) {
	t.Parallel()
	url := backendtest.Postgres(t, schema.Migrate)
	for _, via := range []string{"", backendtest.PgBouncer(t, url)} {
		s := studioOn(t, url, via, 10)
		s.exec(`TRUNCATE people CASCADE`)
		var people []int64
		var chats []messenger.Address
		for i := range 5 {
			id := fmt.Sprint("c", i)
			people = append(people, s.person("", id))
			chats = append(chats, chat(messenger.Telegram, id))
		}
		var wg sync.WaitGroup
		for i, a := range people {
			wg.Add(2)
			go func() {
				defer wg.Done()
				for j := range people {
					if _, err := s.db.Link(s.ctx, a, people[(i+j)%5]); err != nil {
						t.Error(err)
					}
				}
			}()
			go func() {
				defer wg.Done()
				for j := range 10 {
					v := person.Visit{Identity: person.Identity{Address: chats[i], User: messenger.User{ID: "1"}, SeenAt: time.Now()}}
					if j%2 == 0 {
						v.Update.Locale = ptr("en")
					}
					if _, _, err := s.db.Record(s.ctx, v, nil); err != nil {
						t.Error(err)
					}
				}
			}()
		}
		wg.Wait()
		if n := get[int](s, `SELECT count(DISTINCT person_id) FROM identities`); n != 1 {
			t.Errorf("%d people, want one", n)
		}
		if n := get[int](s, `SELECT count(*) FROM people WHERE merged_into IS NULL`); n != 1 {
			t.Errorf("%d rows of people, want one", n)
		}
		if n := get[int](s, `SELECT count(*) FROM people p JOIN people o ON o.id = p.merged_into WHERE o.merged_into IS NOT NULL`); n != 0 {
			t.Errorf("%d old ids lead to old ids", n)
		}
		if n := get[int](s, `SELECT count(*) FROM identities`); n != 5 {
			t.Errorf("%d identities, want 5", n)
		}
	}
}

func TestMoveChat(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	s.person("", "old")
	s.person("", "taken")
	if err := s.db.MoveChat(s.ctx, chat(messenger.Telegram, "old"), "taken"); err != nil {
		t.Fatal(err)
	}
	if err := s.db.MoveChat(s.ctx, chat(messenger.Telegram, "taken"), "new"); err != nil {
		t.Fatal(err)
	}
	if err := s.db.MoveChat(s.ctx, chat(messenger.Telegram, "unknown"), "x"); err != nil {
		t.Fatal(err)
	}
	got := list[string](s, `SELECT chat || ' ' || reachable FROM identities ORDER BY chat`)
	if want := []string{"new true", "old false"}; !slices.Equal(got, want) {
		t.Errorf("identities %v, want %v", got, want)
	}
}

func TestForget(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	a, b := s.person("", "a"), s.person("", "vk:b")
	other := s.person("", "other")
	if _, err := s.db.Link(s.ctx, a, b); err != nil {
		t.Fatal(err)
	}
	if err := s.db.CreateKey(s.ctx, "theirs", person.Admin, []byte("h"), a); err != nil {
		t.Fatal(err)
	}
	s.exec(`UPDATE identities SET seen_at = now() WHERE chat = 'a'`)
	for _, to := range []int64{a, b, other} { // by the old id, too
		spec := news("canary")
		spec.Kind, spec.Title, spec.Audience.Customers = broadcast.Message, "canary", []int64{to}
		s.create(spec)
		spec.Kind = broadcast.System
		s.create(spec)
		spec.Audience.Customers = []int64{to, other, 1 << 40} // not theirs alone
		spec.Content.Texts["ru"], spec.Title = "to many", "to many"
		s.create(spec)
	}
	bc, _ := s.planned(news("text"))
	batch := s.batch(bc.ID)
	jobOf := func(key, lane string) job.New {
		j := newJob(key, lane, 1)
		j.Payload = map[string]string{"text": "canary"}
		return j
	}
	made, err := s.db.Insert(s.ctx, []job.New{
		jobOf("1", "in:telegram:"+telegramBot+":a"), jobOf("2", "out:vk:"+vkBot+":b"), jobOf("3", "out:vk:"+vkBot+":b"), jobOf("4", "in:telegram:"+telegramBot+":other"),
		jobOf("5", "export:vk:"+vkBot+":b"),
	})
	if err != nil {
		t.Fatal(err)
	}
	s.exec(`UPDATE jobs SET state = 'completed', finished_at = now() WHERE key = '3'`)
	c, err := s.db.Claim(s.ctx, "tickets", made[0].ID, tokenA)
	if err != nil || c.Job == nil {
		t.Fatalf("claim: %+v, %v", c, err)
	}
	if _, err := s.forget(a); !errors.Is(err, person.ErrBusy) {
		t.Errorf("forget while a job runs: %v, want ErrBusy", err)
	}
	if p, err := s.db.PersonByID(s.ctx, a); err != nil || p == nil {
		t.Errorf("half of it was done: %v, %v", p, err)
	}
	if _, err := s.db.Finish(s.ctx, job.Finish{Job: c.Job, Token: tokenA, Verdict: job.VerdictParked}); err != nil {
		t.Fatal(err)
	}
	gone, err := s.forget(b)
	if err != nil || len(gone) != 2 {
		t.Fatalf("forget: %v, %v", gone, err)
	}
	for what, sql := range map[string]string{
		"people": `SELECT count(*) FROM people`, "identities": `SELECT count(*) FROM identities`,
		"jobs with texts":              `SELECT count(*) FROM jobs WHERE payload::text LIKE '%canary%'`,
		"messages with texts":          `SELECT count(*) FROM broadcasts WHERE kind = 'message' AND (content::text LIKE '%canary%' OR title = 'canary')`,
		"notices to one with texts":    `SELECT count(*) FROM broadcasts WHERE kind = 'system' AND (content::text LIKE '%canary%' OR title = 'canary')`,
		"notices to many, of three,":   `SELECT count(*) - 2 FROM broadcasts WHERE content::text LIKE '%to many%' AND title = 'to many'`,
		"recipients that can be found": `SELECT count(*) FROM recipients r JOIN identities i ON i.id = r.identity`,
	} {
		if n := get[int](s, sql); n != 1 {
			t.Errorf("%d %s are left, want the other one's", n, what)
		}
	}
	if got := get[string](s, `SELECT coalesce(person_id::text, 'nobody') FROM api_keys`); got != "nobody" {
		t.Errorf("the key is %s's", got)
	}
	for range 2 {
		if _, err := s.forget(a); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("forget again: %v, want ErrNotFound", err)
		}
	}
	s.claimed(batch, tokenA, 1, 2)
	if got := s.outcomes(batch); got != "skipped(erased) claimed" {
		t.Errorf("recipients %q", got)
	}
	l, _, err := s.db.Recipients(s.ctx, bc.ID, broadcast.Skipped, "", 10)
	if err != nil || len(l) != 1 || l[0].Customer != 0 {
		t.Errorf("listed %+v, %v", l, err)
	}
	// Who writes again is a new person.
	p, _, err := s.db.Record(s.ctx, person.Visit{Identity: person.Identity{Address: gone[0], User: messenger.User{ID: "1"}, SeenAt: time.Now()}}, nil)
	if err != nil || p.ID == a || p.ID == b || p.ID == other {
		t.Errorf("they are %+v, %v", p, err)
	}
}

// Who writes while they are erased is either erased too or a new person: nothing is
// left half.
func TestForget_WhileTheyWrite(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 6)
	v := person.Visit{Identity: person.Identity{Address: chat(messenger.Telegram, "a"), User: messenger.User{ID: "1"}, SeenAt: time.Now()}}
	for range 20 {
		p, _, err := s.db.Record(s.ctx, v, nil)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for i := range 3 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				if _, _, err := s.db.Record(s.ctx, v, []job.New{newJob(newToken(), "in:"+v.Identity.Address.String(), int64(i))}); err != nil {
					t.Error(err)
				}
			}()
		}
		if _, err := s.forget(p.ID); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if n := get[int](s, `SELECT count(*) FROM people p WHERE NOT EXISTS (SELECT FROM identities i WHERE i.person_id = p.id)`); n != 0 {
			t.Fatalf("%d people without an identity", n)
		}
	}
}
