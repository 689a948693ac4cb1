package truth_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"

	"supportbot/shared/analytics"
	"supportbot/shared/analytics/loader"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/catalogue"
	"supportbot/shared/clickhouse"
	"supportbot/shared/clickhouse/clickhousetest"
	"supportbot/shared/env"
	"supportbot/shared/metric"
	"supportbot/shared/news"
	"supportbot/shared/postgres"
	"supportbot/shared/postgres/schema"
	"supportbot/shared/sandbox/history"
	sandbox "supportbot/shared/sandbox/tracker"
	"supportbot/shared/tracker"
	v3 "supportbot/shared/tracker/v3"
)

var ctx = context.Background()

// clock is that of everybody.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
}

// agents are those of the desk. Two of them have one name.
var agents = []sandbox.User{
	{ID: "101", Login: "anna", Name: "Анна Орлова"}, {ID: "102", Login: "timur", Name: "Тимур Ахметов"}, {ID: "103", Login: "other", Name: "Анна Орлова"},
	{ID: "104", Login: "elena", Name: "Елена Громова"}, {ID: "105", Login: "igor", Name: "Игорь Белов"},
}

// desk is a tracker, what happens in it, and those who look.
type desk struct {
	t       *testing.T
	clock   *clock
	plan    *history.Plan
	records []history.Record
	player  *history.Player
	tickets []*history.Ticket // as far as they were played
	loads   []time.Time       // what had happened when they were loaded
	client  *v3.Client
	book    *catalogue.Catalogue
	queues  []sandbox.Queue
}

// newDesk makes the desk of a history.
func newDesk(t *testing.T, cfg history.Config) *desk {
	t.Helper()
	d := &desk{t: t, clock: &clock{at: cfg.From}, queues: queues()}
	access := history.Access{Org: "7", Robot: "robot-token", Agents: map[string]string{}, Bots: map[string]string{"telegram": "1", "vk": "2"}, Name: "truth"}
	users := make([]sandbox.User, len(agents))
	for n, u := range agents {
		u.Token = u.Login + "-token"
		users[n], access.Agents[u.Login] = u, u.Token
		cfg.Agents = append(cfg.Agents, u.Login)
	}
	for _, q := range d.queues {
		cfg.Queues = append(cfg.Queues, q.Key)
	}
	server := sandbox.New(sandbox.Config{
		Token: access.Robot, OrgID: access.Org, Agents: users, Queues: d.queues, Statuses: statuses, Past: true, Now: d.clock.Now,
	})
	web := httptest.NewServer(server)
	t.Cleanup(func() { server.Close(); web.Close() })
	access.URL = web.URL
	var err error
	if d.player, err = history.NewPlayer(ctx, access, cfg.Queues...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.player.Close)
	if d.client, err = v3.New(v3.Config{URL: web.URL, Token: env.NewSecret(access.Robot), OrgID: access.Org, Queue: cfg.Queues[0]}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.client.Close)
	if d.book, err = catalogue.Load(catalogue.Config{Queue: cfg.Queues[0]}); err != nil {
		t.Fatal(err)
	}
	for _, c := range d.book.Categories {
		cfg.Categories = append(cfg.Categories, history.Category{Key: c.Key, Type: c.Type, Priority: c.Priority})
	}
	d.plan = history.New(cfg)
	d.records = d.plan.All()
	for _, r := range d.records {
		d.tickets = append(d.tickets, &history.Ticket{Record: r})
	}
	return d
}

// statuses are Tracker's and two custom ones, of which the catalogue knows one.
var statuses = []sandbox.Status{
	{Key: "open", Type: "new", RU: "Открыт"}, {Key: "needInfo", Type: "paused", RU: "Требуется информация"},
	{Key: "inProgress", Type: "inProgress", RU: "В работе"}, {Key: "resolved", Type: "done", RU: "Решён"},
	{Key: "reopened", Type: "new", RU: "Переоткрыт"}, {Key: "closed", Type: "done", RU: "Закрыт"},
	{Key: "cancelled", Type: "cancelled", RU: "Отменён"},
	{Key: "waitingSupplier", RU: "Ждём поставщика"}, {Key: "rejected", RU: "Закрыт"},
}

// ends are statuses in which work ends besides the default workflow's.
var ends = []string{"cancelled", "rejected"}

func queues() (list []sandbox.Queue) {
	var fields []string
	for _, f := range tracker.Fields {
		fields = append(fields, string(f))
	}
	for n, key := range []string{"SUP", "BIL", "DEV"} {
		q := sandbox.DefaultQueue(key, fields...)
		q.SLA = time.Duration(n) * 30 * time.Hour
		for _, from := range []string{"open", "reopened", "inProgress", "needInfo", "waitingSupplier"} {
			for _, to := range ends {
				q.Workflow = append(q.Workflow, sandbox.Transition{ID: to, From: from, To: to, Resolution: true})
			}
		}
		list = append(list, q)
	}
	list[0].SLA = 45 * time.Hour
	return list
}

// sla is how long a ticket of a queue may take.
func (d *desk) sla(queue string) time.Duration {
	for _, q := range d.queues {
		if q.Key == queue {
			return q.SLA
		}
	}
	return 0
}

