package platform_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"supportbot/shared/backend"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/postgres/schema"
	"supportbot/shared/queue"
	"supportbot/shared/queue/memqueue"
	"supportbot/shared/sandbox/fault"
	sandboxtracker "supportbot/shared/sandbox/tracker"
	"supportbot/shared/ticket"
)

// again lets time pass for what waits, until nothing does: the service is back.
func (w *world) again() {
	w.t.Helper()
	stop := w.aging(`run_at = run_at - interval '2 min', stage_at = stage_at - interval '2 min', published_at = NULL`)
	defer stop()
	w.telegram.Retry()
	w.vk.Kick()
	w.quiet()
}

// aging changes the jobs that wait, twice a second, and itself waits for nobody.
func (w *world) aging(set string) (stop func()) {
	sql := `UPDATE jobs SET ` + set + ` WHERE id IN
		(SELECT id FROM jobs WHERE state IN ('accepted', 'queued') AND open FOR UPDATE SKIP LOCKED)`
	ctx, cancel := context.WithCancel(w.ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for {
			if err := w.tryExec(sql); err != nil && ctx.Err() == nil {
				w.t.Errorf("let time pass: %v", err)
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	return func() { cancel(); <-done }
}

// parked waits until a job of the kind waits after it has failed.
func (w *world) parked(kind string) {
	w.t.Helper()
	w.poll(kind+" waits", func() bool {
		return w.count(`SELECT count(*) FROM jobs WHERE kind = $1 AND state = 'queued' AND last_error IS NOT NULL`, kind) > 0
	})
}

// TestAway_Messenger: while the messenger's API is away, its calls still come in;
// the answers wait, each goes out once.
func TestAway_Messenger(t *testing.T) {
	t.Parallel()
	eachMessenger(t, func(t *testing.T, w *world, c customer) {
		k := opened(w, c, "Принтер")
		w.quiet()
		api := w.hosts.telegram
		if _, ok := c.(*vkCustomer); ok {
			api = w.hosts.vk
		}
		api.stop()
		c.write("CANARY-дополнение")
		c.photo("CANARY-снимок")
		w.commented("дополнение")
		w.reply(k, "ответ первый", manual)
		w.reply(k, "ответ второй")
		w.parked(ticket.KindNotice) // the acknowledgement, and the answers behind it
		w.until("both answers wait", 2, `SELECT count(*) FROM jobs WHERE kind = $1 AND open`, ticket.KindAnswer)
		w.parked(ticket.KindComment) // its photo
		api.start()
		w.again()
		k = w.ticketOf("Принтер")
		w.inOrder(c, "\n\nответ ", "первый", "второй")
		w.check("files", files(c), 1)
		w.check("the acknowledgement", saw(c, "Передано в обращение"), 1)
		w.check("the first message", len(comments(k, "дополнение")), 1)
		w.check("the second message", len(comments(k, "снимок")), 1)
		w.check("its photo", len(comments(k, "снимок")[0].Files), 1)
		w.check("notes of doubt", len(comments(k, "дважды")), 0)
	})
}

// TestAway_Tracker: what customers ask for meanwhile happens later, in its order.
func TestAway_Tracker(t *testing.T) {
	t.Parallel()
	eachMessenger(t, func(t *testing.T, w *world, c customer) {
		form(c, "Принтер")
		w.quiet()
		w.hosts.tracker.stop()
		c.press("Отправить")
		c.sees("принято")
		writeMany(c, 3)
		c.photo("CANARY-строка 4")
		w.parked(ticket.KindCreate)
		w.until("all is kept", 5, `SELECT count(*) FROM jobs WHERE open`)
		w.hosts.tracker.start()
		w.again()
		k := w.ticketOf("Принтер")
		w.check("tickets", len(w.tracker.Tickets()), 1)
		w.check("the number", saw(c, "создано"), 1)
		w.check("files", len(k.Files), 2)
		found := comments(k, "строка")
		w.check("messages", len(found), 4)
		for i, cm := range found {
			if want := "строка " + string(rune('1'+i)); !strings.Contains(cm.Text, want) {
				t.Errorf("comment %d is %q, want %s", i, cm.Text, want)
			}
		}
	})
}

// TestAway_TrackerLies: calls that take effect and then break, answers in HTML,
// limits: nothing is made twice.
func TestAway_TrackerLies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.telegramCustomer(telegramID)
	form(c, "Принтер")
	w.quiet()
	for _, f := range []fault.Fault{
		{Method: "POST /v3/issues", Kind: fault.CloseAfter, Times: 1},
		{Method: "POST /v3/issues", Kind: fault.HTMLAfter, Times: 1},
		{Method: "POST /v3/issues/*/comments", Kind: fault.HTMLAfter, Times: 1},
		{Method: "POST /v3/issues/*/comments", Kind: fault.Status, Status: 429, RetryAfter: 1, Times: 1},
		{Method: "POST /v3/attachments", Kind: fault.CloseAfter, Times: 1},
	} {
		w.faults.tracker.Add(f)
	}
	c.press("Отправить")
	c.sees("принято")
	c.write("CANARY-дополнение")
	w.again()
	k := w.ticketOf("Принтер")
	w.check("tickets", len(w.tracker.Tickets()), 1)
	w.check("words to the agent", len(comments(k, "Клиент видит только ответы")), 1)
	w.check("the message", len(comments(k, "дополнение")), 1)
	w.check("files", len(k.Files), 1)
	w.check("the number", saw(c, "создано"), 1)
}

// TestAway_Queue: with the publisher cut only the reconciler moves jobs, when it is
// back.
func TestAway_Queue(t *testing.T) {
	t.Parallel()
	eachMessenger(t, func(t *testing.T, w *world, c customer) {
		form(c, "Принтер")
		w.quiet()
		w.queue.SetFaults(memqueue.Faults{Cut: true})
		// The bot's own replies may wait too: who is quick gets them by the queue.
		const kept = `SELECT count(*) FROM jobs WHERE state = 'accepted' AND queue = 'tickets'`
		c.press("Отправить")
		w.until("the form is kept", 1, kept)
		c.write("CANARY-дополнение")
		w.until("both are kept", 2, kept)
		w.queue.SetFaults(memqueue.Faults{})
		c.sees("принято")
		w.commented("дополнение")
		c.sees("создано")
		w.quiet()
		w.check("tickets", len(w.tracker.Tickets()), 1)
		w.check("the message", len(comments(w.ticketOf("Принтер"), "дополнение")), 1)
	})
}

// TestBadQueue: the main job by a queue that loses a third of the hints, doubles a
// third, delays the rest and hands them out of order.
func TestBadQueue(t *testing.T) {
	t.Parallel()
	eachMessenger(t, func(t *testing.T, w *world, c customer) {
		sent := 0 // under the broker's lock
		w.queue.SetFaults(memqueue.Faults{
			Fate: func(string, queue.Hint) memqueue.Fate {
				sent++
				return []memqueue.Fate{{Copies: 0}, {Copies: 2}, {Copies: 1, Delay: 300 * time.Millisecond}}[sent%3]
			},
			Pick: func(n int) int { return n - 1 },
		})
		// A hint counts as lost a minute after it was sent.
		defer w.aging(`published_at = published_at - interval '1 min'`)()
		mainJob(t, w, c)
	})
}

// TestAway_Redis: the webhooks ask for repetition, the workers go on; a new Redis
// is an empty one.
func TestAway_Redis(t *testing.T) {
	t.Parallel()
	for name, customerOf := range messengersOf("deliver.") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var srv *backend.Server
			w := newWorld(t, func(w *world) {
				srv = backendtest.RedisServer(t, backend.Options{})
				w.env["REDIS_URL"] = srv.URL()
			})
			c := customerOf(w)
			k := opened(w, c, "Принтер")
			w.quiet()
			if err := srv.Stop(); err != nil {
				t.Fatal(err)
			}
			calls := w.caught(1, "", func() { c.write("CANARY-строка 1") })
			w.refusedForNow(calls[0])
			c.write("CANARY-строка 2")
			w.reply(k, "ответ без памяти")
			c.sees("ответ без памяти")
			if err := srv.Start(w.ctx); err != nil {
				t.Fatal(err)
			}
			w.delivered(calls[0])
			w.again()
			k = w.ticketOf("Принтер")
			w.check("the first message", len(comments(k, "строка 1")), 1)
			w.check("the second message", len(comments(k, "строка 2")), 1)
			w.check("the answer", saw(c, "ответ без памяти"), 1)
		})
	}
}

