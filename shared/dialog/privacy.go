package dialog

import (
	"supportbot/shared/messenger"
	"supportbot/shared/person"
)

// privacy tells what is known of the customer, hands it out, or asks whether it is to
// be erased.
func (t *turn) privacy(name string) {
	menu := button(t.say("button.menu"), "m", "menu")
	switch name {
	case "export":
		t.export()
	case "forget":
		t.reply(t.say("forget"), messenger.Keyboard{
			{button(t.say("button.forget_yes"), "e", "yes")}, {button(t.say("button.forget_no"), "e", "no")},
		})
	default:
		t.reply(t.say("data"), messenger.Keyboard{
			{button(t.say("button.export"), "m", "export")}, {button(t.say("button.forget"), "m", "forget")}, {menu},
		})
	}
}

func (t *turn) export() {
	id := t.v.Person.ID
	if id == 0 {
		t.menu(t.say("access.unavailable"))
		return
	}
	j := person.ExportJob(person.Export{Person: id, Address: t.ev.Address}, t.v.Now)
	j.CorrelationID = t.ev.Key
	t.out.Jobs = append(t.out.Jobs, j)
	t.reply(t.say("export.begun"), nil)
}

// erase begins the erasure that was asked for and confirmed. What the conversation
// remembers goes at once: it is of no use to anybody any more.
func (t *turn) erase(verb string) {
	switch id := t.v.Person.ID; {
	case verb == "no":
		t.menu(t.say("forget.kept"))
	case verb != "yes":
		t.stale()
	case id == 0:
		t.menu(t.say("access.unavailable"))
	default:
		t.out.Jobs = append(t.out.Jobs, person.EraseJob(id)) // under its own name: an event's may have the chat in it
		t.s = State{Last: t.s.Last}
		t.reply(t.say("forget.begun"), nil)
	}
}
