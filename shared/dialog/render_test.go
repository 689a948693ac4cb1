package dialog_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"supportbot/shared/dialog"
	"supportbot/shared/messenger"
	"supportbot/shared/ticket"
)

// shown renders a page and holds it against the messengers' limits.
func (c *chat) shown(p dialog.Page, d dialog.Data) (string, messenger.Keyboard) {
	c.t.Helper()
	if p.Locale == "" {
		p.Locale = "ru"
	}
	d.Catalogue, d.Now = c.v.Catalogue, c.v.Now
	text, k := dialog.Render(p, d)
	checkKeyboard(c.t, k)
	if units(text) > 4096 || text == "" {
		c.t.Fatalf("page of %d characters", units(text))
	}
	c.board = k
	return text, k
}

func contains(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("got %q, want it to say %q", text, w)
		}
	}
}

func TestRender_List(t *testing.T) {
	t.Parallel()
	var all []ticket.Summary
	for i := range 12 {
		phase := ticket.PhaseOpen
		if i == 11 {
			phase = ticket.PhaseClosed
		}
		s := summary(fmt.Sprintf("SUP-%d", 100+i), phase, time.Duration(i)*time.Minute)
		s.Title = strings.Repeat("🖨 <b>_принтер_*", 20)
		all = append(all, s)
	}
	custom := summary("SUP-200", ticket.PhaseOpen, -time.Second)
	custom.Status, custom.StatusName = "waitingForVendor", "Ждём поставщика"
	all = append(all, custom)
	c := newChat(t)
	d := dialog.Data{Tickets: dialog.Tickets{Known: true, List: all, At: c.v.Now}}

	text, _ := c.shown(dialog.Page{Kind: dialog.PageTickets}, d)
	contains(t, text, "1–5 из 12", "1. SUP-200 · Заголовок SUP-200 — Ждём поставщика", "2. SUP-100", "В работе")
	if c.find("SUP-100") != "v:o:"+all[0].Ref.String() {
		t.Errorf("button leads to %q", c.find("SUP-100"))
	}
	if c.find("Ещё ›") != "v:t:1" {
		t.Errorf("next page is %q", c.find("Ещё ›"))
	}
	text, _ = c.shown(dialog.Page{Kind: dialog.PageAll, Number: 99}, d) // clamped
	contains(t, text, "11–13 из 13", "SUP-111", "Закрыто")
	if got := c.find("SUP-111"); !strings.HasPrefix(got, "v:h:d") || !strings.HasSuffix(got, ":0") {
		t.Errorf("button leads to %q", got)
	}
	if c.find("‹ Предыдущие") != "v:a:1" {
		t.Errorf("previous page is %q", c.find("‹ Предыдущие"))
	}
	c.shown(dialog.Page{Kind: dialog.PageAll, Number: -7}, d)
}

func TestRender_ListEmptyStaleUnknown(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	text, _ := c.shown(dialog.Page{Kind: dialog.PageTickets}, dialog.Data{Tickets: dialog.Tickets{Known: true}})
	contains(t, text, dialog.Text("ru", "page.tickets.empty"))
	if c.find("Новое обращение") != "m:new" {
		t.Error("no way to open one")
	}
	text, _ = c.shown(dialog.Page{Kind: dialog.PageAll}, dialog.Data{})
	contains(t, text, dialog.Text("ru", "page.unavailable"))
	if c.find("Повторить") != "v:a:0" {
		t.Errorf("retry is %q", c.find("Повторить"))
	}
	old := dialog.Tickets{Known: true, At: c.v.Now.Add(-time.Hour), List: []ticket.Summary{summary("SUP-1", ticket.PhaseOpen, 0)}}
	text, _ = c.shown(dialog.Page{Kind: dialog.PageTickets}, dialog.Data{Tickets: old, Zone: time.FixedZone("MSK", 3*3600)})
	contains(t, text, dialog.Text("ru", "page.stale", "time", "02.03.2026 12:00"))
	opened := dialog.Page{Kind: dialog.PageTickets, Opened: []ticket.Summary{{Ref: ticket.Ref{Draft: "x"}, Title: "Новое", Phase: ticket.PhaseOpen}}}
	text, _ = c.shown(opened, dialog.Data{})
	contains(t, text, "Новое")
}

