package dialog_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/dialog"
	"supportbot/shared/messenger"
	"supportbot/shared/ticket"
)

// forwards are messages that have no text of the customer's own: what they carry
// is in somebody else's words.
func forwards() map[string]messenger.Content {
	return map[string]messenger.Content{
		"a photo without a caption": {Quotes: []messenger.Quote{
			{Kind: "forward", Author: "Борис", Attachments: []messenger.Attachment{photo("p.jpg")}},
		}},
		"words": {Quotes: []messenger.Quote{{Kind: "forward", Author: "vk.com/id5", Text: "Ошибка 17"}}},
		"several, nested": {Quotes: []messenger.Quote{
			{Kind: "forward", Author: "vk.com/id5"}, {Kind: "forward", Author: "vk.com/id6", Text: "Ошибка 17"},
		}},
	}
}

// forward sends such a message.
func (c *chat) forward(content messenger.Content) dialog.Result {
	c.t.Helper()
	ev := c.message("")
	ev.Content = content
	return c.handle(ev)
}

func TestForward_IsTheDescription(t *testing.T) {
	t.Parallel()
	for name, content := range forwards() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newChat(t)
			for _, what := range []string{"/new", "btn Вопрос", "Принтер не печатает"} {
				c.do(what)
			}
			c.wantSaid("form.description")
			c.forward(content)
			c.wantSaid("summary.title")
			if len(content.Quotes[0].Attachments) > 0 {
				c.wantSaid("summary.files", "n", "1")
			}
			got := payload[ticket.Create](t, c.do("btn Отправить"), 0)
			if len(got.Messages) != 1 {
				t.Fatalf("got %d messages, want the forwarded one", len(got.Messages))
			}
			if diff := cmp.Diff(content, got.Messages[0].Content); diff != "" || got.Subject != "Принтер не печатает" {
				t.Errorf("subject %q, content (-want +got):\n%s", got.Subject, diff)
			}
		})
	}
}

// Before the description is asked for, a forwarded message is kept for it and
// stands in for nothing else.
func TestForward_IsKeptAtEarlierSteps(t *testing.T) {
	t.Parallel()
	for name, content := range forwards() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newChat(t)
			c.do("/new")
			c.forward(content)
			c.wantSaid("form.kept")
			c.wantSaid("form.category")
			c.do("btn Вопрос")
			c.forward(content)
			c.wantSaid("form.kept")
			c.wantSaid("form.subject")
			c.do("Принтер не печатает")
			c.wantSaid("summary.title")
			got := payload[ticket.Create](t, c.do("btn Отправить"), 0)
			if len(got.Messages) != 2 || got.Subject != "Принтер не печатает" {
				t.Errorf("got %d messages and the subject %q, want both forwarded ones", len(got.Messages), got.Subject)
			}
		})
	}
}

// To an open ticket it is a comment, without one it is asked where it belongs.
func TestForward_OutsideAForm(t *testing.T) {
	t.Parallel()
	for name, content := range forwards() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newChat(t, summary("SUP-1", ticket.PhaseOpen, 0))
			r := c.forward(content)
			if diff := cmp.Diff(content, payload[ticket.Comment](t, r, 0).Message.Content); diff != "" {
				t.Errorf("comment (-want +got):\n%s", diff)
			}
			c = newChat(t)
			c.forward(content)
			c.wantSaid("ask.offer")
		})
	}
}
