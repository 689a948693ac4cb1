package platform_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"supportbot/shared/env"
	"supportbot/shared/messenger"
	"supportbot/shared/postgres"
	"supportbot/shared/redisdb"
	sandboxtracker "supportbot/shared/sandbox/tracker"
)

// TestSameIDInBothMessengers: the same number is two people, with tickets, answers
// and settings of their own.
func TestSameIDInBothMessengers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const id = 1<<40 + 5
	a, b := w.telegramCustomer(id), w.vkCustomer(id)
	ka, kb := opened(w, a, "Принтер"), opened(w, b, "Сканер")
	w.reply(ka, "ответ о принтере")
	w.reply(kb, "ответ о сканере")
	a.sees("ответ о принтере")
	b.sees("ответ о сканере")
	a.write("CANARY-про принтер")
	b.write("CANARY-про сканер")
	w.commented("про принтер")
	w.commented("про сканер")
	w.quiet()
	w.check("what is not theirs", saw(a, "сканер")+saw(b, "принтер"), 0)
	w.check("the other's words", len(comments(w.ticketOf("Принтер"), "про сканер"))+len(comments(w.ticketOf("Сканер"), "про принтер")), 0)
	w.check("people", w.count(`SELECT count(*) FROM people`), 2)
	for _, k := range []sandboxtracker.Ticket{w.ticketOf("Принтер"), w.ticketOf("Сканер")} {
		if got := k.Fields["supportUser"]; got != fmt.Sprint(id) {
			t.Errorf("user %q, want %d", got, id)
		}
	}
}

// TestBlocked: who has blocked the bot gets nothing, which the agent is told; who
// comes back gets what is said from then on.
func TestBlocked(t *testing.T) {
	t.Parallel()
	eachMessenger(t, func(t *testing.T, w *world, c customer) {
		k := opened(w, c, "Принтер")
		w.quiet()
		c.block()
		w.quiet()
		w.check("reachable", w.count(`SELECT count(*) FROM identities WHERE reachable`), 0)
		w.reply(k, "ответ в пустоту", manual)
		w.commented("не доставлен")
		w.do(k, sandboxtracker.Edit{Status: "inProgress"})
		w.quiet()
		w.check("the note", len(comments(w.ticketOf("Принтер"), "не доставлен")), 1)

		c.write("CANARY-вернулся")
		w.commented("вернулся")
		w.check("reachable", w.count(`SELECT count(*) FROM identities WHERE reachable`), 1)
		w.reply(k, "ответ вернувшемуся")
		c.sees("ответ вернувшемуся")
		w.quiet()
		w.check("the lost answer", saw(c, "в пустоту"), 0)
		w.check("the note", len(comments(w.ticketOf("Принтер"), "не доставлен")), 1)
	})
}

// TestBanned: nothing of a banned customer's is heard, until the ban ends; nobody
// else feels it.
func TestBanned(t *testing.T) {
	t.Parallel()
	for _, name := range []messenger.Name{messenger.Telegram, messenger.VK} {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var c, other customer = w.telegramCustomer(telegramID), w.telegramCustomer(telegramID + 1)
			if name == messenger.VK {
				c, other = w.vkCustomer(vkID), w.vkCustomer(vkID+1)
			}
			opened(w, c, "Принтер")
			w.quiet()
			before := len(c.all())
			w.ban(c, true)
			c.write("CANARY-брань")
			c.press("Показать обращение")
			c.photo("CANARY-брань")
			w.quiet()
			w.check("messages to the banned", len(c.all())-before, 0)
			w.check("their words in the ticket", len(comments(w.ticketOf("Принтер"), "брань")), 0)
			opened(w, other, "Сканер")

			w.ban(c, false)
			c.write("CANARY-извините")
			w.commented("извините")
			w.quiet()
		})
	}
}

// ban does what an operator's tool does.
func (w *world) ban(c customer, banned bool) {
	w.t.Helper()
	db, err := postgres.Open(postgres.Config{URL: env.NewSecret(w.env["DATABASE_URL"])})
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.BanUser(w.ctx, c.address().Messenger, c.address().Chat, banned, "CANARY-reason"); err != nil {
		w.t.Fatal(err)
	}
	r := w.redis()
	defer func() { _ = r.Close() }()
	if err := redisdb.NewConversations(r).ForgetPerson(context.Background(), c.address()); err != nil {
		w.t.Fatal(err)
	}
}

// TestFlood: who writes without end is told so once and held off; the others are
// served meanwhile.
func TestFlood(t *testing.T) {
	t.Parallel()
	for _, name := range []messenger.Name{messenger.Telegram, messenger.VK} {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var c, other customer = w.telegramCustomer(telegramID), w.telegramCustomer(telegramID + 1)
			if name == messenger.VK {
				c, other = w.vkCustomer(vkID), w.vkCustomer(vkID+1)
			}
			opened(w, c, "Принтер")
			w.quiet()
			calls := w.caught(120, "", func() { writeMany(c, 120) })
			served, start := make(chan struct{}), time.Now()
			go func() {
				defer close(served)
				for some := range slices.Chunk(calls, 10) { // more at once would be asked to come again
					w.delivered(some...)
				}
			}()
			opened(w, other, "Сканер")
			<-served
			w.quiet()
			heard := len(comments(w.ticketOf("Принтер"), "строка"))
			if most := 60 + int(time.Since(start)/time.Second) + 1; heard < 30 || heard > most {
				t.Errorf("%d of 120 messages at once became comments, want at most %d: a burst of 60, then one a second", heard, most)
			}
			if heard < len(calls) { // all: a machine too busy to be faster than one a second
				w.check("the warning", saw(c, "Слишком много сообщений"), 1)
			}
			w.check("warnings of somebody else", saw(other, "слишком много"), 0)
		})
	}
}
