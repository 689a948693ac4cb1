package dialog_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/dialog"
	"supportbot/shared/messenger"
	"supportbot/shared/ticket"
)

func TestText_GoesToTheOpenTicket(t *testing.T) {
	t.Parallel()
	c := newChat(t, summary("SUP-1", ticket.PhaseOpen, time.Hour), summary("SUP-2", ticket.PhaseClosed, time.Hour))
	c.v.Settle = 2 * time.Second
	r := c.do("Ещё вопрос")
	if !r.Consulted {
		t.Error("the tickets were not consulted")
	}
	c.wantSaid("ack.ticket", "ticket", "SUP-1 · Заголовок SUP-1")
	c.wantJobs("ticket.comment telegram:77:1")
	j := r.Jobs[0]
	if j.Sequence != c.seq || j.Delay != 2*time.Second || j.Gather != nil {
		t.Errorf("job: got sequence %d, delay %v, %+v", j.Sequence, j.Delay, j.Gather)
	}
	got := payload[ticket.Comment](t, r, 0)
	if got.Ref.Draft != "draftsup1" || got.Message.Text != "Ещё вопрос" || got.Message.Late {
		t.Errorf("comment: got %+v", got)
	}
	c.wait(30 * time.Second)
	c.do("и ещё")
	c.wantSilence() // one acknowledgement for a burst
	c.wantJobs("ticket.comment telegram:77:2")
	c.wait(time.Minute)
	c.do("и ещё")
	c.wantSaid("ack.ticket", "ticket", "SUP-1 · Заголовок SUP-1")
}

func TestText_GoesToTheTicketJustConfirmed(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	id := c.filled()
	c.do("btn Отправить")
	r := c.do("забыл сказать")
	if got := payload[ticket.Comment](t, r, 0).Ref; got != (ticket.Ref{Draft: id}) {
		t.Errorf("got %+v, want the draft", got)
	}
	// Tracker's list shows it, closed meanwhile: what was opened here is forgotten.
	c.v.Tickets.List = []ticket.Summary{{Ref: ticket.Ref{Draft: id}, Key: "SUP-9", Title: "x", Phase: ticket.PhaseClosed}}
	c.do("ещё")
	c.wantSaid("ask.offer")
	c.wantJobs()
}

func TestText_SeveralOpenAsks(t *testing.T) {
	t.Parallel()
	c := newChat(t, summary("SUP-1", ticket.PhaseOpen, time.Hour), summary("SUP-2", ticket.PhaseOpen, 2*time.Hour))
	c.do("Сообщение")
	c.wantSaid("ask.which")
	c.wantJobs()
	c.do("Второе")
	c.wantSilence()
	c.do("album A")
	choose := "press " + c.find("SUP-2")
	r := c.do(choose)
	c.wantSaid("ack.ticket", "ticket", "SUP-2 · Заголовок SUP-2")
	c.wantJobs("ticket.comment telegram:77:1", "ticket.comment telegram:77:2", "ticket.comment album:telegram:77:1099511627777:A")
	for i := range r.Jobs {
		if got := payload[ticket.Comment](t, r, i).Ref.Draft; got != "draftsup2" {
			t.Errorf("job %d: got %q", i, got)
		}
	}
	t.Run("double tap", func(t *testing.T) {
		c.do(choose)
		c.wantSaid("ask.answered")
		c.wantJobs()
	})
	t.Run("late part of the album", func(t *testing.T) {
		r := c.do("album A")
		if got := payload[ticket.Comment](t, r, 0).Ref.Draft; got != "draftsup2" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("what follows soon", func(t *testing.T) {
		c.wait(14 * time.Minute)
		r := c.do("и ещё")
		if got := payload[ticket.Comment](t, r, 0).Ref.Draft; got != "draftsup2" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("much later", func(t *testing.T) {
		c.wait(16 * time.Minute)
		c.do("и ещё")
		c.wantSaid("ask.which")
	})
}

func TestText_ManyOpenAreTurnedPageByPage(t *testing.T) {
	t.Parallel()
	var all []ticket.Summary
	for i := range 11 {
		all = append(all, summary(fmt.Sprintf("SUP-%d", i), ticket.PhaseOpen, time.Duration(i)*time.Hour))
	}
	c := newChat(t, all...)
	c.do("Сообщение")
	c.do("btn Ещё ›")
	c.do("btn Ещё ›")
	c.do("btn SUP-10")
	c.wantJobs("ticket.comment telegram:77:1")
}

func TestAsk_NewTicketAndDrop(t *testing.T) {
	t.Parallel()
	t.Run("offer", func(t *testing.T) {
		t.Parallel()
		c := newChat(t)
		c.do("Не работает\nпочта")
		c.wantSaid("ask.offer")
		c.do("btn Новое обращение")
		c.wantSaid("form.category")
		c.do("btn Что-то")
		c.do("btn «Не работает»")
		r := c.do("btn Отправить")
		got := payload[ticket.Create](t, r, 0)
		if got.Subject != "Не работает" || len(got.Messages) != 1 || got.Messages[0].Key != "telegram:77:1" {
			t.Errorf("create: got %+v", got)
		}
	})
	t.Run("answered through the menu", func(t *testing.T) {
		t.Parallel()
		c := newChat(t)
		c.do("Почта")
		c.do("/new")
		if c.s.Ask != nil || len(c.s.Form.Parts) != 1 {
			t.Errorf("got ask %+v, form %+v", c.s.Ask, c.s.Form)
		}
	})
	t.Run("drop", func(t *testing.T) {
		t.Parallel()
		c := newChat(t)
		c.do("Почта")
		c.do("btn Не отправлять")
		c.wantSaid("ask.dropped")
		c.wantJobs()
	})
	t.Run("cancel", func(t *testing.T) {
		t.Parallel()
		c := newChat(t)
		c.do("Почта")
		c.do("/cancel")
		c.wantSaid("ask.dropped")
		c.do("/cancel")
		c.wantSaid("cancel.nothing")
	})
	t.Run("lost", func(t *testing.T) {
		t.Parallel()
		c := newChat(t)
		c.do("press a:abcdefgh:n")
		c.wantSaid("stale.form")
	})
	t.Run("a ticket that was not offered", func(t *testing.T) {
		t.Parallel()
		c := newChat(t, summary("SUP-1", ticket.PhaseOpen, 0), summary("SUP-2", ticket.PhaseOpen, 0))
		c.do("Почта")
		c.do("press a:" + c.s.Ask.ID + ":t:i5f0c")
		c.wantSaid("stale")
		c.wantJobs()
	})
	t.Run("too many wait", func(t *testing.T) {
		t.Parallel()
		c := newChat(t)
		for range 51 {
			c.do("Почта")
		}
		c.wantSaid("ask.full")
	})
	t.Run("one is open by now", func(t *testing.T) {
		t.Parallel()
		c := newChat(t)
		c.do("Почта")
		c.v.Tickets.List = []ticket.Summary{summary("SUP-1", ticket.PhaseOpen, 0)}
		c.do("Алло")
		c.wantJobs("ticket.comment telegram:77:1", "ticket.comment telegram:77:2")
	})
}

func TestText_AfterResolution(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		s    ticket.Summary
		want string
	}{
		{"yesterday", summary("SUP-1", ticket.PhaseResolved, 24*time.Hour), "ask.reopen"},
		{"three days", summary("SUP-1", ticket.PhaseResolved, dialog.ReopenWindow), "ask.reopen"},
		{"longer ago", summary("SUP-1", ticket.PhaseResolved, dialog.ReopenWindow+time.Second), "ask.offer"},
		{"closed for good", summary("SUP-1", ticket.PhaseClosed, time.Hour), "ask.offer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := newChat(t, tt.s)
			c.do("Опять сломалось")
			c.wantSaid(tt.want)
		})
	}
}

func TestText_ListUnknown(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.v.Tickets = dialog.Tickets{}
	r := c.do("Сообщение")
	c.wantSaid("ack.later")
	c.wantJobs("event.again again:telegram:77:1")
	ev := payload[ticket.Again](t, r, 0).Event
	if ev.Key != "telegram:77:1" || ev.Text != "Сообщение" || r.Jobs[0].Sequence != c.seq {
		t.Errorf("again: got %+v at %d", ev, r.Jobs[0].Sequence)
	}
	c.do("Второе")
	c.wantSilence()
	c.wantJobs("event.again again:telegram:77:2")
	c.do("/new") // a form that was begun meanwhile is left alone
	c.v.Again, c.v.Tickets = true, dialog.Tickets{Known: true, List: []ticket.Summary{summary("SUP-1", ticket.PhaseOpen, 0)}}
	c.wait(time.Minute)
	r = c.handle(ev)
	c.wantJobs("ticket.comment telegram:77:1")
	if got := payload[ticket.Comment](t, r, 0).Message; got.Late || got.Text != "Сообщение" {
		t.Errorf("comment: got %+v", got)
	}
	if len(c.s.Form.Parts) != 0 {
		t.Error("the form took it")
	}
}

func TestText_LateIsMarked(t *testing.T) {
	t.Parallel()
	c := newChat(t, summary("SUP-1", ticket.PhaseOpen, 0))
	first, second := c.message("1"), c.message("2")
	c.handle(second)
	r := c.handle(first)
	got := payload[ticket.Comment](t, r, 0).Message
	if !got.Late || r.Jobs[0].Sequence != first.Sequence {
		t.Errorf("got %+v at %d", got, r.Jobs[0].Sequence)
	}
}

func TestMessage_EveryKindOfContentReachesTheTicket(t *testing.T) {
	t.Parallel()
	contents := map[string]messenger.Content{
		"text":     {Text: "a", Markdown: "**a**"},
		"voice":    {Attachments: []messenger.Attachment{{Kind: messenger.Voice, Ref: "r", Name: "voice.ogg"}}},
		"location": {Location: &messenger.Location{Latitude: 55.75, Longitude: 37.61}},
		"contact":  {Contact: &messenger.Contact{Name: "n", Phone: "p"}},
		"forward":  {Quotes: []messenger.Quote{{Kind: "forward", Author: "a", Text: "t"}}},
		"dice":     {Notes: []string{"dice: 5"}},
	}
	for name, content := range contents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newChat(t, summary("SUP-1", ticket.PhaseOpen, 0))
			ev := c.message("")
			ev.Content = content
			got := payload[ticket.Comment](t, c.handle(ev), 0).Message.Content
			if diff := cmp.Diff(content, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestMessage_WhatCannotBeCarriedIsTold(t *testing.T) {
	t.Parallel()
	c := newChat(t, summary("SUP-1", ticket.PhaseOpen, 0))
	c.v.Download = 20 << 20
	ev := c.message("смотрите")
	ev.Unsupported = []string{"story", "hologram"}
	ev.Attachments = []messenger.Attachment{{Kind: messenger.Video, Ref: "r", Name: "v.mp4", Size: 21 << 20}}
	c.handle(ev)
	c.wantSaid("unsupported", "what", "история, hologram")
	c.wantSaid("file.too_large", "limit", "20")
	c.wantJobs("ticket.comment telegram:77:1")
	if n := len(c.last.Replies); n != 1 {
		t.Errorf("got %d replies, want one", n)
	}
	only := c.message("")
	only.Unsupported = []string{"story"}
	c.handle(only)
	c.wantSaid("unsupported", "what", "история")
	c.wantJobs()
	quoted := c.message("") // and inside a forward
	quoted.Quotes = []messenger.Quote{{Kind: "forward", Attachments: []messenger.Attachment{{Name: "x", Size: 1 << 40}}}}
	c.handle(quoted)
	c.wantSaid("file.too_large", "limit", "20")
	c.handle(c.message("")) // nothing at all
	c.wantSilence()
}
