package platform_test

import (
	"strings"

	"supportbot/shared/sandbox/fault"
	sandboxtracker "supportbot/shared/sandbox/tracker"
	"supportbot/shared/ticket"
)

// form fills the form by the link to a category, up to the confirmation.
func form(c customer, subject string) {
	seen := newest(c)
	next := func(text string) {
		seen = c.waits(text, func(m said) bool { return m.id > seen && strings.Contains(m.text, text) }).id
	}
	c.start("problem")
	next("Коротко")
	c.write(subject)
	next("Опишите")
	c.photo("CANARY-описание: " + subject)
	next("Проверьте обращение")
}

// newest is the number of the bot's newest message.
func newest(c customer) (id int64) {
	for _, m := range c.all() {
		id = max(id, m.id)
	}
	return id
}

// opened opens a ticket, and waits until the customer was told.
func opened(w *world, c customer, subject string) sandboxtracker.Ticket {
	w.t.Helper()
	form(c, subject)
	before := newest(c)
	c.press("Отправить")
	c.waits("the number", func(m said) bool { return m.id > before && strings.Contains(m.text, "создано") })
	return w.ticketOf(subject)
}

// ticketOf gives the one ticket with the subject.
func (w *world) ticketOf(subject string) sandboxtracker.Ticket {
	w.t.Helper()
	var found []sandboxtracker.Ticket
	for _, k := range w.tracker.Tickets() {
		if k.Summary == subject {
			found = append(found, k)
		}
	}
	if len(found) != 1 {
		w.t.Fatalf("%d tickets %q, want one: %s", len(found), subject, show(found))
	}
	return found[0]
}

// comments gives the comments of the ticket that contain text.
func comments(k sandboxtracker.Ticket, text string) (found []sandboxtracker.Comment) {
	for _, c := range k.Comments {
		if strings.Contains(c.Text, text) {
			found = append(found, c)
		}
	}
	return found
}

// commented waits for a comment.
func (w *world) commented(text string) {
	w.t.Helper()
	w.eventually("a comment with "+text, func(all []sandboxtracker.Ticket) bool {
		for _, k := range all {
			if len(comments(k, text)) > 0 {
				return true
			}
		}
		return false
	})
}

// do lets the agent do something.
func (w *world) do(k sandboxtracker.Ticket, d sandboxtracker.Edit) {
	w.t.Helper()
	if _, err := w.agent.Do(k.Key, d); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) reply(k sandboxtracker.Ticket, text string, files ...sandboxtracker.NewFile) sandboxtracker.Comment {
	w.t.Helper()
	w.do(k, sandboxtracker.Edit{Comments: []sandboxtracker.NewComment{{Text: "/reply " + text, Files: files}}})
	k, _ = w.tracker.Ticket(k.Key)
	return k.Comments[len(k.Comments)-1]
}

var manual = sandboxtracker.NewFile{Name: "инструкция.txt", Data: []byte("1. Включить")}

func (w *world) resolve(k sandboxtracker.Ticket) {
	w.t.Helper()
	w.do(k, sandboxtracker.Edit{Status: "resolved", Resolution: "fixed"})
}

func dieOpening(w *world, c customer, points []string) {
	form(c, "Принтер")
	w.crash.arm()
	c.press("Отправить")
	c.sees("создано")
	w.quiet()
	k := w.ticketOf("Принтер")
	w.check("tickets", len(w.tracker.Tickets()), 1)
	w.check("files", len(k.Files), 1)
	w.check("comments, all of them", len(k.Comments), 1)
	w.check("a word to the agent", len(comments(k, "Клиент видит только ответы")), 1)
	w.replied(c, points, "принято")
	// A reply that found no place at once is a notice too, and then it is the one that
	// the process is killed at.
	told, want := saw(c, "создано"), seen(c, points, "deliver.notice/send")
	if want == 2 && told == 1 {
		told = saw(c, "принято")
	}
	w.check("the number, or the reply", told, want)
}

func dieCommenting(w *world, c customer, points []string) {
	opened(w, c, "Принтер")
	w.crash.arm()
	c.photo("CANARY-дополнение")
	w.commented("дополнение")
	w.quiet()
	k := w.ticketOf("Принтер")
	found := comments(k, "дополнение")
	w.check("the comment", len(found), 1)
	w.check("its files", len(found[0].Files), 1)
	w.check("files of the ticket", len(k.Files), 2)
	w.replied(c, points, "Передано в обращение")
}

func dieAnswering(w *world, c customer, points []string) {
	k := opened(w, c, "Принтер")
	w.crash.arm()
	w.reply(k, "Проверьте **кабель**", manual)
	c.waits("the file", func(m said) bool { return len(m.files) > 0 })
	w.quiet()
	w.check("the answer", saw(c, "кабель"), seen(c, points, "deliver.answer/send"))
	w.check("the file", files(c), seen(c, points, "deliver.answer/file"))
	w.noted(c, points, "deliver.answer/send", "deliver.answer/file")
}

// noted: the agent is told of what may have come twice, and only of that.
func (w *world) noted(c customer, points []string, stages ...string) {
	w.t.Helper()
	want := 0
	if unknown(c, points, stages...) {
		want = 1
	}
	w.check("the note that it may have come twice", len(comments(w.ticketOf("Принтер"), "мог прийти клиенту дважды")), want)
}

