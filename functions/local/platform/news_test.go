package platform_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"supportbot/shared/sandbox/fault"
	sandboxtracker "supportbot/shared/sandbox/tracker"
	"supportbot/shared/ticket"
)

// texts gives the bot's messages with word, in the order of the chat.
func texts(c customer, word string) (all []string) {
	for _, m := range c.all() {
		if strings.Contains(m.text, word) {
			all = append(all, m.text)
		}
	}
	return all
}

// TestTriggers: whatever happens to the calls of Tracker's triggers, each answer
// comes once, in order.
func TestTriggers(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]fault.Fault{
		"lost":         {Kind: fault.Drop},
		"doubled":      {Kind: fault.Duplicate},
		"out of order": {Kind: fault.Late, Wait: 2 * time.Second, Times: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.start()
			c := w.telegramCustomer(telegramID)
			k := opened(w, c, "Принтер")
			f.Method = "trigger"
			w.faults.tracker.Add(f)
			for _, text := range []string{"ответ первый", "ответ второй", "ответ третий"} {
				w.reply(k, text)
			}
			w.do(k, sandboxtracker.Edit{Status: "inProgress"})
			c.sees("В работе")
			c.sees("третий")
			w.quiet()
			w.inOrder(c, "\n\nответ ", "первый", "второй", "третий")
			w.check("the status", saw(c, "В работе"), 1)
		})
	}
}

// inOrder: the messages with word are these, one after the other.
func (w *world) inOrder(c customer, word string, want ...string) {
	w.t.Helper()
	got := texts(c, word)
	if len(got) != len(want) {
		w.t.Errorf("%d messages with %q, want %d: %q", len(got), word, len(want), got)
		return
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			w.t.Errorf("message %d is %q, want %s", i+1, got[i], want[i])
		}
	}
}

// TestThreeCommentsAtOnce: one operation of the agent's makes one call of the
// trigger.
func TestThreeCommentsAtOnce(t *testing.T) {
	t.Parallel()
	eachMessenger(t, func(t *testing.T, w *world, c customer) {
		k := opened(w, c, "Принтер")
		w.do(k, sandboxtracker.Edit{Status: "inProgress", Comments: []sandboxtracker.NewComment{
			{Text: "/reply ответ первый"}, {Text: "INTERNAL между нами"}, {Text: "/reply ответ второй"}, {Text: "/reply ответ третий"},
		}})
		c.sees("третий")
		c.sees("В работе")
		w.quiet()
		w.inOrder(c, "\n\nответ ", "первый", "второй", "третий")
	})
}

// TestMovedTicket: between the comment and the look the ticket goes to another
// queue, has another key and has lost its local fields.
func TestMovedTicket(t *testing.T) {
	t.Parallel()
	eachMessenger(t, func(t *testing.T, w *world, c customer) {
		k := opened(w, c, "Принтер")
		w.quiet()
		letGo := w.hold(ticket.IssueLane(k.ID))
		w.reply(k, "ответ до переезда")
		moved, err := w.agent.Move(k.Key, "BIL")
		if err != nil {
			t.Fatal(err)
		}
		letGo()
		c.sees("ответ до переезда")
		w.reply(moved, "ответ после переезда")
		c.sees("ответ после переезда")
		w.do(moved, sandboxtracker.Edit{Status: "resolved", Resolution: "fixed"})
		c.sees("Решено")
		c.press("4 ★")
		w.commented("Оценка клиента")
		w.quiet()
		w.inOrder(c, "\n\nответ ", "до переезда", "после переезда")
		w.check("tickets", len(w.tracker.Tickets()), 1)
	})
}

// TestEditedAnswer: an answer that is edited is edited in the chat.
func TestEditedAnswer(t *testing.T) {
	t.Parallel()
	eachMessenger(t, func(t *testing.T, w *world, c customer) {
		k := opened(w, c, "Принтер")
		answer := w.reply(k, "ответ первый")
		id := c.sees("первый").id
		w.quiet()
		if err := w.agent.EditComment(k.Key, answer.ID, "/reply ответ другой"); err != nil {
			t.Fatal(err)
		}
		if m := c.sees("другой"); m.id != id {
			t.Errorf("message %d is new, want %d edited", m.id, id)
		}
		w.quiet()
		w.inOrder(c, "\n\nответ ", "другой")
	})
}

