package loader_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"supportbot/shared/analytics/loader"
	"supportbot/shared/backend"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/catalogue"
	"supportbot/shared/clickhouse"
	"supportbot/shared/clickhouse/clickhousetest"
	"supportbot/shared/env"
	"supportbot/shared/news"
	"supportbot/shared/postgres"
	"supportbot/shared/postgres/schema"
	sandbox "supportbot/shared/sandbox/tracker"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
	v3 "supportbot/shared/tracker/v3"
)

func TestMain(m *testing.M) {
	backend.ServeClickHouse()
	goleak.VerifyTestMain(m, backendtest.Goroutines()...)
}

var ctx = context.Background()

// clock is Tracker's and the loader's.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// world is a Tracker with a past, and where it is loaded to.
type world struct {
	t       *testing.T
	clock   *clock
	tracker *sandbox.Server
	agent   *sandbox.Agent
	client  *v3.Client
	url     string // of Tracker
	opened  int
}

const robotToken = "token"

func newWorld(t *testing.T, front ...func(http.Handler) http.Handler) *world {
	t.Helper()
	w := &world{t: t, clock: &clock{at: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}}
	var fields []string
	for _, f := range tracker.Fields {
		fields = append(fields, string(f))
	}
	support := sandbox.DefaultQueue("SUP", fields...)
	support.SLA = 2 * time.Hour
	w.tracker = sandbox.New(sandbox.Config{
		Token: robotToken, OrgID: "77", Now: w.clock.Now,
		Agents: []sandbox.User{{ID: "101", Login: "anna", Name: "Анна"}, {ID: "102", Login: "boris", Name: "Борис"}},
		Queues: []sandbox.Queue{support, sandbox.DefaultQueue("BIL", fields...), sandbox.DefaultQueue("DEV")},
	})
	t.Cleanup(w.tracker.Close)
	w.agent = w.tracker.As("anna")
	var h http.Handler = w.tracker
	for _, f := range front {
		h = f(h)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	w.url = srv.URL
	var err error
	w.client, err = v3.New(v3.Config{URL: w.url, Token: env.NewSecret(robotToken), OrgID: "77", Queue: "SUP"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.client.Close)
	return w
}

// store is one copy of the databases and the loader on them.
type store struct {
	*loader.Loader
	deps   loader.Deps
	db     *postgres.DB
	url    string // of Postgres
	rows   *clickhouse.DB
	waited []time.Duration
}

func (w *world) store(change ...func(*loader.Deps)) *store {
	w.t.Helper()
	s := &store{url: backendtest.Postgres(w.t, schema.Migrate)}
	s.rows, _ = clickhousetest.New(w.t)
	var err error
	if s.db, err = postgres.Open(postgres.Config{URL: env.NewSecret(s.url), MaxConns: 4}); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(s.db.Close)
	book, err := catalogue.Load(catalogue.Config{Queue: "SUP"})
	if err != nil {
		w.t.Fatal(err)
	}
	var mu sync.Mutex
	s.deps = loader.Deps{
		Live: w.client, History: w.client, Records: s.db, Store: s.rows, Catalogue: book, Log: quiet(), Now: w.clock.Now,
		Rule: &news.Rule{Prefix: "/reply", Myself: w.client.Myself}, Rows: 40,
		Sleep: func(ctx context.Context, d time.Duration) error {
			mu.Lock()
			defer mu.Unlock()
			s.waited = append(s.waited, d)
			return ctx.Err()
		},
	}
	for _, f := range change {
		f(&s.deps)
	}
	s.Loader = loader.New(s.deps)
	return s
}

func quiet() *slog.Logger {
	if os.Getenv("TEST_LOG") != "" {
		return slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	return slog.New(slog.NewTextHandler(io.Discard, nil))
}

// open opens a ticket as the bot does.
func (w *world) open(n int) string {
	w.t.Helper()
	chat := fmt.Sprint(1<<40 + n)
	i, err := w.client.Create(ctx, tracker.NewIssue{
		Queue: "SUP", Type: []string{"bug", "question"}[n%2], Priority: "normal", Summary: "CANARY-subject",
		Unique: ticket.Unique(addressOf(n), fmt.Sprintf("d%d", n)),
		Fields: map[tracker.Field]string{
			tracker.FieldMessenger: []string{"telegram", "vk"}[n%2], tracker.FieldBot: "1", tracker.FieldChat: chat,
			tracker.FieldUser: chat, tracker.FieldNickname: "CANARY-nick", tracker.FieldName: "CANARY-name",
			tracker.FieldLocale: "ru", tracker.FieldCategory: []string{"problem", "question", "billing"}[n%3],
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return i.Key
}

// do is an agent's operation.
func (w *world) do(key string, e sandbox.Edit) sandbox.Ticket {
	w.t.Helper()
	k, err := w.agent.Do(key, e)
	if err != nil {
		w.t.Fatal(err)
	}
	return k
}

// says is a customer's side: a message of theirs in a comment of the robot's.
func (w *world) says(key, text string) {
	w.t.Helper()
	if _, err := w.client.AddComment(ctx, key, tracker.NewComment{Text: text + "\n\n" + ticket.MarkerPrefix + ticket.MarkCustomer + "1)"}); err != nil {
		w.t.Fatal(err)
	}
}

// history makes tickets with all that can happen to them.
func (w *world) history(tickets int) (keys []string) {
	w.t.Helper()
	for range tickets {
		w.clock.Add(7 * time.Minute)
		keys = append(keys, w.open(w.opened))
		w.opened++
	}
	for n, key := range keys {
		w.clock.Add(3 * time.Minute)
		if n%4 != 0 {
			w.do(key, sandbox.Edit{Assignee: []string{"anna", "boris"}[n%2], Priority: "critical"})
		}
		w.says(key, "CANARY-question")
		w.do(key, sandbox.Edit{Status: "inProgress", Comments: []sandbox.NewComment{{Text: "/reply CANARY-answer"}, {Text: "CANARY-inside"}}})
		w.clock.Add(time.Hour)
		if n%3 == 0 {
			continue
		}
		w.do(key, sandbox.Edit{Status: "resolved", Resolution: "fixed"})
		if err := w.client.SetFields(ctx, key, map[tracker.Field]string{tracker.FieldRating: fmt.Sprint(1 + n%5)}); err != nil {
			w.t.Fatal(err)
		}
		switch n % 5 {
		case 1:
			w.do(key, sandbox.Edit{Status: "reopened"})
			w.do(key, sandbox.Edit{Status: "waitingSupplier"})
		case 2:
			if _, err := w.agent.Move(key, "DEV"); err != nil {
				w.t.Fatal(err)
			}
		case 3:
			k := w.do(key, sandbox.Edit{Assignee: "-"})
			if err := w.agent.DeleteComment(key, k.Comments[len(k.Comments)-1].ID); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	w.clock.Add(time.Hour)
	return keys
}

// personal is what a customer wrote, is called or can be found by: chats are 1<<40 and
// some more.
var personal = regexp.MustCompile(`CANARY|10995116277\d\d`)

// tables gives everything that analysts can see, but when it was loaded. Nothing of it
// is personal.
func (s *store) tables(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for name, query := range map[string]string{
		"tickets": "SELECT * EXCEPT loaded_at FROM tickets FINAL",
		"latest":  "SELECT * EXCEPT loaded_at FROM tickets_latest",
		"events":  "SELECT * FROM ticket_events FINAL",
		"agents":  "SELECT * FROM agents FINAL", "statuses": "SELECT * EXCEPT loaded_at FROM statuses FINAL",
		"gone":     "SELECT * EXCEPT (noticed_at, loaded_at) FROM tickets_gone FINAL",
		"messages": "SELECT * FROM messages FINAL", "batches": "SELECT * EXCEPT read_at FROM broadcast_batches FINAL",
	} {
		out[name] = clickhousetest.Rows(t, s.rows, query)
		slices.Sort(out[name])
		if found := personal.FindString(strings.Join(out[name], "\n")); found != "" {
			t.Errorf("%s are in %s", found, name)
		}
	}
	return out
}

func (s *store) count(t *testing.T, query string) string {
	t.Helper()
	rows := clickhousetest.Rows(t, s.rows, query)
	if len(rows) != 1 {
		t.Fatalf("%s: %v", query, rows)
	}
	return rows[0]
}

// since is before everything that happens in a world.
var since = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// all loads the history, in as many calls as it takes.
func (s *store) all(t *testing.T) (r loader.Report) {
	t.Helper()
	for range 50 {
		var err error
		if r, err = s.Since(ctx, since); err != nil {
			t.Fatal(err)
		}
		if r.Done {
			return r
		}
	}
	t.Fatal("the history has no end")
	return r
}
