package platform_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"supportbot/shared/markup"
	"supportbot/shared/sandbox/fault"
	sandboxtracker "supportbot/shared/sandbox/tracker"
	"supportbot/shared/sandbox/vk"
	"supportbot/shared/ticket"
)

// TestOrder: messages sent fast, over several connections to two processes, become
// comments in the order in which they were sent.
func TestOrder(t *testing.T) {
	t.Parallel()
	eachMessenger(t, func(t *testing.T, w *world, c customer) {
		w.start()
		opened(w, c, "Принтер")
		w.quiet()
		// Each update comes twice, VK's also out of order: it keeps several
		// connections busy, while Telegram waits for the answer to what a chat said
		// before.
		for _, f := range []*fault.Set{&w.faults.telegram, &w.faults.vk} {
			f.Add(fault.Fault{Method: "webhook", Kind: fault.Duplicate, Times: 8})
			f.Add(fault.Fault{Method: vk.CallbackMethod, Kind: fault.Duplicate, Times: 8})
		}
		letGo := w.hold(ticket.InboundLane(c.address()))
		if _, ok := c.(*vkCustomer); ok {
			calls := w.caught(16, "", func() { writeMany(c, 8) })
			slices.Reverse(calls)
			w.delivered(calls...)
			// However busy the machine: an overtaken message has 2 s to come.
			w.check("messages that wait", w.count(`SELECT count(*) FROM jobs WHERE kind = $1 AND run_at >= created_at + interval '1.99 s'`, ticket.KindComment), 8)
		} else {
			writeMany(c, 8)
		}
		w.until("all are kept", 8, `SELECT count(*) FROM jobs WHERE kind = $1`, ticket.KindComment)
		letGo()
		w.commented("строка 8")
		w.quiet()
		var got []string
		for _, cm := range comments(w.ticketOf("Принтер"), "строка") {
			_, n, _ := strings.Cut(cm.Text, "строка ")
			got = append(got, n[:1])
		}
		if want := "1 2 3 4 5 6 7 8"; strings.Join(got, " ") != want {
			t.Errorf("comments in the order %q, want %q", strings.Join(got, " "), want)
		}
	})
}

func writeMany(c customer, n int) {
	for i := range n {
		c.write(fmt.Sprintf("CANARY-строка %d", i+1))
	}
}

// TestAlbum: five photos are one comment, also when the last one comes 8 s late,
// and twice.
func TestAlbum(t *testing.T) {
	t.Parallel()
	eachMessenger(t, func(t *testing.T, w *world, c customer) {
		opened(w, c, "Принтер")
		w.quiet()
		letGo := w.hold(ticket.InboundLane(c.address())) // however busy the machine
		parts := w.caught(c.updates(5), "", func() { c.album("CANARY-альбом", 5) })
		for _, part := range parts[:len(parts)-1] {
			w.delivered(part)
		}
		if len(parts) > 1 {
			w.until("four parts wait", 4, `SELECT coalesce(max(jsonb_array_length(payload)), 0) FROM jobs WHERE key LIKE 'album:%' AND state IN ('accepted', 'queued')`)
			w.check("the album waits for longer than 8 s", w.count(`SELECT count(*) FROM jobs WHERE key LIKE 'album:%' AND run_at > created_at + interval '8 s'`), 1)
			w.exec(`UPDATE jobs SET run_at = run_at - interval '8 s', gather_until = gather_until - interval '8 s', published_at = NULL WHERE key LIKE 'album:%'`)
		}
		last := parts[len(parts)-1]
		w.delivered(last, last)
		w.delivered(last)
		if len(parts) > 1 {
			w.until("the fifth has joined them", 5, `SELECT jsonb_array_length(payload) FROM jobs WHERE key LIKE 'album:%'`)
			w.exec(`UPDATE jobs SET run_at = clock_timestamp(), published_at = NULL WHERE key LIKE 'album:%'`)
		}
		letGo()
		w.commented("альбом")
		w.quiet()
		k := w.ticketOf("Принтер")
		w.check("comments of the customer's", len(comments(k, "пишет")), 1)
		w.check("photos in it", len(comments(k, "альбом")[0].Files), 5)
		w.check("files of the ticket", len(k.Files), 6)
	})
}

