package staff_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/env"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/person"
	"supportbot/shared/postgres"
	"supportbot/shared/postgres/schema"
	"supportbot/shared/postgres/staff"
)

var ctx = context.Background()

// office is a database whose staff is declared.
type office struct {
	*testing.T
	url string
	db  *postgres.DB
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{T: t, url: backendtest.Postgres(t, schema.Migrate)}
	db, err := postgres.Open(postgres.ConfigFrom(env.NewReaderFrom(func(name string) (string, bool) { return o.url, name == "DATABASE_URL" })))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	o.db = db
	return o
}

func (o *office) declare(d staff.Declared) {
	o.Helper()
	if err := staff.Apply(ctx, o.url, d); err != nil {
		o.Fatal(err)
	}
}

// visit is a message of a user in a chat.
func (o *office) visit(m messenger.Name, user, chat string) []person.Role {
	o.Helper()
	p, _, err := o.db.Record(ctx, person.Visit{Identity: person.Identity{
		Address: messenger.Address{Messenger: m, Bot: "1", Chat: chat}, User: messenger.User{ID: user}, SeenAt: time.Now(),
	}}, nil)
	if err != nil {
		o.Fatal(err)
	}
	return p.Roles
}

func (o *office) want(what string, got []person.Role, want ...person.Role) {
	o.Helper()
	if !slices.Equal(got, want) {
		o.Errorf("%s: roles %q, want %q", what, got, want)
	}
}

// TestApply_People: roles are there before the first message and after it, change, and
// go with their declaration; what an operator granted stays.
func TestApply_People(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.want("a customer", o.visit(messenger.VK, "5", "5"))
	o.visit(messenger.Telegram, "7", "7")
	if _, _, err := o.db.SetRoles(ctx, messenger.Telegram, "7", []person.Role{person.Agent}); err != nil {
		t.Fatal(err)
	}
	first := staff.Declared{People: map[string][]person.Role{"telegram:1": {person.Admin}, "vk:5": {person.Operator, person.Analyst}}}
	o.declare(first)
	o.declare(first)
	o.want("somebody who had not written", o.visit(messenger.Telegram, "1", "1"), person.Admin)
	o.want("a customer who was", o.visit(messenger.VK, "5", "5"), person.Analyst, person.Operator)
	o.want("another one of the number", o.visit(messenger.VK, "1", "1"))
	o.want("in a group, where others write", o.visit(messenger.Telegram, "1", "-100"))
	o.declare(first)
	o.want("in a group that is known", o.visit(messenger.Telegram, "1", "-100"))

	o.declare(staff.Declared{People: map[string][]person.Role{"telegram:1": {person.Analyst}}})
	o.want("with another role", o.visit(messenger.Telegram, "1", "1"), person.Analyst)
	o.want("declared no more", o.visit(messenger.VK, "5", "5"))
	o.declare(staff.Declared{})
	o.want("nothing is said", o.visit(messenger.Telegram, "1", "1"), person.Analyst)
	o.declare(staff.Declared{People: map[string][]person.Role{}})
	o.want("nobody is declared", o.visit(messenger.Telegram, "1", "1"))
	o.want("granted by an operator", o.visit(messenger.Telegram, "7", "7"), person.Agent)
}

func hash(key string) (raw []byte, text string) {
	sum := sha256.Sum256([]byte(key))
	return sum[:], hex.EncodeToString(sum[:])
}

// TestApply_Keys: a key opens the API while it is declared, and never again.
func TestApply_Keys(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	raw, text := hash("one")
	byHand, _ := hash("by hand")
	if err := o.db.CreateKey(ctx, "hand", person.Admin, byHand, 0); err != nil {
		t.Fatal(err)
	}
	opens := func(raw []byte, want person.Role) {
		t.Helper()
		k, err := o.db.KeyByHash(ctx, raw)
		if err != nil || (k == nil) != (want == "") || k != nil && k.Role != want {
			t.Errorf("the key is %+v, %v, want the role %q", k, err, want)
		}
	}
	o.declare(staff.Declared{Keys: map[string]staff.Key{"doctor": {person.Operator, text}}})
	opens(raw, person.Operator)
	o.declare(staff.Declared{Keys: map[string]staff.Key{"doctor": {person.Analyst, strings.ToUpper(text)}}})
	opens(raw, person.Analyst)
	next, nextText := hash("two")
	o.declare(staff.Declared{Keys: map[string]staff.Key{"doctor": {person.Operator, nextText}}})
	opens(raw, "")
	opens(next, person.Operator)
	opens(byHand, person.Admin)
	for _, wrong := range []map[string]staff.Key{{"doctor": {person.Operator, text}}, {"hand": {person.Operator, nextText}}} {
		if err := staff.Apply(ctx, o.url, staff.Declared{Keys: wrong}); err == nil {
			t.Errorf("%v: got no error", wrong)
		}
	}
	opens(next, person.Operator) // all of it or nothing
	o.declare(staff.Declared{Keys: map[string]staff.Key{}})
	opens(next, "")
	opens(byHand, person.Admin)
}

