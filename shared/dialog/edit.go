package dialog

import (
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
	if f := t.s.Form; f != nil && f.edit(p) {
		f.At = t.v.Now
		t.note("form.edited")
		t.prompt()
		return
	}
	if a := t.s.Ask; a != nil && replacePart(a.Parts, p) {
		return
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

// edit replaces what came from the message; false when nothing did.
func (f *Form) edit(p Part) bool {
	done := replacePart(f.Parts, p)
	if p.ID != "" && f.SubjectFrom == p.ID {
		if s := line(firstLine(p.Text), subjectLimit); s != "" {
			f.Subject = s
		}
		done = true
	}
	return done
}

func replacePart(parts []Part, p Part) bool {
	for i := range parts {
		if p.ID != "" && parts[i].ID == p.ID {
			parts[i].Content = p.Content
			return true
		}
	}
	return false
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
