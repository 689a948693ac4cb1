package loader_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"supportbot/shared/analytics/loader"
	"supportbot/shared/clickhouse/clickhousetest"
	"supportbot/shared/messenger"
	sandbox "supportbot/shared/sandbox/tracker"
	"supportbot/shared/ticket"
)

func addressOf(n int) messenger.Address {
	return messenger.Address{Messenger: []messenger.Name{"telegram", "vk"}[n%2], Bot: "1", Chat: "7"}
}

// One ticket's whole life, event by event.
func TestTicket_Life(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key := w.open(0)
	w.clock.Add(time.Minute)
	w.do(key, sandbox.Edit{Assignee: "anna"})
	w.clock.Add(time.Minute)
	w.says(key, "ещё")
	inside := w.do(key, sandbox.Edit{Comments: []sandbox.NewComment{{Text: "думаем"}}})
	w.clock.Add(time.Minute)
	if err := w.agent.EditComment(key, inside.Comments[1].ID, "/reply придумали"); err != nil {
		t.Fatal(err)
	}
	w.do(key, sandbox.Edit{Status: "resolved", Resolution: "fixed", Assignee: "boris", Comments: []sandbox.NewComment{{Text: "/reply готово"}}})
	w.clock.Add(time.Minute)
	w.do(key, sandbox.Edit{Status: "reopened"})
	w.do(key, sandbox.Edit{Status: "waitingSupplier", Priority: "critical"})
	if _, err := w.agent.Move(key, "DEV"); err != nil {
		t.Fatal(err)
	}
	w.clock.Add(time.Hour)
	s := w.store()
	s.all(t)
	want := []string{
		"('assignee','09:01:00.000','101','','101','','')",
		"('assignee','09:03:00.000','101','101','102','','')",
		"('comment_in','09:02:00.000','1120000000000001','','','','')",
		"('comment_out','09:03:00.000','101','','','','')",
		"('comment_out','09:03:00.000','101','','','','')",
		"('created','09:00:00.000','1120000000000001','','','','')",
		"('priority','09:00:00.000','1120000000000001','','normal','','')",
		"('priority','09:04:00.000','101','normal','critical','','')",
		"('queue','09:00:00.000','1120000000000001','','SUP','','')",
		"('queue','09:04:00.000','101','SUP','DEV','','')",
		"('reopened','09:04:00.000','101','resolved','reopened','done','new')",
		"('status','09:00:00.000','1120000000000001','','open','','new')",
		"('status','09:03:00.000','101','open','resolved','new','done')",
		"('status','09:04:00.000','101','reopened','waitingSupplier','new','')",
		"('status','09:04:00.000','101','resolved','reopened','done','new')",
		"('type','09:00:00.000','1120000000000001','','bug','','')",
	}
	got := clickhousetest.Rows(t, s.rows, "SELECT kind, substring(toString(at), 12), actor, before, after, before_phase, after_phase FROM ticket_events FINAL")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	// What the move took away is known from before.
	got = clickhousetest.Rows(t, s.rows, "SELECT queue, status, phase, messenger, category, locale, assignee FROM tickets_latest")
	if diff := cmp.Diff([]string{"('DEV','waitingSupplier','','telegram','problem','ru','102')"}, got); diff != "" {
		t.Errorf("ticket (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"('101','Анна')", "('102','Борис')"}, clickhousetest.Rows(t, s.rows, "SELECT id, name FROM agents FINAL")); diff != "" {
		t.Errorf("agents (-want +got):\n%s", diff)
	}
}

// Until when a ticket has to be resolved: known while that can still be missed, and
// when it was.
func TestTicket_Overdue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	inTime, late, open := w.open(0), w.open(1), w.open(2)
	w.do(open, sandbox.Edit{Deadline: "2026-03-05"})
	w.clock.Add(time.Hour)
	w.do(inTime, sandbox.Edit{Status: "resolved", Resolution: "fixed"})
	w.clock.Add(2 * time.Hour)
	w.do(late, sandbox.Edit{Status: "resolved", Resolution: "fixed"})
	w.clock.Add(time.Hour)
	s := w.store()
	s.all(t)
	want := []string{
		"('SUP-1',NULL,'2026-03-01 10:00:00.000',NULL)",
		"('SUP-2','2026-03-01 11:00:00.000','2026-03-01 12:00:00.000',NULL)",
		"('SUP-3','2026-03-01 11:00:00.000',NULL,'2026-03-05')",
	}
	got := clickhousetest.Rows(t, s.rows, "SELECT key, sla_fails_at, resolved_at, deadline FROM tickets_latest")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// However and in whatever order it is loaded, the tables are the same.
func TestLoad_TwiceLateAndOutOfOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	began := w.clock.Now()
	live := w.store() // sees everything as it happens
	for range 4 {
		if _, err := live.Live(ctx); err != nil {
			t.Fatal(err)
		}
		w.history(6)
		if _, err := live.Live(ctx); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		w.clock.Add(time.Hour)
		if r, err := live.Live(ctx); err != nil || !r.Done {
			t.Fatal(r, err)
		}
	}
	once := w.store()
	if r := once.all(t); r.Tickets != 24 || r.Owed+r.Gone+r.Incomplete > 0 {
		t.Errorf("got %+v, want 24 tickets", r)
	}
	if r := once.all(t); r.Tickets != 0 || !r.Done {
		t.Errorf("once more: got %+v, want nothing to do", r)
	}
	late := w.store()
	late.mustLive(t) // later than everything
	for _, from := range []time.Time{began.Add(12 * time.Hour), began.Add(-time.Hour), began.Add(3 * time.Hour)} {
		for r, err := late.Since(ctx, from); !r.Done; r, err = late.Since(ctx, from) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	// Versions that came between are seen only by who looked then.
	for _, table := range []string{"latest", "events", "agents", "statuses"} {
		if diff := cmp.Diff(once.tables(t)[table], live.tables(t)[table]); diff != "" {
			t.Errorf("%s: live differs (-once +live):\n%s", table, diff)
		}
	}
	if diff := cmp.Diff(once.tables(t), late.tables(t)); diff != "" {
		t.Errorf("late differs (-once +late):\n%s", diff)
	}
}

// A load that dies after any of its steps goes on, and nothing shows.
func TestLoad_BrokenOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	// Beyond the clock of Postgres: what was counted once is not counted again.
	w.clock.Add(time.Since(w.clock.Now()) + 48*time.Hour)
	w.history(25)
	whole := w.store()
	sent := whole.yesterday(t)
	whole.sent(t, sent)
	whole.all(t)
	whole.mustLive(t)
	want := whole.tables(t)
	if len(want["messages"]) == 0 || len(want["batches"]) == 0 {
		t.Fatalf("nothing was counted: %v, %v", want["messages"], want["batches"])
	}
	for _, point := range loader.Points {
		for _, nth := range []int{1, 2} {
			t.Run(point+[]string{"", "/first", "/second"}[nth], func(t *testing.T) {
				t.Parallel()
				left := nth
				s := w.store(func(d *loader.Deps) {
					d.Hook = func(at string) {
						if at == point {
							if left--; left == 0 {
								panic("broken off at " + point)
							}
						}
					}
				})
				s.sent(t, sent)
				for range 10 {
					if s.dies(t, func() { s.all(t); s.mustLive(t) }) {
						s.forgetLeases(t)
						continue
					}
					break
				}
				if left > 0 && nth == 1 {
					t.Errorf("it never came to %s", point)
				}
				if diff := cmp.Diff(want, s.tables(t)); diff != "" {
					t.Errorf("(-whole +broken off):\n%s", diff)
				}
			})
		}
	}
}

