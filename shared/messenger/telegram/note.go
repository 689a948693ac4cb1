package telegram

import (
	"fmt"
	"strings"
)

// notes says in words what has neither text nor file.
func (m message) notes() []string {
	var notes []string
	if p := m.Poll; p != nil {
		parts := []string{p.Question}
		for _, o := range p.Options {
			parts = append(parts, o.Text)
		}
		notes = append(notes, "poll: "+strings.Join(parts, " / "))
	}
	if d := m.Dice; d != nil {
		notes = append(notes, fmt.Sprintf("dice: %d %s", d.Value, d.Emoji))
	}
	if g := m.Game; g != nil {
		notes = append(notes, "game: "+g.Title)
	}
	if c := m.later.Checklist; c != nil {
		parts := []string{c.Title}
		for _, t := range c.Tasks {
			mark := "[ ] "
			if t.Completed > 0 {
				mark = "[x] "
			}
			parts = append(parts, mark+t.Text)
		}
		notes = append(notes, "checklist: "+strings.Join(parts, " / "))
	}
	return notes
}
