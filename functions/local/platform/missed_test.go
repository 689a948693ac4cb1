package platform_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// behind: the services' clocks are a minute behind, so that what customers write is
// as old as the reconciler wants it.
func behind(w *world) { w.now = func() time.Time { return time.Now().Add(-time.Minute) } }

// away is who holds the reconciler's duty while it must not look by itself.
const away = "00000000-0000-0000-0000-0000000000aa"

// unlooked keeps the reconciler from looking until missed is called.
func (w *world) unlooked() {
	w.t.Helper()
	w.until("the reconciler does not look", 1, `WITH held AS (
		INSERT INTO duties AS d (name, lease_token, lease_until) VALUES ('missed:vk', $1::uuid, now() + interval '1 hour')
		ON CONFLICT (name) DO UPDATE SET lease_token = excluded.lease_token, lease_until = excluded.lease_until
		WHERE d.lease_until IS NULL OR d.lease_until <= now() OR d.lease_token = excluded.lease_token
		RETURNING 1) SELECT count(*) FROM held`, away)
}

// missed lets the reconciler look once more at everything that VK has of the last
// minutes, and waits until it has.
func (w *world) missed() {
	w.t.Helper()
	w.exec(`UPDATE watermarks SET at = at - interval '5 min' WHERE name IN ('missed:vk:209', 'missed:vk:209:done')`)
	w.exec(`UPDATE duties SET lease_token = NULL, lease_until = NULL WHERE lease_token = $1::uuid`, away)
	w.until("the reconciler has looked", 1,
		`SELECT count(*) FROM watermarks WHERE name = 'missed:vk:209' AND at > now() - interval '2 min'`)
	w.quiet()
}

// TestMissed: what VK did not bring gets into the ticket once, whether VK brings it
// after all or not; what it did bring is not repeated.
func TestMissed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, behind)
	c, other := w.vkCustomer(vkID), w.vkCustomer(vkID+1)
	opened(w, c, "Принтер")
	opened(w, other, "Сканер")
	c.write("CANARY-доставлено")
	w.commented("доставлено")
	w.quiet()
	// VK calls and gets no answer that it likes; then it calls no more.
	calls := w.caught(6, "строка", func() { writeMany(c, 3); writeMany(other, 3) })
	c.write("CANARY-следом")
	w.commented("следом")
	w.quiet()
	before, beforeOther := len(c.all()), len(other.all())

	w.missed()
	w.inTickets()
	w.check("replies", len(c.all()), before)
	w.check("replies to the other", len(other.all()), beforeOther+1) // its messages were taken in
	for i, cm := range comments(w.ticketOf("Принтер"), "строка") {
		if !strings.Contains(cm.Text, fmt.Sprint("строка ", i+1)) || !strings.Contains(cm.Text, "пришло позже") || !strings.Contains(cm.Text, "отправлено") {
			t.Errorf("comment %d does not say when it was written, or is not in its place: %q", i, cm.Text)
		}
	}
	w.delivered(calls...) // VK comes back to it
	w.missed()
	w.inTickets()
	w.check("replies", len(c.all()), before)
	w.check("replies to the other", len(other.all()), beforeOther+1)
}

// TestMissed_Wiped: an empty Redis knows of nothing that was taken, and yet nothing
// is taken again.
func TestMissed_Wiped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, behind)
	c := w.vkCustomer(vkID)
	opened(w, c, "Принтер")
	c.write("CANARY-доставлено")
	w.commented("доставлено")
	w.quiet()
	before := len(c.all())
	w.wipe()
	w.missed()
	w.check("replies", len(c.all()), before)
	w.check("comments", len(w.ticketOf("Принтер").Comments), 2)
	w.check("tickets", len(w.tracker.Tickets()), 1)
}

func (w *world) inTickets() {
	w.t.Helper()
	k, other := w.ticketOf("Принтер"), w.ticketOf("Сканер")
	w.check("what was brought", len(comments(k, "доставлено"))+len(comments(k, "следом")), 2)
	w.check("what was not", len(comments(k, "строка")), 3)
	w.check("what was not, of the other", len(comments(other, "строка")), 3)
	w.check("all comments", len(k.Comments), 1+2+3)
	w.check("all comments of the other", len(other.Comments), 1+3)
}

// TestMissed_Form: a message that turns up late fills in no step of a form.
func TestMissed_Form(t *testing.T) {
	t.Parallel()
	w := newWorld(t, behind)
	c := w.vkCustomer(vkID)
	c.start("problem")
	c.sees("Коротко")
	w.quiet()
	w.unlooked()
	w.caught(1, "раньше", func() { c.write("CANARY-раньше") })
	c.write("Принтер")
	c.sees("Опишите")
	w.quiet()
	w.missed()
	c.sees("добавлено в описание")
	w.check("the description is asked for", saw(c, "Опишите"), 2)
	w.check("the form is not yet whole", saw(c, "Проверьте обращение"), 0)
	c.write("CANARY-описание")
	c.sees("Проверьте обращение")
	c.press("Отправить")
	c.sees("создано")
	w.quiet()
	k := w.ticketOf("Принтер")
	if first, second := strings.Index(k.Description, "раньше"), strings.Index(k.Description, "описание"); first < 0 || second < first {
		t.Errorf("description %q", k.Description)
	}
}

// TestMissed_Silence: VK has called for nothing; a whole conversation is caught up.
func TestMissed_Silence(t *testing.T) {
	t.Parallel()
	w := newWorld(t, behind)
	c := w.vkCustomer(vkID)
	calls := w.caught(4, "", func() {
		c.start("problem")
		c.write("Принтер")
		c.photo("CANARY-описание")
		c.write("CANARY-и ещё")
	})
	w.missed()
	c.sees("Проверьте обращение")
	c.press("Отправить")
	c.sees("создано")
	w.delivered(calls...)
	w.missed()
	k := w.ticketOf("Принтер")
	w.check("files", len(k.Files), 1)
	w.check("words to the agent", len(k.Comments), 1)
	w.check("what was sent later", strings.Count(k.Description, "и ещё"), 1)
	w.check("the number", saw(c, "создано"), 1)
}
