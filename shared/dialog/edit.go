package dialog

import (
	"slices"

	"supportbot/shared/messenger"
)

// edit handles the new content of an earlier message: in a form or a question it
// replaces the old one, in a ticket it follows it, marked as an edit.
func (t *turn) edit() {
	if t.ev.Command != "" || t.ev.Content.Empty() || livePosition(t.ev.Content) {
		return
	}
	p := t.part(false)
	p.Album = ""
	if f := t.s.Form; f != nil && t.editForm(f, p) {
		f.At = t.v.Now
		t.prompt()
		return
	}
	if a := t.s.Ask; a != nil {
		if i := indexPart(a.Parts, p.ID); i >= 0 {
			t.replace(a.Parts, i, p, "ask.full")
			return
		}
	}
	p.Edited = true
	if ref, ok := find(t.s.Places, p.ID); ok {
		t.comment(p, ref)
		return
	}
	if !t.tickets().Known {
		t.again()
		return
	}
	open := t.open()
	if len(open) == 0 {
		t.reply(t.say("edit.nowhere"), MenuKeyboard(t.locale))
		return
	}
	// Nothing remembers the message; the ticket touched last is the likeliest,
	// and the agent sees that it is an edit.
	t.comment(p, open[0].Ref)
}

// editForm replaces what came from the message; false when nothing did.
func (t *turn) editForm(f *Form, p Part) bool {
	i := indexPart(f.Parts, p.ID)
	titled := p.ID != "" && f.SubjectFrom == p.ID
	if i < 0 && !titled {
		return false
	}
	if i >= 0 && !t.replace(f.Parts, i, p, "form.full") {
		return true
	}
	if s := line(firstLine(p.Text), subjectLimit); titled && s != "" {
		f.Subject = s
	}
	t.note("form.edited")
	return true
}

func indexPart(parts []Part, id string) int {
	if id == "" {
		return -1
	}
	return slices.IndexFunc(parts, func(p Part) bool { return p.ID == id })
}

// replace gives a waiting message its new content; false when there is no room for
// it, and the old one stays.
func (t *turn) replace(parts []Part, i int, p Part, full string) bool {
	others := slices.Delete(slices.Clone(parts), i, i+1)
	if !t.room(others, p, full) {
		return false
	}
	parts[i].Content = p.Content
	return true
}

// livePosition: a shared live location is edited every few seconds; the ticket
// has the point from which it was shared.
func livePosition(c messenger.Content) bool {
	if c.Location == nil {
		return false
	}
	c.Location = nil
	return c.Empty()
}