func TestRender_Ticket(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	open, done := summary("SUP-1", ticket.PhaseOpen, 0), summary("SUP-2", ticket.PhaseResolved, time.Hour)
	old := summary("SUP-3", ticket.PhaseResolved, 99*time.Hour)
	d := dialog.Data{Tickets: dialog.Tickets{Known: true, List: []ticket.Summary{open, done, old}, At: c.v.Now}}
	tests := []struct {
		s       ticket.Summary
		buttons []string
		without string
	}{
		{open, []string{"t:add:" + open.Ref.String(), "v:h:" + open.Ref.String() + ":0"}, "t:re:"},
		{done, []string{"t:re:" + done.Ref.String(), "r:" + done.Ref.String() + ":5"}, "t:add:"},
		{old, []string{"v:h:" + old.Ref.String() + ":0"}, "t:re:"},
	}
	for _, tt := range tests {
		text, k := c.shown(dialog.Page{Kind: dialog.PageTicket, Ref: tt.s.Ref}, d)
		contains(t, text, tt.s.Key, tt.s.Title)
		all := encode(t, k)
		for _, b := range tt.buttons {
			contains(t, all, b)
		}
		if strings.Contains(all, tt.without) {
			t.Errorf("%s: has %q", tt.s.Key, tt.without)
		}
	}
	text, _ := c.shown(dialog.Page{Kind: dialog.PageTicket, Ref: ticket.Ref{Issue: "f00"}}, d)
	contains(t, text, dialog.Text("ru", "ticket.unknown"))
	text, _ = c.shown(dialog.Page{Kind: dialog.PageTicket, Ref: open.Ref}, dialog.Data{})
	contains(t, text, dialog.Text("ru", "page.unavailable"))
	fresh := dialog.Page{Kind: dialog.PageTicket, Ref: ticket.Ref{Draft: "x"}, Opened: []ticket.Summary{{Ref: ticket.Ref{Draft: "x"}, Title: "Новое"}}}
	text, _ = c.shown(fresh, d)
	contains(t, text, dialog.Text("ru", "ticket.new"), "Новое")
}

func TestRender_History(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	s := summary("SUP-1", ticket.PhaseOpen, 0)
	at := func(n int) time.Time { return start.Add(time.Duration(n) * time.Minute) }
	entries := []ticket.Entry{
		{At: at(0), Kind: "created", Text: "первый", Files: 2},
		{At: at(1), Kind: "customer", Text: strings.Repeat("я", 5000)},
		{At: at(2), Kind: "agent", Text: "ответ"},
		{At: at(3), Kind: "status", Status: "inProgress"},
		{At: at(4), Kind: "status", Status: "odd", StatusName: "Странный"},
		{At: at(5), Kind: "customer", Text: "последний"},
	}
	d := dialog.Data{Tickets: dialog.Tickets{Known: true, List: []ticket.Summary{s}, At: c.v.Now}, History: entries, HistoryKnown: true}
	text, _ := c.shown(dialog.Page{Kind: dialog.PageHistory, Ref: s.Ref}, d)
	contains(t, text, "SUP-1", "стр. 1 из 2", "Вы: последний", "Поддержка: ответ", "Статус: В работе", "Статус: Странный", "…")
	if strings.Contains(text, "первый") || strings.Index(text, "ответ") > strings.Index(text, "последний") {
		t.Errorf("wrong entries or order: %q", text)
	}
	if c.find("Ещё ›") != "v:h:"+s.Ref.String()+":1" {
		t.Errorf("next page is %q", c.find("Ещё ›"))
	}
	text, _ = c.shown(dialog.Page{Kind: dialog.PageHistory, Ref: s.Ref, Number: 1}, d)
	contains(t, text, "Обращение создано\nпервый\nФайлов: 2")
	d.History = nil
	text, _ = c.shown(dialog.Page{Kind: dialog.PageHistory, Ref: s.Ref}, d)
	contains(t, text, dialog.Text("ru", "history.empty"))
	d.HistoryKnown = false
	text, _ = c.shown(dialog.Page{Kind: dialog.PageHistory, Ref: s.Ref}, d)
	contains(t, text, dialog.Text("ru", "page.unavailable"))
	d.History, d.HistoryKnown = entries, true
	text, _ = c.shown(dialog.Page{Kind: dialog.PageHistory, Ref: ticket.Ref{Issue: "f00"}}, d)
	contains(t, text, dialog.Text("ru", "ticket.unknown"))
	text, _ = c.shown(dialog.Page{Kind: dialog.PageHistory, Ref: s.Ref, Locale: "en"}, d)
	contains(t, text, "Support: ответ", "Status: In progress")
}

func TestDeliveryButtons(t *testing.T) {
	t.Parallel()
	ref := ticket.Ref{Issue: "5f0c1e2d3b4a59687abcdef0"}
	k := append(dialog.RateButtons(ref, "en"), []messenger.Button{dialog.ReopenButton(ref, "en"), dialog.TicketButton(ref, "en")})
	checkKeyboard(t, k)
	if len(k[0]) != 5 {
		t.Errorf("got %d scores", len(k[0]))
	}
}
