package dialog_test

import (
	"testing"

	"supportbot/shared/ticket"
)

// FuzzText: whatever somebody writes, a link's payload or a code among it, is answered at
// any step of the form.
func FuzzText(f *testing.F) {
	for _, text := range []string{"/start", "/start vopros", "/start tag-vip", "/start \x00", "/link ABCD-EFGH", "/link", "/cancel x", "/", "//", "/forget", "/console", " ", "\u202e", "\xff", "Привет 👋🏽"} {
		for steps := range 4 {
			f.Add(text, steps)
		}
	}
	f.Fuzz(func(t *testing.T, text string, steps int) {
		if text == "" { // says nothing
			return
		}
		c := newChat(t, summary("SUP-1", ticket.PhaseOpen, 0), summary("SUP-2", ticket.PhaseOpen, 0))
		for _, what := range []string{"/new", "btn Вопрос", "Принтер не печатает"}[:min(max(steps, 0), 3)] {
			c.do(what)
		}
		c.handle(c.message(text))
		if len(c.last.Replies) == 0 {
			t.Errorf("%q got no answer", text)
		}
	})
}