// TestApply_KeysChangeNames: names go from one key to another, and come back, in one apply.
func TestApply_KeysChangeNames(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	keys := map[string][]byte{}
	_, one := hash("one")
	_, two := hash("two")
	keys[one], _ = hash("one")
	keys[two], _ = hash("two")
	for _, names := range [][2]string{{"a", "b"}, {"b", "a"}, {"b", "c"}, {"c", "d"}, {"d", "c"}} {
		o.declare(staff.Declared{Keys: map[string]staff.Key{names[0]: {person.Operator, one}, names[1]: {person.Analyst, two}}})
		for i, text := range []string{one, two} {
			if k, err := o.db.KeyByHash(ctx, keys[text]); err != nil || k == nil || k.Name != names[i] {
				t.Errorf("key %d is %+v, %v; want it to be %s", i, k, err, names[i])
			}
		}
	}
	// One goes, the other has its name.
	o.declare(staff.Declared{Keys: map[string]staff.Key{"d": {person.Analyst, two}}})
	if k, err := o.db.KeyByHash(ctx, keys[two]); err != nil || k == nil || k.Name != "d" {
		t.Errorf("the key is %+v, %v", k, err)
	}
}

// waits ends as soon as n connections wait for another, or f has ended.
func (o *office) waits(n int, f <-chan struct{}) {
	o.Helper()
	conn, err := pgx.Connect(ctx, o.url)
	if err != nil {
		o.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	for waiting := 0; waiting < n; {
		select {
		case <-f:
			return
		default:
		}
		if err := conn.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity
			WHERE wait_event_type = 'Lock' AND datname = current_database()`).Scan(&waiting); err != nil {
			o.Fatal(err)
		}
	}
}

// held runs f beside a transaction that has done something, and ends that.
func (o *office) held(sql string, f func()) {
	o.Helper()
	conn, err := pgx.Connect(ctx, o.url)
	if err != nil {
		o.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	tx, err := conn.Begin(ctx)
	if err == nil {
		_, err = tx.Exec(ctx, sql)
	}
	if err != nil {
		o.Fatal(err)
	}
	f()
	if err := tx.Rollback(ctx); err != nil {
		o.Fatal(err)
	}
}

func beside(f func()) (done <-chan struct{}) {
	ended := make(chan struct{})
	go func() { defer close(ended); f() }()
	return ended
}

// TestApply_FirstMessage: whoever writes for the first time while roles are declared has
// them, whichever ends first; and who is declared no more has none.
func TestApply_FirstMessage(t *testing.T) {
	t.Parallel()
	declared := staff.Declared{People: map[string][]person.Role{"telegram:1": {person.Admin}, "telegram:2": {person.Operator}}}
	for _, first := range []string{"the message", "the declaration"} {
		t.Run(first, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			o.visit(messenger.Telegram, "2", "2")
			var message, apply <-chan struct{}
			visit := func() {
				_, _, err := o.db.Record(ctx, person.Visit{Identity: person.Identity{
					Address: messenger.Address{Messenger: messenger.Telegram, Bot: "1", Chat: "1"}, User: messenger.User{ID: "1"}, SeenAt: time.Now(),
				}}, []job.New{{Queue: "q", Kind: "k", Key: "held", Lane: job.Lane{Name: "l"}}})
				if err != nil {
					t.Error(err)
				}
			}
			declare := func() {
				if err := staff.Apply(ctx, o.url, declared); err != nil {
					t.Error(err)
				}
			}
			if first == "the message" { // its transaction waits for the job's key
				o.held(`INSERT INTO jobs (queue, kind, key, lane, strict, payload) VALUES ('q', 'k', 'held', 'l', true, 'null')`, func() {
					message = beside(visit)
					o.waits(1, message)
					apply = beside(declare)
					o.waits(2, apply)
				})
			} else { // it waits for a person's row
				o.held(`SELECT FROM people FOR UPDATE`, func() {
					apply = beside(declare)
					o.waits(1, apply)
					message = beside(visit)
					o.waits(2, message)
				})
			}
			<-message
			<-apply
			o.want("the next message", o.visit(messenger.Telegram, "1", "1"), person.Admin)
		})
	}
}

func TestApply_AtTheSameTime(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	_, text := hash("one")
	var all sync.WaitGroup
	for range 4 {
		all.Add(1)
		go func() {
			defer all.Done()
			if err := staff.Apply(ctx, o.url, staff.Declared{
				People: map[string][]person.Role{"telegram:1": {person.Admin}}, Keys: map[string]staff.Key{"doctor": {person.Operator, text}},
			}); err != nil {
				t.Error(err)
			}
		}()
	}
	all.Wait()
	o.want("four times", o.visit(messenger.Telegram, "1", "1"), person.Admin)
}

func TestCheck(t *testing.T) {
	t.Parallel()
	_, text := hash("one")
	twice := staff.Declared{Keys: map[string]staff.Key{"doctor": {person.Operator, text}, "shop": {person.Admin, strings.ToUpper(text)}}}
	if err := twice.Check(); err == nil || !strings.Contains(err.Error(), "the keys doctor and shop have the same SHA-256") {
		t.Errorf("one key under two names: %v", err)
	}
	for name, d := range map[string]staff.Declared{
		"no number":            {People: map[string][]person.Role{"telegram:": {person.Admin}}},
		"no messenger":         {People: map[string][]person.Role{"123": {person.Admin}}},
		"another messenger":    {People: map[string][]person.Role{"max:123": {person.Admin}}},
		"no role":              {People: map[string][]person.Role{"vk:1": {}}},
		"a customer":           {People: map[string][]person.Role{"vk:1": {person.Customer}}},
		"a key instead of its": {Keys: map[string]staff.Key{"k": {person.Admin, "secret"}}},
		"an agent's key":       {Keys: map[string]staff.Key{"k": {person.Agent, text}}},
	} {
		if err := d.Check(); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}
