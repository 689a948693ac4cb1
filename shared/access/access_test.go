package access_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"supportbot/shared/access"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/env"
	"supportbot/shared/messenger"
	"supportbot/shared/person"
	"supportbot/shared/postgres"
	"supportbot/shared/postgres/schema"
	"supportbot/shared/redisdb"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, backendtest.Goroutines()...) }

type world struct {
	*access.Service
	db     *postgres.DB
	codes  *redisdb.Sessions
	forgot []messenger.Address
}

func setup(t *testing.T) *world {
	t.Helper()
	db, err := postgres.Open(postgres.Config{URL: env.NewSecret(backendtest.Postgres(t, schema.Migrate)), MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	client, err := redisdb.Open(redisdb.Config{URL: env.NewSecret(backendtest.Redis(t)), Timeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	w := &world{db: db, codes: redisdb.NewSessions(client)}
	w.Service = &access.Service{
		Codes: w.codes, People: db, Console: "https://support.example/console/", Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Forget: func(_ context.Context, a messenger.Address) error { w.forgot = append(w.forgot, a); return nil },
	}
	return w
}

func (w *world) meet(t *testing.T, m messenger.Name, chat string) (messenger.Address, person.Person) {
	t.Helper()
	a := messenger.Address{Messenger: m, Bot: "1", Chat: chat}
	p, _, err := w.db.Record(context.Background(), person.Visit{Identity: person.Identity{
		Address: a, User: messenger.User{ID: chat}, SeenAt: time.Now(),
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a, p
}

func TestLink(t *testing.T) {
	t.Parallel()
	ctx, w := context.Background(), setup(t)
	one, _ := w.meet(t, messenger.Telegram, "1099511627999")
	two, _ := w.meet(t, messenger.VK, "1099511627999")
	thief, _ := w.meet(t, messenger.VK, "5")
	code, err := w.LinkCode(ctx, one)
	if err != nil {
		t.Fatal(err)
	}
	link := func(code string, a messenger.Address, want access.Linked) {
		t.Helper()
		if got, err := w.Link(ctx, code, a); err != nil || got != want {
			t.Errorf("%q from %s: got %q, %v, want %q", code, a, got, err, want)
		}
	}
	link("AAAA-AAAA", two, access.Unknown)
	link("", two, access.Unknown)
	link(code, one, access.Same)
	link(" "+strings.ToLower(code)+" ", two, access.Done)
	link(code, two, access.Done) // the reply is sent again, after a crash
	link(code, thief, access.Unknown)

	a, _ := w.db.Person(ctx, one)
	b, _ := w.db.Person(ctx, two)
	c, _ := w.db.Person(ctx, thief)
	if a.ID != b.ID || a.ID == c.ID {
		t.Errorf("people %d, %d and %d", a.ID, b.ID, c.ID)
	}
	if !slices.Contains(w.forgot, one) || !slices.Contains(w.forgot, two) || slices.Contains(w.forgot, thief) {
		t.Errorf("kept copies of %v were dropped, want both", w.forgot)
	}
}

// Of several who send one code at once one is linked.
func TestLink_AtOnce(t *testing.T) {
	t.Parallel()
	ctx, w := context.Background(), setup(t)
	one, p := w.meet(t, messenger.Telegram, "1")
	code, err := w.LinkCode(ctx, one)
	if err != nil {
		t.Fatal(err)
	}
	var others []messenger.Address
	for i := range 8 {
		a, _ := w.meet(t, messenger.VK, fmt.Sprint(i+2))
		others = append(others, a)
	}
	got := make([]access.Linked, len(others))
	var at sync.WaitGroup
	for i, a := range others {
		at.Add(1)
		go func() {
			defer at.Done()
			linked, err := w.Link(ctx, code, a)
			if got[i] = linked; err != nil {
				t.Error(err)
			}
		}()
	}
	at.Wait()
	linked := 0
	for i, a := range others {
		q, _ := w.db.Person(ctx, a)
		if (q.ID == p.ID) != (got[i] == access.Done) {
			t.Errorf("%s is person %d and was told %q", a, q.ID, got[i])
		}
		if q.ID == p.ID {
			linked++
		}
	}
	if linked != 1 {
		t.Errorf("%d were linked by one code, want 1", linked)
	}
}

// A code hands no rights on, whoever made it and whoever was talked into sending it.
func TestLink_HandsNoRightsOn(t *testing.T) {
	t.Parallel()
	ctx, w := context.Background(), setup(t)
	admin, _ := w.meet(t, messenger.Telegram, "1")
	other, _ := w.meet(t, messenger.VK, "2")
	grant := func(a messenger.Address, roles ...person.Role) {
		t.Helper()
		if _, _, err := w.db.SetRoles(ctx, a.Messenger, a.Chat, roles); err != nil {
			t.Fatal(err)
		}
	}
	link := func(from, to messenger.Address, want access.Linked) {
		t.Helper()
		code, err := w.LinkCode(ctx, from)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := w.Link(ctx, code, to); err != nil || got != want {
			t.Errorf("from %s to %s: got %q, %v, want %q", from, to, got, err, want)
		}
	}
	grant(admin, person.Admin, person.Agent)
	link(admin, other, access.Rights)
	link(other, admin, access.Rights)
	grant(other, person.Agent, person.Customer)
	link(other, admin, access.Rights)
	if p, err := w.db.Person(ctx, other); err != nil || len(p.Roles) != 2 {
		t.Errorf("the other one is %+v, %v", p, err)
	}
	grant(other, person.Agent, person.Admin, person.Customer)
	link(admin, other, access.Done)
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	ctx, w := context.Background(), setup(t)
	a, p := w.meet(t, messenger.Telegram, "7")
	if link, err := w.SignIn(ctx, a); err != nil || link != "" {
		t.Errorf("a customer: got %q, %v", link, err)
	}
	if link, err := w.SignIn(ctx, messenger.Address{Messenger: messenger.VK, Bot: "1", Chat: "8"}); err != nil || link != "" {
		t.Errorf("nobody: got %q, %v", link, err)
	}
	if _, _, err := w.db.SetRoles(ctx, messenger.Telegram, "7", []person.Role{person.Admin}); err != nil {
		t.Fatal(err)
	}
	link, err := w.SignIn(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(link)
	if err != nil || u.RawQuery != "" || !strings.HasPrefix(link, "https://support.example/console/#code=") {
		t.Fatalf("link %q: the code may stand only behind the #", link)
	}
	s, _, ok, err := w.codes.Open(ctx, strings.TrimPrefix(u.Fragment, "code="))
	if err != nil || !ok || s.Person != p.ID || len(s.Roles) != 1 {
		t.Errorf("session %+v, %v, %v", s, ok, err)
	}
	if _, err := w.db.BanUser(ctx, a.Messenger, a.Chat, true, "left"); err != nil {
		t.Fatal(err)
	}
	if link, err := w.SignIn(ctx, a); err != nil || link != "" {
		t.Errorf("banned: got %q, %v", link, err)
	}
}