func dieEditing(w *world, c customer, _ []string) {
	k := opened(w, c, "Принтер")
	first := w.reply(k, "Проверьте кабель", manual)
	c.waits("the file", func(m said) bool { return len(m.files) > 0 })
	w.quiet()
	w.crash.arm()
	if err := w.agent.EditComment(k.Key, first.ID, "/reply Проверьте розетку"); err != nil {
		w.t.Fatal(err)
	}
	c.sees("розетку")
	w.quiet()
	w.check("the old answer", saw(c, "кабель"), 0)
	w.check("the new answer", saw(c, "розетку"), 1)
	w.check("the file", files(c), 1)
}

// dieReplacing: a comment that was no reply when its delivery came is edited into
// one, so that the job of the edit sends all of it.
func dieReplacing(w *world, c customer, points []string) {
	k := opened(w, c, "Принтер")
	letGo := w.hold(ticket.OutboundLane(c.address()))
	first := w.reply(k, "INTERNAL рано", manual)
	key := ticket.AnswerKey(k.ID, first.ID)
	w.until("the delivery is planned", 1, `SELECT count(*) FROM jobs WHERE key = $1`, key)
	if err := w.agent.EditComment(k.Key, first.ID, "INTERNAL ещё думаем"); err != nil {
		w.t.Fatal(err)
	}
	letGo()
	w.until("the delivery is skipped", 1, `SELECT count(*) FROM jobs WHERE key = $1 AND result->>'why' = 'internal'`, key)
	w.crash.arm()
	if err := w.agent.EditComment(k.Key, first.ID, "/reply Проверьте розетку"); err != nil {
		w.t.Fatal(err)
	}
	c.waits("the file", func(m said) bool { return len(m.files) > 0 })
	w.quiet()
	w.check("the answer", saw(c, "розетку"), seen(c, points, "deliver.edit/send"))
	w.check("the file", files(c), seen(c, points, "deliver.edit/file"))
	w.noted(c, points, "deliver.edit/send", "deliver.edit/file")
}

func dieAnnouncing(w *world, c customer, points []string) {
	k := opened(w, c, "Принтер")
	w.crash.arm()
	w.resolve(k)
	c.sees("Решено")
	w.quiet()
	w.check("the news", saw(c, "Решено"), seen(c, points, "deliver.status/send"))
}

func dieRating(w *world, c customer, points []string) {
	k := opened(w, c, "Принтер")
	w.resolve(k)
	c.sees("Решено")
	w.crash.arm()
	c.press("5 ★")
	w.commented("Оценка клиента")
	w.quiet()
	k = w.ticketOf("Принтер")
	w.check("the rating", len(comments(k, "Оценка клиента")), 1)
	if got := k.Fields["supportRating"]; got != "5" {
		w.t.Errorf("the rating's field is %q", got)
	}
	w.replied(c, points, "Спасибо за оценку")
}

func dieReopening(w *world, c customer, _ []string) {
	k := opened(w, c, "Принтер")
	w.resolve(k)
	c.sees("Решено")
	c.photo("CANARY-снова сломалось")
	c.sees("Вернуть его в работу")
	w.crash.arm()
	c.press("Вернуть в работу")
	w.commented("снова сломалось")
	w.quiet()
	k = w.ticketOf("Принтер")
	found := comments(k, "снова сломалось")
	w.check("the comment", len(found), 1)
	w.check("its files", len(found[0].Files), 1)
	if k.StatusType == "done" {
		w.t.Errorf("the ticket is %s", k.Status)
	}
	reopened := 0
	for _, ch := range w.tracker.History(k.Key) {
		for _, f := range ch.Fields {
			if f.Key == "status" && f.From == "resolved" {
				reopened++
			}
		}
	}
	w.check("the step back to work", reopened, 1)
}

func dieNoting(w *world, c customer, _ []string) {
	k := opened(w, c, "Принтер")
	w.quiet()
	c.block()
	w.quiet()
	w.crash.arm()
	w.reply(k, "Проверьте кабель")
	w.commented("не доставлен")
	w.quiet()
	w.check("the note", len(comments(w.ticketOf("Принтер"), "не доставлен")), 1)
	w.check("the answer", saw(c, "кабель"), 0)
}

// dieAgain: Tracker cannot say where a message belongs, and Redis has forgotten.
func dieAgain(w *world, c customer, _ []string) {
	opened(w, c, "Принтер")
	w.quiet()
	w.faults.tracker.Add(fault.Fault{Method: "POST /v3/issues/_search", Kind: fault.Status, Status: 503})
	w.wipe()
	c.write("CANARY-дополнение")
	c.sees("сообщение попадёт куда нужно")
	w.until("the message waits", 1, `SELECT count(*) FROM jobs WHERE kind = $1 AND state = 'queued' AND last_error IS NOT NULL`, ticket.KindAgain)
	w.crash.arm()
	w.faults.tracker.Clear()
	w.exec(`UPDATE jobs SET run_at = clock_timestamp(), published_at = NULL WHERE kind = $1 AND state IN ('accepted', 'queued')`, ticket.KindAgain)
	w.commented("дополнение")
	w.quiet()
	w.check("the comment", len(comments(w.ticketOf("Принтер"), "дополнение")), 1)
}

// wipe empties Redis.
func (w *world) wipe() {
	w.t.Helper()
	r := w.redis()
	defer func() { _ = r.Close() }()
	if err := r.FlushDB(w.ctx).Err(); err != nil {
		w.t.Fatal(err)
	}
}