// TestEditedAnswer_Correction: where the messenger edits no longer, or the text has
// become longer than a message, the new text follows, marked.
func TestEditedAnswer_Correction(t *testing.T) {
	t.Parallel()
	eachMessenger(t, func(t *testing.T, w *world, c customer) {
		k := opened(w, c, "Принтер")
		answer := w.reply(k, "ответ первый")
		c.sees("первый")
		w.quiet()
		if err := w.agent.EditComment(k.Key, answer.ID, "/reply ответ длинный "+strings.Repeat("слово ", 800)); err != nil {
			t.Fatal(err)
		}
		c.sees("Исправленный ответ")
		w.quiet()
		w.check("the old answer stays", saw(c, "ответ первый"), 1)
		w.check("the correction", saw(c, "ответ длинный"), 1)
	})
	t.Run("too old", func(t *testing.T) {
		t.Parallel()
		var later atomic.Int64
		w := newWorld(t, func(w *world) {
			w.now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
		})
		c := w.vkCustomer(vkID)
		k := opened(w, c, "Принтер")
		answer := w.reply(k, "ответ первый")
		c.sees("первый")
		w.quiet()
		later.Store(int64(25 * time.Hour))
		if err := w.agent.EditComment(k.Key, answer.ID, "/reply ответ другой"); err != nil {
			t.Fatal(err)
		}
		c.sees("Исправленный ответ")
		w.quiet()
		w.inOrder(c, "\n\nответ ", "первый", "другой")
	})
}

// TestInternal: what is not meant for the customer stays inside, whatever happens
// to it; a reply that is deleted before it goes out does not.
func TestInternal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.telegramCustomer(telegramID)
	k := opened(w, c, "Принтер")
	w.quiet()
	letGo := w.hold(ticket.OutboundLane(c.address()))
	gone := w.reply(k, "INTERNAL удалённый ответ")
	w.until("its delivery is planned", 1, `SELECT count(*) FROM jobs WHERE key = $1`, ticket.AnswerKey(k.ID, gone.ID))
	if err := w.agent.DeleteComment(k.Key, gone.ID); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"INTERNAL", "/replying INTERNAL", "INTERNAL /reply", "> /reply INTERNAL", "INTERNAL\n/reply"} {
		if _, err := w.agent.Comment(k.Key, text); err != nil {
			t.Fatal(err)
		}
	}
	letGo()
	w.reply(k, "ответ виден")
	c.sees("ответ виден")
	w.quiet() // what was inside in a chat fails every test
}

// TestSummoned: a comment that summons the robot is a reply too.
func TestSummoned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.telegramCustomer(telegramID)
	k := opened(w, c, "Принтер")
	if _, err := w.agent.Comment(k.Key, "ответ по призыву", "support-robot"); err != nil {
		t.Fatal(err)
	}
	c.sees("ответ по призыву")
	w.quiet()
	w.check("the answer", saw(c, "ответ по призыву"), 1)
}

// TestFileTooLarge: the customer is told, the agent too, the rest goes out.
func TestFileTooLarge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.telegramCustomer(telegramID)
	k := opened(w, c, "Принтер")
	w.reply(k, "ответ с файлами", sandboxtracker.NewFile{Name: "образ.iso", Data: make([]byte, 50<<20+1)}, manual)
	c.sees("«образ.iso» слишком велик")
	c.waits("the other file", func(m said) bool { return len(m.files) > 0 })
	w.commented("не отправлен: он слишком велик")
	w.quiet()
	w.check("the note", len(comments(w.ticketOf("Принтер"), "не отправлен: он слишком велик")), 1)
	w.check("the answer", saw(c, "ответ с файлами"), 1)
	w.check("files", files(c), 1)
}