// refusedForNow: the call is to be repeated.
func (w *world) refusedForNow(c call) {
	w.t.Helper()
	res, err := w.front.forward(w.ctx, c)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" {
		w.t.Errorf("%s was answered %d, Retry-After %q", c.path, res.StatusCode, res.Header.Get("Retry-After"))
	}
}

// TestAway_Postgres: webhooks and triggers ask for repetition; a job whose end
// could not be written goes on from its last stage.
func TestAway_Postgres(t *testing.T) {
	t.Parallel()
	for name, customerOf := range messengersOf("deliver.") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var srv *backend.Server
			w := newWorld(t, func(w *world) {
				srv = backendtest.PostgresServer(t, backend.Options{Durable: true}) // else a kill loses what was accepted
				w.env["DATABASE_URL"] = srv.URL()
				if err := schema.Migrate(w.ctx, srv.URL()); err != nil {
					t.Fatal(err)
				}
			})
			c := customerOf(w)
			form(c, "Принтер")
			w.quiet()
			must(t, srv.Stop())
			press := w.caught(1, "", func() { c.press("Отправить") })
			w.refusedForNow(press[0])
			must(t, srv.Start(w.ctx))

			creating := w.faults.tracker.Met(w.faults.tracker.Add(fault.Fault{
				Method: "POST /v3/issues", Kind: fault.Delay, Wait: 500 * time.Millisecond, Times: 1,
			}))
			w.delivered(press...)
			select {
			case <-creating:
			case <-w.ctx.Done():
				t.Fatal("the ticket is not being made")
			}
			must(t, srv.Kill())
			w.eventually("the ticket is made", func(all []sandboxtracker.Ticket) bool { return len(all) == 1 })
			must(t, srv.Start(w.ctx))
			w.pass(2 * time.Minute)
			w.commented("Клиент видит только ответы")
			c.sees("создано")
			w.again()
			w.check("tickets", len(w.tracker.Tickets()), 1)
			w.check("words to the agent", len(w.ticketOf("Принтер").Comments), 1)
			w.check("files", len(w.ticketOf("Принтер").Files), 1)

			must(t, srv.Stop())
			trigger := call{http.MethodPost, "/tracker", http.Header{"X-Webhook-Secret": {secret}}, []byte(`{"key":"SUP-1"}`)}
			w.refusedForNow(trigger)
			w.reply(w.ticketOf("Принтер"), "ответ в пустоту") // its trigger's call is lost
			must(t, srv.Start(w.ctx))
			stop := w.aging(`published_at = NULL`) // the hint may have been taken by a worker that could not claim
			c.sees("ответ в пустоту")
			stop()
			w.again()
			w.check("the answer", saw(c, "ответ в пустоту"), 1)
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestWiped: an empty Redis costs half-filled forms, which begin again politely,
// and nothing else.
func TestWiped(t *testing.T) {
	t.Parallel()
	eachMessenger(t, func(t *testing.T, w *world, c customer) {
		k := opened(w, c, "Принтер")
		c.write("/settings")
		m := c.waits("the settings", func(m said) bool { return strings.Contains(m.text, "О чём сообщать?") })
		status := m.buttons[slices.IndexFunc(m.buttons, func(b string) bool { return strings.Contains(b, "Смена статуса") })]
		c.press(status)
		w.until("the setting is kept", 1, `SELECT count(*) FROM people WHERE NOT status`)
		w.reply(k, "ответ до")
		c.sees("ответ до")
		c.start("problem")
		c.sees("Коротко")
		w.quiet()

		w.wipe()
		c.press("Отмена")
		c.sees("Форма устарела")
		c.write("CANARY-дополнение")
		w.commented("дополнение")
		w.do(k, sandboxtracker.Edit{Status: "inProgress"})
		w.reply(k, "ответ после")
		c.sees("ответ после")
		form(c, "Сканер")
		w.quiet()
		w.wipe()
		c.press("Отправить")
		w.quiet()
		opened(w, c, "Сканер")
		w.quiet()
		w.check("tickets", len(w.tracker.Tickets()), 2)
		w.check("news that the customer does not want", saw(c, "В работе"), 0)
		w.inOrder(c, "\n\nответ ", "до", "после")
	})
}