// A history says how far it is, and no second one runs beside it.
func TestSince_ProgressAndLease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.history(30)
	entered, leave := make(chan struct{}), make(chan struct{})
	first := true
	s := w.store(func(d *loader.Deps) {
		d.Hook = func(at string) {
			if at == "advanced" && first {
				first = false
				close(entered)
				<-leave
			}
		}
	})
	over := make(chan loader.Report)
	go func() {
		r, err := s.Since(ctx, since)
		if err != nil {
			t.Error(err)
		}
		over <- r
	}()
	<-entered
	if r, err := s.Since(ctx, since); err != nil || !r.Busy || r.Done {
		t.Errorf("beside another one: got %+v, %v, want busy", r, err)
	}
	l, err := s.db.Load(ctx, "history since 2026-01-01T00:00:00Z")
	if err != nil || l == nil || l.Tickets == 0 || l.Remaining != 30-l.Tickets {
		t.Errorf("on its way: got %+v, %v", l, err)
	}
	close(leave)
	if r := <-over; !r.Done || r.Remaining != 0 || r.Tickets != 30 || r.PerSecond <= 0 {
		t.Errorf("got %+v, want all", r)
	}
	if r, err := s.Since(short(t), since); err == nil {
		t.Errorf("with no time: got %+v and no error", r)
	}
}