// TestAlbum_AfterItsComment: what comes even later is not lost.
func TestAlbum_AfterItsComment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.telegramCustomer(telegramID)
	opened(w, c, "Принтер")
	w.quiet()
	parts := w.caught(3, "", func() { c.album("CANARY-альбом", 3) })
	w.delivered(parts[0])
	w.delivered(parts[1])
	w.exec(`UPDATE jobs SET run_at = clock_timestamp(), published_at = NULL WHERE key LIKE 'album:%'`)
	w.commented("альбом")
	w.quiet()
	w.delivered(parts[2], parts[2])
	w.eventually("the third photo is in the ticket", func(all []sandboxtracker.Ticket) bool { return len(all[0].Files) == 4 })
	w.quiet()
	k := w.ticketOf("Принтер")
	w.check("comments of the customer's", len(comments(k, "пишет")), 2)
	w.check("files of the ticket", len(k.Files), 4)
}

// TestCustomerEdits: an edit is shown as an edit.
func TestCustomerEdits(t *testing.T) {
	t.Parallel()
	eachMessenger(t, func(t *testing.T, w *world, c customer) {
		opened(w, c, "Принтер")
		id := c.write("CANARY-опечатка")
		w.commented("опечатка")
		c.edit(id, "CANARY-исправлено")
		w.commented("исправлено")
		w.quiet()
		k := w.ticketOf("Принтер")
		w.check("the first text", len(comments(k, "опечатка")), 1)
		found := comments(k, "исправлено")
		w.check("the new text", len(found), 1)
		if !strings.Contains(found[0].Text, "исправляет сообщение") {
			t.Errorf("the edit is not shown as one: %q", found[0].Text)
		}
	})
}

// nasty is a text of exactly 4,096 UTF-16 units with all that formatting could
// trip over.
func nasty() string {
	const unit = "a<b&c_d*e[f]g`h~i 😀🏳️‍🌈 "
	var b strings.Builder
	for n := 0; ; {
		for _, r := range unit {
			size := 1
			if r > 0xffff {
				size = 2
			}
			if n+size > 4095 {
				for ; n < 4096; n++ {
					b.WriteByte('!')
				}
				return b.String()
			}
			b.WriteRune(r)
			n += size
		}
	}
}

// TestLongText: 4,096 units of special characters and emoji arrive whole, both
// ways.
func TestLongText(t *testing.T) {
	t.Parallel()
	eachMessenger(t, func(t *testing.T, w *world, c customer) {
		k := opened(w, c, "Принтер")
		text := nasty()
		c.write(text)
		w.commented("пишет")
		w.quiet()
		found := comments(w.ticketOf("Принтер"), "пишет")
		w.check("the comment", len(found), 1)
		var shown strings.Builder
		for _, p := range markup.VK(found[0].Text, 1<<20) {
			shown.WriteString(p.Text)
		}
		if got := squeeze(shown.String()); !strings.Contains(got, squeeze(text)) {
			t.Errorf("the customer's text is not whole in the ticket: %q", got)
		}

		w.reply(k, markup.Escape(text)+" конец")
		c.sees("конец")
		w.quiet()
		w.wholeAnswer(c, text)
		w.reply(k, "без разметки: 2 < 3 && a_b * c [d] <e> &lt; 😀 КОНЕЦ")
		m := c.sees("КОНЕЦ")
		if !strings.Contains(m.text, "2 < 3 && a_b * c [d] <e>") {
			t.Errorf("the agent's text as the customer sees it: %q", m.text)
		}
	})
}

// wholeAnswer: the parts of the answer, one behind the other, are the text.
func (w *world) wholeAnswer(c customer, text string) {
	w.t.Helper()
	var all strings.Builder
	for _, m := range c.all() {
		if n := len([]rune(m.text)); n > 4096 {
			w.t.Errorf("a message of %d characters", n)
		}
		all.WriteString(m.text)
	}
	if got := squeeze(all.String()); !strings.Contains(got, squeeze(text)) {
		w.t.Errorf("the answer is not whole: %q", got)
	}
}

// squeeze takes white space away: where a text is cut or wrapped is no loss.
func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }
