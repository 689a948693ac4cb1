package dialog_test

import (
	"testing"
	"time"

	"supportbot/shared/dialog"
	"supportbot/shared/messenger"
	"supportbot/shared/ticket"
)

// edited is the edit of an earlier message.
func (c *chat) edited(old messenger.Event, text string) messenger.Event {
	ev := c.event(messenger.EventEdit)
	ev.Sequence, ev.MessageID, ev.Text, ev.Album = old.Sequence, old.MessageID, text, old.Album
	return ev
}

func TestEdit_InTheForm(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.do("/new")
	c.do("btn Вопрос")
	subject, text := c.message("Тима"), c.message("Описанее")
	c.handle(subject)
	c.handle(text)
	c.handle(c.edited(subject, "Тема"))
	c.wantSaid("form.edited")
	c.wantSaid("summary.subject", "subject", "Тема")
	c.handle(c.edited(text, "Описание"))
	c.wantSaid("summary.text", "text", "Описание")
	c.wantJobs()
	id := c.s.Form.ID
	r := c.do("btn Отправить")
	got := payload[ticket.Create](t, r, 0)
	if got.Subject != "Тема" || got.Messages[0].Text != "Описание" || got.Messages[0].Key != text.Key {
		t.Errorf("create: got %+v", got)
	}
	// Sent by now: the edit follows as one.
	for _, old := range []messenger.Event{subject, text} {
		edit := c.edited(old, "Описание!")
		r = c.handle(edit)
		c.wantJobs("ticket.comment " + edit.Key)
		m := payload[ticket.Comment](t, r, 0)
		if !m.Message.Edited || m.Ref != (ticket.Ref{Draft: id}) || m.Message.Text != "Описание!" {
			t.Errorf("edit: got %+v", m)
		}
		if r.Jobs[0].Sequence != c.s.Last {
			t.Errorf("sequence: got %d, want it behind all that was seen, %d", r.Jobs[0].Sequence, c.s.Last)
		}
		c.wantSilence()
	}
}

func TestEdit_OfAWaitingMessage(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	m := c.message("Поста")
	c.handle(m)
	c.handle(c.edited(m, "Почта"))
	c.wantSilence()
	if got := c.s.Ask.Parts[0].Text; got != "Почта" || c.s.Ask.Parts[0].Key != m.Key {
		t.Errorf("got %q", got)
	}
}

func TestEdit_GoesWhereTheMessageWent(t *testing.T) {
	t.Parallel()
	a, b := summary("SUP-1", ticket.PhaseOpen, time.Hour), summary("SUP-2", ticket.PhaseOpen, time.Minute)
	c := newChat(t, a)
	m := c.message("текст")
	c.handle(m)
	c.v.Tickets.List = []ticket.Summary{a, b}
	r := c.handle(c.edited(m, "тест"))
	if got := payload[ticket.Comment](t, r, 0).Ref; got != a.Ref {
		t.Errorf("got %+v, want where the message went", got)
	}
	unknown := c.edited(messenger.Event{Sequence: 5, MessageID: "5"}, "давнее")
	r = c.handle(unknown)
	if got := payload[ticket.Comment](t, r, 0).Ref; got != b.Ref {
		t.Errorf("got %+v, want the ticket touched last", got)
	}
}

func TestEdit_OfAnAlbumsPartIsNoPart(t *testing.T) {
	t.Parallel()
	c := newChat(t, summary("SUP-1", ticket.PhaseOpen, 0))
	m := c.message("подпись")
	m.Album = "A"
	c.handle(m)
	edit := c.edited(m, "подпись!")
	r := c.handle(edit)
	if r.Jobs[0].Gather != nil || r.Jobs[0].Key != edit.Key {
		t.Errorf("got %+v", r.Jobs[0])
	}
}

func TestEdit_Nowhere(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.handle(c.edited(messenger.Event{Sequence: 5, MessageID: "5"}, "давнее"))
	c.wantSaid("edit.nowhere")
	c.wantJobs()
	c.v.Tickets = dialog.Tickets{}
	ev := c.edited(messenger.Event{Sequence: 5, MessageID: "5"}, "давнее")
	c.handle(ev)
	c.wantJobs("event.again again:" + ev.Key)
}

func TestEdit_IgnoresCommandsAndLivePositions(t *testing.T) {
	t.Parallel()
	c := newChat(t, summary("SUP-1", ticket.PhaseOpen, 0))
	command := c.edited(messenger.Event{Sequence: 5, MessageID: "5"}, "/start")
	command.Command = "start"
	live := c.edited(messenger.Event{Sequence: 6, MessageID: "6"}, "")
	live.Location = &messenger.Location{Latitude: 1, Longitude: 2}
	for _, ev := range []messenger.Event{command, live} {
		c.handle(ev)
		c.wantSilence()
		c.wantJobs()
	}
}