// name is what charts call an agent: those who share a name are told apart.
func (d *desk) name(login string) string {
	name, others := "", 0
	for _, u := range agents {
		if u.Login == login {
			name = u.Name
		}
	}
	for _, u := range agents {
		if u.Name == name && u.Login != login {
			others++
		}
	}
	if others > 0 {
		for _, u := range agents {
			if u.Login == login {
				return name + " (" + u.ID + ")"
			}
		}
	}
	return name
}

// status is what charts call a status.
func (d *desk) status(key string) string {
	for _, s := range statuses {
		if s.Key == key && s.RU == "Закрыт" {
			return "Закрыт (" + key + ")"
		}
		if s.Key == key {
			return s.RU
		}
	}
	return key
}

// until lets everything happen that happens before a time, which it then is, and is to
// be loaded.
func (d *desk) until(at time.Time) {
	d.t.Helper()
	d.clock.set(at)
	d.loads = append(d.loads, at)
	var all sync.WaitGroup
	todo := make(chan *history.Ticket)
	problems := make(chan error, history.Connections)
	for range history.Connections {
		all.Add(1)
		go func() {
			defer all.Done()
			var err error
			for t := range todo {
				if err == nil {
					err = d.player.Until(ctx, t, at)
				}
			}
			problems <- err
		}()
	}
	for _, t := range d.tickets {
		todo <- t
	}
	close(todo)
	all.Wait()
	for range history.Connections {
		if err := <-problems; err != nil {
			d.t.Fatal(err)
		}
	}
}

// stock is where a desk's tickets are loaded to, and the loader.
type stock struct {
	*loader.Loader
	rows    *clickhouse.DB
	inserts *inserts
}

func (d *desk) stock() *stock {
	d.t.Helper()
	s := &stock{rows: empty(d.t)}
	s.inserts = &inserts{DB: s.rows}
	db, err := postgres.Open(postgres.Config{URL: env.NewSecret(backendtest.Postgres(d.t, schema.Migrate)), MaxConns: 4})
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(db.Close)
	s.Loader = loader.New(loader.Deps{
		Live: d.client, History: d.client, Records: db, Store: s.inserts, Catalogue: d.book, Log: quiet(), Now: d.clock.Now,
		Rule: &news.Rule{Prefix: "/reply", Myself: d.client.Myself}, Rows: 700,
	})
	return s
}

// empty is a ClickHouse without rows, with the metrics' views.
func empty(t *testing.T) *clickhouse.DB {
	t.Helper()
	db := clickhousetest.Open(t, clickhousetest.Empty(t))
	if err := db.Migrate(ctx, metrics(t).Views()...); err != nil {
		t.Fatal(err)
	}
	return db
}

func metrics(t *testing.T) *metric.Catalogue {
	t.Helper()
	all, err := metric.New(metric.Files)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func quiet() *slog.Logger {
	out := io.Discard
	if os.Getenv("TEST_LOG") != "" {
		out = os.Stderr
	}
	return slog.New(slog.NewTextHandler(out, nil))
}

// done calls until a load is over.
func (d *desk) done(load func() (loader.Report, error)) {
	d.t.Helper()
	for range 20 {
		r, err := load()
		if err == nil && r.Gone+r.Incomplete+r.Owed > 0 {
			err = errors.New("something was left out")
		}
		if err != nil {
			d.t.Fatalf("%+v: %v", r, err)
		}
		if r.Done {
			return
		}
	}
	d.t.Fatal("the load has no end")
}

func (d *desk) live(s *stock) {
	d.t.Helper()
	d.done(func() (loader.Report, error) { return s.Live(ctx) })
}

func (d *desk) since(s *stock, at time.Time) {
	d.t.Helper()
	d.done(func() (loader.Report, error) { return s.Since(ctx, at) })
}

// inserts remembers what went into a ClickHouse.
type inserts struct {
	*clickhouse.DB
	mu  sync.Mutex
	all []insert
}

// insert may be repeated, in any database.
type insert func(context.Context, *clickhouse.DB) error

func (i *inserts) note(ctx context.Context, again insert) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.all = append(i.all, again)
	return again(ctx, i.DB)
}

// InsertEvents and the others do what those of the database do.
func (i *inserts) InsertEvents(ctx context.Context, events []analytics.Event) error {
	return i.note(ctx, func(ctx context.Context, db *clickhouse.DB) error { return db.InsertEvents(ctx, events) })
}

func (i *inserts) InsertAgents(ctx context.Context, list []analytics.Agent) error {
	return i.note(ctx, func(ctx context.Context, db *clickhouse.DB) error { return db.InsertAgents(ctx, list) })
}

func (i *inserts) InsertTickets(ctx context.Context, tickets []analytics.Ticket, loaded time.Time) error {
	return i.note(ctx, func(ctx context.Context, db *clickhouse.DB) error { return db.InsertTickets(ctx, tickets, loaded) })
}

func (i *inserts) InsertStatuses(ctx context.Context, list []analytics.StatusName, loaded time.Time) error {
	return i.note(ctx, func(ctx context.Context, db *clickhouse.DB) error { return db.InsertStatuses(ctx, list, loaded) })
}
