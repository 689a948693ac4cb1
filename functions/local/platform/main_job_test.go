package platform_test

import (
	"slices"
	"strings"
	"testing"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/postgres/schema"
	sandboxtracker "supportbot/shared/sandbox/tracker"
)

// picture is the smallest JPEG that a decoder takes for one.
var picture = []byte("\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00\xff\xd9")

const (
	telegramID = 1<<40 + 4242
	vkID       = 1<<40 + 7171
)

// eachMessenger runs a scenario for a new customer in each messenger.
func eachMessenger(t *testing.T, scenario func(*testing.T, *world, customer), opts ...option) {
	for name, customerOf := range map[string]func(*world) customer{
		"telegram": func(w *world) customer { return w.telegramCustomer(telegramID) },
		"vk":       func(w *world) customer { return w.vkCustomer(vkID) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, opts...)
			scenario(t, w, customerOf(w))
		})
	}
}

// open goes through the form with a photo in the description.
func open(w *world, c customer, subject, description string) sandboxtracker.Ticket {
	w.t.Helper()
	c.write("/start")
	c.press("Новое обращение")
	c.press("Что-то не работает")
	c.sees("Коротко")
	c.write(subject)
	c.sees("Опишите")
	c.photo(description)
	c.sees("Проверьте обращение")
	c.press("Отправить")
	all := w.eventually("the ticket is opened", func(all []sandboxtracker.Ticket) bool {
		return slices.ContainsFunc(all, func(k sandboxtracker.Ticket) bool { return k.Summary == subject && len(k.Comments) > 0 })
	})
	return all[slices.IndexFunc(all, func(k sandboxtracker.Ticket) bool { return k.Summary == subject })]
}

func TestMainJob(t *testing.T) {
	t.Parallel()
	eachMessenger(t, mainJob)
}

func mainJob(t *testing.T, w *world, c customer) {
	t.Helper()
	k := open(w, c, "Не печатает CANARY-принтер", "CANARY-описание с фото")
	if k.Type != "bug" || k.Priority != "normal" || len(k.Files) != 1 {
		t.Errorf("ticket %s", show(k))
	}
	for field, want := range map[string]string{"supportCategory": "problem", "supportLocale": "ru"} {
		if got := k.Fields[field]; got != want {
			t.Errorf("field %s is %q, want %q", field, got, want)
		}
	}
	for _, field := range []string{"supportMessenger", "supportBot", "supportChat", "supportUser", "supportName"} {
		if k.Fields[field] == "" {
			t.Errorf("field %s is empty: %s", field, show(k.Fields))
		}
	}
	if !strings.Contains(k.Description, "описание с фото") {
		t.Errorf("description %q", k.Description)
	}
	c.sees(k.Key + " создано")

	// An unmarked comment stays inside; one edited into a reply goes out once.
	inside, err := w.agent.Comment(k.Key, "коллеги, посмотрите")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.agent.Do(k.Key, sandboxtracker.Edit{Comments: []sandboxtracker.NewComment{{
		Text:  "/reply Проверьте **кабель** и [инструкцию](https://example.com/a_b)",
		Files: []sandboxtracker.NewFile{{Name: "инструкция.txt", Data: []byte("1. Включить")}},
	}}}); err != nil {
		t.Fatal(err)
	}
	m := c.sees("кабель")
	if m.html != "" && !strings.Contains(m.html, "<b>кабель</b>") {
		t.Errorf("reply %q is not formatted", m.html)
	}
	if err := w.agent.EditComment(k.Key, inside.ID, "/reply коллеги посмотрели"); err != nil {
		t.Fatal(err)
	}
	c.sees("коллеги посмотрели")

	if _, err := w.agent.Do(k.Key, sandboxtracker.Edit{Status: "inProgress"}); err != nil {
		t.Fatal(err)
	}
	c.sees("В работе")
	if _, err := w.agent.Do(k.Key, sandboxtracker.Edit{Status: "resolved", Resolution: "fixed"}); err != nil {
		t.Fatal(err)
	}
	c.sees("Решено")
	c.press("5 ★")
	w.eventually("the rating is in the ticket", func(all []sandboxtracker.Ticket) bool { return all[0].Fields["supportRating"] == "5" })

	c.press("Без отзыва")
	c.sees("Спасибо!")
	c.write("CANARY снова сломалось")
	c.sees("Вернуть его в работу")
	c.press("Вернуть в работу")
	w.eventually("the ticket is reopened with the message", func(all []sandboxtracker.Ticket) bool {
		return all[0].StatusType != "done" && slices.ContainsFunc(all[0].Comments, func(c sandboxtracker.Comment) bool {
			return strings.Contains(c.Text, "снова сломалось")
		})
	})
	checkTranscript(t, c)
}

// TestMainJob_ThroughAPooler: the databases of the cloud sit behind a pooler in
// transaction mode.
func TestMainJob_ThroughAPooler(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) {
		w.env["DATABASE_URL"] = backendtest.PgBouncer(t, backendtest.Postgres(t, schema.Migrate))
	})
	mainJob(t, w, w.telegramCustomer(telegramID))
}

// checkTranscript: what the customer has seen, each once, and nothing internal.
func checkTranscript(t *testing.T, c customer) {
	t.Helper()
	var text strings.Builder
	files := 0
	for _, m := range c.all() {
		text.WriteString(m.text + "\n")
		files += len(m.files)
	}
	all := text.String()
	for part, want := range map[string]int{
		"кабель": 1, "коллеги посмотрели": 1, "коллеги, посмотрите": 0, "создано": 1, "В работе": 1, "/reply": 0, "support-bot:": 0,
	} {
		if got := strings.Count(all, part); got != want {
			t.Errorf("the customer saw %q %d times, want %d:\n%s", part, got, want, all)
		}
	}
	if files != 1 {
		t.Errorf("the customer got %d files, want 1", files)
	}
}