func short(t *testing.T) context.Context {
	c, cancel := context.WithTimeout(ctx, 5*time.Second)
	t.Cleanup(cancel)
	return c
}

func TestParseRequest(t *testing.T) {
	t.Parallel()
	day := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	timer := func(payload string) string {
		return `{"messages":[{"event_metadata":{},"details":{"trigger_id":"t","payload":"` + payload + `"}}]}`
	}
	for event, want := range map[string]time.Time{
		"": {}, "{}": {}, `{"since":""}`: {}, timer(""): {}, `{"since":"2025-01-01"}`: day, `{"since":"2025-01-01T03:00:00+03:00"}`: day,
		timer(`{\"since\":\"2025-01-01\"}`): day,
	} {
		if got, err := loader.ParseRequest([]byte(event)); err != nil || !got.Since.Equal(want) {
			t.Errorf("%s: got %v, %v, want %v", event, got.Since, err, want)
		}
	}
	for _, event := range []string{"x", `{"since":"yesterday"}`, timer("x"), "[]"} {
		if got, err := loader.ParseRequest([]byte(event)); err == nil {
			t.Errorf("%s: got %v and no error", event, got)
		}
	}
}

func (s *store) mustLive(t *testing.T) {
	t.Helper()
	s.live(t)
}

// live is a live load that comes to its end.
func (s *store) live(t *testing.T) loader.Report {
	t.Helper()
	r, err := s.Live(ctx)
	if err != nil || !r.Done {
		t.Fatal(r, err)
	}
	return r
}

// dies runs f and tells whether it was broken off.
func (s *store) dies(t *testing.T, f func()) (died bool) {
	t.Helper()
	defer func() {
		if v := recover(); v != nil {
			died = true
		}
	}()
	f()
	return false
}

// forgetLeases lets the time pass that a dead holder's lease lasts.
func (s *store) forgetLeases(t *testing.T) {
	t.Helper()
	s.exec(t, `UPDATE duties SET lease_until = now() - interval '1 second'`)
}

// exec runs a statement in Postgres.
func (s *store) exec(t *testing.T, statement string, args ...any) {
	t.Helper()
	conn, err := pgx.Connect(ctx, s.url)
	if err == nil {
		_, err = conn.Exec(ctx, statement, args...)
		err = errors.Join(err, conn.Close(ctx))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// yesterday is its noon by the clock of Postgres.
func (s *store) yesterday(t *testing.T) (noon time.Time) {
	t.Helper()
	conn, err := pgx.Connect(ctx, s.url)
	if err == nil {
		err = conn.QueryRow(ctx, `SELECT date_trunc('day', clock_timestamp(), 'UTC') - interval '12 hours'`).Scan(&noon)
		err = errors.Join(err, conn.Close(ctx))
	}
	if err != nil {
		t.Fatal(err)
	}
	return noon
}

// sent lets messages come and go at a time, and a broadcast.
func (s *store) sent(t *testing.T, at time.Time) {
	t.Helper()
	for n := range 3 {
		s.exec(t, `INSERT INTO jobs (queue, kind, key, lane, strict, state, payload, created_at, finished_at)
			VALUES ($1, $2, 'in ' || $3::int, $4, true, 'completed', '{}', $5, $5)`, ticket.QueueTickets, ticket.KindComment, n, ticket.InboundLane(addressOf(n)), at)
		s.exec(t, `INSERT INTO jobs (queue, kind, key, lane, strict, state, payload, created_at, finished_at)
			VALUES ($1, $2, 'out ' || $3::int, $4, true, 'completed', '{}', $5, $5)`, ticket.QueueDeliveries, ticket.KindAnswer, n, ticket.OutboundLane(addressOf(n)), at)
	}
	s.exec(t, `INSERT INTO broadcasts (kind, state, content, audience, created_by, created_at, finished_at) VALUES ('news', 'finished', '{}', '{}', 'x', $1, $1)`, at)
	s.exec(t, `INSERT INTO batches (broadcast, messenger, bot, number, size, sent, blocked, started_at, done_at) SELECT id, 'vk', 'b', 1, 9, 8, 1, $1, $1 FROM broadcasts`, at)
}
