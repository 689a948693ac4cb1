package platform_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"supportbot/functions/local/operate"
	"supportbot/shared/env"
	"supportbot/shared/messenger"
	"supportbot/shared/sandbox/fault"
)

// operator runs one of the operator's commands on the world's databases.
func (w *world) operator(name string, args ...string) {
	w.t.Helper()
	o := &operate.Operator{
		Env: env.NewReaderFrom(func(name string) (string, bool) { v, ok := w.env[name]; return v, ok }), Out: io.Discard,
	}
	if err := o.Run(w.ctx, name, args...); err != nil {
		w.t.Fatalf("%s %v: %v", name, args, err)
	}
}

// TestOperator_Ban: a ban holds from the next message on, and so does its end; what
// was said meanwhile is never heard.
func TestOperator_Ban(t *testing.T) {
	t.Parallel()
	for _, name := range []messenger.Name{messenger.Telegram, messenger.VK} {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, behind)
			var c customer = w.telegramCustomer(telegramID)
			if name == messenger.VK {
				c = w.vkCustomer(vkID)
			}
			opened(w, c, "Принтер")
			c.write("CANARY-до")
			w.commented("CANARY-до")
			w.quiet()
			user := string(name) + ":" + c.address().Chat
			before := len(c.all())
			w.operator("ban", user, "CANARY-reason")
			c.write("CANARY-брань")
			c.press("Показать обращение")
			w.quiet()
			w.operator("unban", user)
			c.write("CANARY-после")
			w.commented("CANARY-после")
			w.missed() // VK's history has it all
			k := w.ticketOf("Принтер")
			w.check("what the banned person said", len(comments(k, "брань")), 0)
			for _, m := range c.all()[before:] {
				if !strings.Contains(m.text, "Передано") {
					t.Errorf("the banned person was told: %q", m.text)
				}
			}
		})
	}
}

// TestOperator_Alarm: operators are told in their chat when a job begins to wait for
// them, and when none does any more.
func TestOperator_Alarm(t *testing.T) {
	t.Parallel()
	for name, chat := range map[messenger.Name]string{
		messenger.Telegram: strconv.FormatInt(telegramID+1, 10), messenger.VK: strconv.FormatInt(vkID+1, 10),
	} {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(w *world) { w.env["OPERATOR_CHAT"] = string(name) + ":" + chat })
			var c customer = w.telegramCustomer(telegramID + 1)
			if name == messenger.VK {
				c = w.vkCustomer(vkID + 1)
			}
			c.write("/start")
			c.sees("бот поддержки")
			w.quiet()
			w.exec(`INSERT INTO jobs (queue, kind, key, lane, strict, payload, state, told_at) VALUES ('tickets', 'test', 'k', 'l', true, '{}', 'needs_review', now())`)
			c.sees("Ждут решения человека: заданий 1")
			w.operator("jobs", "settle", strconv.Itoa(w.count(`SELECT id FROM jobs WHERE key = 'k'`)), "done")
			c.sees("больше нет")
			if got := saw(c, "Ждут решения"); got != 1 {
				t.Errorf("told %d times", got)
			}
		})
	}
}

// TestOperator_AlarmRefused: a chat in which an alarm is asked to wait is left alone so long,
// by whoever has something for it.
func TestOperator_AlarmRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.env["OPERATOR_CHAT"] = "telegram:" + strconv.FormatInt(telegramID+1, 10) })
	c := w.telegramCustomer(telegramID + 1)
	c.write("/start")
	c.sees("бот поддержки")
	w.quiet()
	const wait = 4
	w.faults.telegram.Add(fault.Fault{Method: "sendMessage", Kind: fault.Status, Status: http.StatusTooManyRequests, RetryAfter: wait, Times: 1})
	w.exec(`INSERT INTO jobs (queue, kind, key, lane, strict, payload, state, told_at) VALUES ('tickets', 'test', 'k', 'l', true, '{}', 'needs_review', now())`)
	c.sees("Ждут решения человека: заданий 1")
	var refused time.Time
	for _, call := range w.telegram.Calls().Since(0) {
		switch {
		case call.Method != "sendMessage":
		case call.Status == http.StatusTooManyRequests:
			refused = call.At
		case !refused.IsZero() && call.At.Sub(refused) < wait*time.Second:
			t.Errorf("the next message came %s after the refusal", call.At.Sub(refused))
		}
	}
	if refused.IsZero() {
		t.Error("nothing was refused")
	}
}

// TestOperator_NoSuchChat: a chat that cannot be keeps nothing else from being mended.
func TestOperator_NoSuchChat(t *testing.T) {
	t.Parallel()
	w := newWorld(t, behind, func(w *world) { w.env["OPERATOR_CHAT"] = "vk" })
	opened(w, w.telegramCustomer(telegramID), "Принтер")
	w.exec(`INSERT INTO jobs (queue, kind, key, lane, strict, payload, state, told_at) VALUES ('tickets', 'test', 'k', 'l', true, '{}', 'needs_review', now())`)
	w.until("the alarm is noted", 1, `SELECT count(*) FROM alarms WHERE name = 'reviews'`)
	if !strings.Contains(w.log.String(), "OPERATOR_CHAT is not of the form") {
		t.Error("the log does not say that nobody is told")
	}
}
