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

// stateLimit is what a state may weigh, bytes: it travels with every event.
const stateLimit = 600 << 10

// large is a message with n forwarded ones of full length.
func (c *chat) large(n int) messenger.Event {
	ev := c.message("<&>")
	for range n {
		ev.Quotes = append(ev.Quotes, messenger.Quote{Kind: "forward", Text: strings.Repeat("я", 4096)})
	}
	return ev
}

// step is handle without what it checks, which costs much with large states.
func (c *chat) step(ev messenger.Event) {
	c.t.Helper()
	c.s, c.last = dialog.Step(c.s, ev, c.v)
	if n := len(encode(c.t, c.s)); n > stateLimit {
		c.t.Fatalf("the state has %d bytes", n)
	}
}

func (c *chat) refused() bool {
	for _, key := range []string{"form.full", "ask.full", "message.too_large"} {
		if strings.Contains(c.said(), dialog.Text("ru", key)) {
			return true
		}
	}
	return false
}

// However much a customer sends, the state stays small, and they are told of what
// was not kept.
func TestRoom_StateStaysSmall(t *testing.T) {
	t.Parallel()
	for _, forwards := range []int{10, 100} {
		for _, form := range []bool{true, false} {
			c := newChat(t)
			if form {
				c.do("/new")
				c.do("btn Вопрос")
			}
			kept := 0
			for range 10 {
				c.wait(2 * time.Minute)
				c.step(c.large(forwards))
				if !c.refused() {
					kept++
				}
			}
			waiting := 0
			if f := c.s.Form; f != nil {
				waiting = len(f.Parts)
			}
			if a := c.s.Ask; a != nil {
				waiting = len(a.Parts)
			}
			if kept != waiting || kept == 10 {
				t.Errorf("%d forwards, form %v: %d messages wait and %d were not refused", forwards, form, waiting, kept)
			}
		}
	}
}

// An edit needs room too.
func TestRoom_Edits(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"/new", "/help"} {
		c := newChat(t)
		c.do(first)
		var sent []messenger.Event
		for range 10 {
			ev := c.message("мало")
			c.step(ev)
			sent = append(sent, ev)
		}
		refused := 0
		for _, ev := range sent {
			edited := c.large(10)
			edited.Kind, edited.MessageID, edited.Sequence = messenger.EventEdit, ev.MessageID, ev.Sequence
			c.step(edited)
			c.wantJobs()
			if c.refused() {
				refused++
			}
		}
		if refused == 0 || refused == len(sent) {
			t.Errorf("after %s: %d of %d edits were refused", first, refused, len(sent))
		}
	}
}

// A form that is full can still be given its category and subject, and be sent.
func TestRoom_FullFormCanBeFinished(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.do("/new")
	for range 60 {
		c.do("photo ")
	}
	c.wantSaid("form.full")
	c.do("Вопрос")
	c.do("Принтер не печатает")
	if f := c.s.Form; f == nil || f.Step != dialog.StepConfirm || f.Subject != "Принтер не печатает" {
		t.Fatalf("form: got %+v, want one to be confirmed", f)
	}
	if got := payload[ticket.Create](t, c.do("btn Отправить"), 0).Messages; len(got) != 50 {
		t.Errorf("got %d messages, want 50", len(got))
	}
}

// What waits with a question goes into the form as far as there is room; the
// customer is told of the rest.
func TestRoom_QuestionIntoFullForm(t *testing.T) {
	t.Parallel()
	c := newChat(t, summary("SUP-1", ticket.PhaseOpen, 0), summary("SUP-2", ticket.PhaseOpen, 0))
	for range 20 {
		c.do("Почта")
	}
	ask := c.s.Ask.ID
	c.do("/new")
	for range 40 {
		c.do("ещё")
	}
	c.do("press a:" + ask + ":n")
	c.wantSaid("form.full")
	if f := c.s.Form; f == nil || len(f.Parts) != 50 {
		t.Errorf("got %+v", f)
	}
}

func TestForm_TitleBesideAPhotoIsAMessage(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.do("/new")
	c.do("photo Вопрос")
	if f := c.s.Form; f.Step != dialog.StepCategory || len(f.Parts) != 1 {
		t.Errorf("got %+v, want the photo to be kept", f)
	}
	c.wantSaid("form.kept")
}

func TestMessage_ManyThingsThatCannotBeCarried(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	ev := c.message("x")
	for i := range 5000 {
		ev.Unsupported = append(ev.Unsupported, "story", fmt.Sprint("hologram ", i))
	}
	c.handle(ev) // checks the length
	if got := strings.Count(c.said(), dialog.Text("ru", "unsupported.story")); got != 1 {
		t.Errorf("said %d times that there was a story", got)
	}
}
