package platform_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/person"
	"supportbot/shared/privacy"
	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/telegram"
	sandboxtracker "supportbot/shared/sandbox/tracker"
	"supportbot/shared/sandbox/vk"
	"supportbot/shared/ticket"
)

// somebody is another customer in the messenger of c, with another name.
func (w *world) somebody(c customer) customer {
	if _, ok := c.(*vkCustomer); ok {
		return &vkCustomer{w, w.vk.Customer(vk.User{ID: vkID + 9, FirstName: "CANARY-Олег", LastName: "CANARY-Другой"})}
	}
	return &telegramCustomer{w, w.telegram.Customer(telegram.User{ID: telegramID + 9, FirstName: "CANARY-Ольга", Username: "CANARY_olga", Language: "ru"})}
}

// signs are what gives a customer of these tests away who has opened "Принтер".
func signs(c customer) []string {
	all := []string{c.address().Chat, "Принтер", "дополнение", phone}
	if _, ok := c.(*vkCustomer); ok {
		return append(all, "Мария")
	}
	return append(all, "Иван", "CANARY_nick")
}

// traces says where any of the words is kept: in which tables, under which keys of
// Redis and in the fields of which tickets.
func (w *world) traces(words []string) (where []string) {
	w.t.Helper()
	conn, err := pgx.Connect(w.ctx, w.env["DATABASE_URL"])
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	rows, _ := conn.Query(w.ctx, `SELECT format('%I', table_name) FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		w.t.Fatal(err)
	}
	has := func(what, text string) {
		for _, word := range words {
			if strings.Contains(text, word) {
				where = append(where, what+" has "+word)
			}
		}
	}
	for _, table := range tables {
		rows, _ := conn.Query(w.ctx, `SELECT t::text FROM `+table+` t`)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			w.t.Fatal(err)
		}
		has(table, strings.Join(lines, "\n"))
	}
	for key, value := range w.keys() {
		has("redis "+key, key+" "+value)
	}
	for _, k := range w.tracker.Tickets() {
		has(k.Key, show(k.Fields))
	}
	return where
}

// keys gives all that is in Redis.
func (w *world) keys() map[string]string {
	w.t.Helper()
	r := w.redis()
	defer func() { _ = r.Close() }()
	all := map[string]string{}
	for _, key := range r.Keys(w.ctx, "*").Val() {
		switch r.Type(w.ctx, key).Val() {
		case "hash":
			all[key] = fmt.Sprint(r.HGetAll(w.ctx, key).Val())
		case "zset":
			all[key] = fmt.Sprint(r.ZRange(w.ctx, key, 0, -1).Val())
		default:
			all[key] = r.Get(w.ctx, key).Val()
		}
	}
	return all
}

// forgotten waits until an erasure is over, and checks that nothing of them is left.
// What the pace of a chat is held by ends by itself.
func (w *world) forgotten(c customer) {
	w.t.Helper()
	w.until("the erasure is over", 1, `SELECT count(*) FROM jobs WHERE kind = $1 AND state = 'completed'`, person.KindErase)
	w.quiet()
	var left []string
	w.poll("the chat's pace is forgotten", func() bool {
		left = w.traces(signs(c))
		return !slices.ContainsFunc(left, func(s string) bool { return strings.HasPrefix(s, "redis pace:") })
	})
	if len(left) > 0 {
		w.t.Fatalf("left of the customer:\n%s", strings.Join(left, "\n"))
	}
}

// lived does what leaves traces everywhere.
func lived(w *world, c customer) sandboxtracker.Ticket {
	w.t.Helper()
	k := opened(w, c, "CANARY-Принтер")
	w.reply(k, "ответ", manual)
	c.waits("the file", func(m said) bool { return len(m.files) > 0 })
	c.write("CANARY-дополнение")
	w.commented("CANARY-дополнение")
	if tg, ok := c.(*telegramCustomer); ok {
		tg.c.Send(telegram.Content{Contact: &telegram.Contact{Phone: "+" + phone, FirstName: "CANARY-Иван"}})
		w.commented(phone)
	}
	w.do(k, sandboxtracker.Edit{Status: "resolved", Resolution: "fixed"})
	c.press("2 ★")
	c.sees("Спасибо за оценку")
	c.write("CANARY-дополнение: отзыв")
	w.commented("отзыв")
	w.quiet()
	c.write("/new")
	c.press("Что-то не работает")
	c.sees("Коротко")
	c.write("CANARY-дополнение наполовину")
	c.sees("Опишите")
	w.quiet()
	return k
}

// TestForget: who asks to be forgotten is found nowhere any more; the ticket stays,
// tied to nobody, which its agent is told; whoever else is there keeps everything.
func TestForget(t *testing.T) {
	t.Parallel()
	eachMessenger(t, func(t *testing.T, w *world, c customer) {
		other := w.somebody(c)
		opened(w, other, "CANARY-Сканер")
		k := lived(w, c)
		for _, place := range []string{"people", "identities"} {
			w.check("rows of "+place, w.count("SELECT count(*) FROM "+place), 2)
		}
		before := strings.Join(w.traces(signs(c)), "\n")
		for _, place := range []string{"identities has", "jobs has", "redis conversation:", "redis seen:", k.Key + " has"} {
			if !strings.Contains(before, place) {
				t.Errorf("nothing was kept where it is looked for (%s): the test shows nothing:\n%s", place, before)
			}
		}
		again := w.caught(1, "дополнение повторно", func() { c.write("CANARY-дополнение повторно") })
		w.delivered(again...)
		c.write("/forget")
		c.press("Нет, оставить")
		c.sees("Ничего не удалено")
		c.write("/forget")
		if m := c.sees("Удалить ваши данные?"); !strings.Contains(m.text, "Останется") {
			t.Errorf("it does not say what stays: %s", m.text)
		}
		c.press("Да, удалить")
		c.sees("Готово: ваши данные удалены")
		w.commented("Клиент удалил свои данные")
		w.forgotten(c)

		// An agent's reply goes nowhere.
		looks := `SELECT count(*) FROM jobs WHERE lane = $1 AND state = 'completed' AND result = '"not a customer''s"'`
		seen, said := w.count(looks, ticket.IssueLane(k.ID)), len(c.all())
		w.reply(k, "INTERNAL в пустоту")
		w.poll("somebody has looked at the reply", func() bool { return w.count(looks, ticket.IssueLane(k.ID)) > seen })
		w.quiet()
		w.check("messages afterwards", len(c.all())-said, 0)
		k = w.ticketOf("CANARY-Принтер")
		w.check("the word to the agent", len(comments(k, "Клиент удалил свои данные")), 1)
		if k.Fields["supportMessenger"] == "" || k.Fields["supportRating"] != "2" || !slices.Contains(k.Tags, "support-erased") {
			t.Errorf("the ticket is not as it should be: %s", show(k))
		}

		// What a messenger brings once more from before makes nobody of nobody.
		w.delivered(again...)
		w.quiet()
		w.check("people", w.count(`SELECT count(*) FROM people`), 1)
		// The other one is served as before.
		other.write("CANARY-ещё о сканере")
		w.commented("ещё о сканере")
		if fields := show(w.ticketOf("CANARY-Сканер").Fields); !strings.Contains(fields, other.address().Chat) {
			t.Errorf("the other one's ticket was changed: %s", fields)
		}
		// Who writes again is somebody new, with no tickets.
		c.press("Показать обращение")
		c.sees("Такого обращения среди ваших нет")
		c.write("/tickets")
		c.sees("Открытых обращений нет")
		w.quiet()
		w.check("people", w.count(`SELECT count(*) FROM people`), 2)
	})
}

// TestForget_ByAPI: an admin exports and erases a customer, who is told.
func TestForget_ByAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.key()
	c := w.telegramCustomer(telegramID)
	opened(w, w.somebody(c), "CANARY-Сканер")
	lived(w, c)
	var found struct{ Customer int64 }
	status, body := w.api("GET", "/v1/customers?messenger=telegram&user="+c.address().Chat, nil, &found)
	if status != 200 || found.Customer == 0 {
		t.Fatalf("find: %d %s", status, body)
	}
	at := fmt.Sprintf("/v1/customers/%d", found.Customer)
	if status, body = w.api("GET", at+"/export", nil, nil); status != 200 {
		t.Fatalf("export: %d %s", status, body)
	}
	w.isExport(c, []byte(body))
	for _, want := range []string{"accepted queued running completed", "completed"} {
		var e struct{ State string }
		if status, body = w.api("POST", at+"/erase", nil, &e); status != 202 || !strings.Contains(want, e.State) {
			t.Errorf("erase: %d %s, want %s", status, body, want)
		}
		c.sees("Готово: ваши данные удалены")
		w.forgotten(c)
	}
	if status, _ := w.api("GET", at+"/export", nil, nil); status != 404 {
		t.Errorf("export of somebody forgotten: %d", status)
	}
	w.check("erasures", w.count(`SELECT count(*) FROM jobs WHERE kind = $1`, person.KindErase), 1)
	c.block() // who leaves then is nobody all the same
	w.quiet()
	w.forgotten(c)
	w.check("people", w.count(`SELECT count(*) FROM people`), 1)
}

// isExport: all that is kept of the customer, no secret, nobody else.
func (w *world) isExport(c customer, raw []byte) {
	w.t.Helper()
	var d person.Dossier
	if err := json.Unmarshal(raw, &d); err != nil {
		w.t.Fatalf("%v: %s", err, raw)
	}
	if len(d.Chats) != 1 || d.Chats[0].Address != c.address() || len(d.Tickets) != 1 || len(d.Requests) < 4 {
		w.t.Errorf("exported %s", raw)
	}
	for _, word := range []string{"CANARY-Принтер", "CANARY-дополнение", "отзыв", "наполовину", d.Chats[0].Name} {
		if !strings.Contains(string(raw), word) {
			w.t.Errorf("%q is not in the export: %s", word, raw)
		}
	}
	for _, word := range []string{"SECRET", "Сканер", "Ольга", "Олег", w.env["VK_API_URL"], `"ref": "`, `"ref":"`, "support-bot:"} {
		if strings.Contains(string(raw), word) {
			w.t.Errorf("%q is in the export: %s", word, raw)
		}
	}
}

// exported gives the file that the customer was sent.
func exported(c customer) (data []byte) {
	switch c := c.(type) {
	case *telegramCustomer:
		for _, m := range c.w.telegram.Chat(c.c.Chat()) {
			if m.Out && m.File != nil && m.File.Name == privacy.FileName {
				data = m.File.Data
			}
		}
	case *vkCustomer:
		for _, m := range c.w.vk.Chat(c.c.Peer()) {
			for _, f := range m.Files {
				if m.Out && f.Name == privacy.FileName {
					data = f.Data
				}
			}
		}
	}
	return data
}

func TestExport(t *testing.T) {
	t.Parallel()
	eachMessenger(t, func(_ *testing.T, w *world, c customer) {
		opened(w, w.somebody(c), "CANARY-Сканер")
		lived(w, c)
		c.write("/settings")
		c.press("Мои данные")
		c.press("Что обо мне известно")
		c.waits("the file", func(m said) bool { return slices.Contains(m.files, privacy.FileName) })
		w.isExport(c, exported(c))
		c.write("/export") // within the hour
		w.quiet()
	})
}

func dieForgetting(w *world, c customer, points []string) {
	opened(w, c, "Принтер")
	w.quiet()
	w.crash.arm()
	c.write("/forget")
	c.press("Да, удалить")
	w.commented("Клиент удалил свои данные")
	w.forgotten(c)
	w.check("the last word", saw(c, "Готово: ваши данные удалены"), seen(c, points, "person.erase/farewell"))
	w.check("the word to the agent", len(comments(w.ticketOf("Принтер"), "Клиент удалил свои данные")), 1)
}

func dieDetaching(w *world, c customer, _ []string) {
	opened(w, c, "Принтер")
	w.quiet()
	w.crash.arm()
	w.faults.tracker.Add(fault.Fault{Method: "PATCH /v3/issues/*", Kind: fault.Status, Status: 423, Times: 1})
	c.write("/forget")
	c.press("Да, удалить")
	w.commented("Клиент удалил свои данные")
	w.forgotten(c)
	w.check("tickets that were refused", w.count(`SELECT (result->>'kept')::int FROM jobs WHERE kind = $1`, person.KindErase), 1)
	w.check("the word to the agent", len(comments(w.ticketOf("Принтер"), "Клиент удалил свои данные")), 1)
}

func dieExporting(w *world, c customer, points []string) {
	opened(w, c, "Принтер")
	w.quiet()
	w.crash.arm()
	c.write("/export")
	c.waits("the file", func(m said) bool { return slices.Contains(m.files, privacy.FileName) })
	w.quiet()
	w.check("the file", files(c), seen(c, points, "person.export/send"))
}

// linked makes one person of two customers.
func (w *world) linked(a, b customer) {
	w.t.Helper()
	a.write("/link")
	b.write("/link " + linkCode.FindStringSubmatch(a.sees("/link ").text)[1])
	b.sees("Готово: ваши аккаунты связаны")
}

// TestForget_Everywhere: a person of two messengers is forgotten in both, with tickets
// that were moved or whose making had no known end, while Tracker stumbles.
func TestForget_Everywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, v := w.telegramCustomer(telegramID), w.vkCustomer(vkID)
	k := opened(w, c, "CANARY-Принтер")
	if _, err := w.agent.Move(k.Key, "BIL"); err != nil {
		t.Fatal(err)
	}
	opened(w, v, "CANARY-Принтер и сканер")
	w.linked(c, v)
	w.quiet()
	form(v, "CANARY-Принтер и факс")
	w.faults.tracker.Add(fault.Fault{Method: "POST /v3/issues", Kind: fault.CloseAfter, Times: 1})
	w.faults.tracker.Add(fault.Fault{Method: "PATCH /v3/issues/*", Kind: fault.Status, Status: 503, Times: 1})
	v.press("Отправить")
	v.sees("принято")
	v.write("/forget")
	v.press("Да, удалить")
	v.sees("Готово: ваши данные удалены")
	w.forgotten(c)
	w.forgotten(v)
	w.check("faults that nobody met", len(w.faults.tracker.List()), 0)
	w.check("last words in the other chat", saw(c, "Готово: ваши данные удалены"), 0)
	tickets := w.tracker.Tickets()
	w.check("tickets", len(tickets), 3)
	for _, k := range tickets {
		if !slices.Contains(k.Tags, "support-erased") || len(comments(k, "Клиент удалил свои данные")) != 1 {
			t.Errorf("the ticket is still somebody's: %s", show(k))
		}
	}
}

// TestForget_Unreachable: who cannot be told is forgotten all the same.
func TestForget_Unreachable(t *testing.T) {
	t.Parallel()
	eachMessenger(t, func(_ *testing.T, w *world, c customer) {
		w.key()
		opened(w, c, "CANARY-Принтер")
		w.quiet()
		c.block()
		w.quiet()
		id := w.count(`SELECT person_id FROM identities`)
		if status, body := w.api("POST", fmt.Sprintf("/v1/customers/%d/erase", id), nil, nil); status != 202 {
			w.t.Fatalf("erase: %d %s", status, body)
		}
		w.forgotten(c)
		w.commented("Клиент удалил свои данные")
	})
}
