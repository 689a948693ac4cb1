package dialog_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/ticket"
)

func TestForm_Album(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	for _, what := range []string{"/new", "btn Вопрос", "Тема"} {
		c.do(what)
	}
	said := 0
	for range 3 {
		c.do("album A")
		if c.said() != "" {
			said++
		}
	}
	if said != 1 {
		t.Errorf("acknowledged %d times, want once", said)
	}
	id := c.s.Form.ID
	confirm := "press " + c.find("Отправить")
	r := c.do(confirm)
	if got := len(payload[ticket.Create](t, r, 0).Messages); got != 3 {
		t.Errorf("create: got %d messages, want 3", got)
	}
	r = c.do("album A") // late, after the confirmation
	c.wantSilence()
	got := payload[ticket.Comment](t, r, 0)
	if got.Ref != (ticket.Ref{Draft: id}) || r.Jobs[0].Key != "album:telegram:77:1099511627777:A" {
		t.Errorf("late part: got %+v in %q", got.Ref, r.Jobs[0].Key)
	}
	if g := r.Jobs[0].Gather; g == nil || g.Member != got.Message.Key || g.Wait != 9*time.Second || g.Cap != 12*time.Second {
		t.Errorf("gather: got %+v", r.Jobs[0].Gather)
	}
}

func TestForm_AlbumOfACancelledForm(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	for _, what := range []string{"/new", "btn Вопрос", "Тема", "album A", "/cancel", "album A"} {
		c.do(what)
	}
	c.wantSilence()
	c.wantJobs()
	if c.s.Ask != nil {
		t.Error("the rest of the album asks where it belongs")
	}
}

func TestForm_LateMessageNeverAdvances(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.do("/new")
	c.do("btn Вопрос")
	first, second := c.message("Первое"), c.message("Второе")
	c.handle(second)
	if c.s.Form.Subject != "Второе" {
		t.Fatalf("subject: got %q", c.s.Form.Subject)
	}
	step := c.s.Form.Step
	c.handle(first)
	c.wantSaid("late.kept")
	if c.s.Form.Step != step || c.s.Form.Subject != "Второе" {
		t.Errorf("the form went to %q", c.s.Form.Step)
	}
	if p := c.s.Form.Parts; len(p) != 1 || !p[0].Late || p[0].Text != "Первое" {
		t.Errorf("parts: got %+v", p)
	}
	late := c.message("/cancel")
	c.do("ещё")
	late.Sequence = first.Sequence
	c.handle(late)
	c.wantSaid("late.command")
	if c.s.Form == nil {
		t.Error("an overtaken /cancel ended the form")
	}
}

func TestForm_PartsStayInOrder(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.filled()
	early, later := c.message("2"), c.message("3")
	c.handle(later)
	c.handle(early)
	var got []string
	for _, m := range payload[ticket.Create](t, c.do("btn Отправить"), 0).Messages {
		got = append(got, m.Text)
	}
	if want := []string{"Горит красная лампа", "2", "3"}; !cmp.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestForm_Full(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.filled()
	for range 60 {
		c.do("ещё")
	}
	c.wantSaid("form.full")
	if got := len(c.s.Form.Parts); got != 50 {
		t.Errorf("got %d parts", got)
	}
}
