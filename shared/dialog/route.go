package dialog

import (
	"slices"
	"strconv"

	"supportbot/shared/messenger"
	"supportbot/shared/ticket"
)

const (
	askRows     = 4 // tickets on one page of the question: two rows are for other answers
	reopenRows  = 3
	titleLength = 60
)

// free routes a message that no form takes.
func (t *turn) free(p Part) {
	if t.s.Target != nil && t.toTarget(p) {
		return
	}
	if !t.tickets().Known {
		t.again()
		return
	}
	open, resolved := t.open(), t.resolved()
	switch {
	case len(open) == 1:
		t.deliver(p, open[0])
	case len(open) > 1:
		t.ask(AskWhich, p, open)
	case len(resolved) > 0:
		t.ask(AskReopen, p, resolved[:min(len(resolved), reopenRows)])
	default:
		t.ask(AskOffer, p, nil)
	}
}

// toTarget sends the message to the ticket that was chosen; false when that one
// is known to be no longer open.
func (t *turn) toTarget(p Part) bool {
	ref := t.s.Target.Ref
	if s := t.find(ref); s != nil && !s.Open() && !t.s.Target.Reopened {
		t.s.Target = nil
		return false
	}
	t.s.Target.Until = t.v.Now.Add(targetLife)
	t.comment(p, ref)
	t.acknowledge("ack.ticket", "ticket", t.name(ref))
	return true
}

func (t *turn) deliver(p Part, s ticket.Summary) {
	// A question that waits has lost its point: what it holds goes the same way.
	if t.s.Ask != nil {
		for _, waiting := range t.takeAsk() {
			t.comment(waiting, s.Ref)
		}
	}
	t.comment(p, s.Ref)
	t.acknowledge("ack.ticket", "ticket", title(s))
}

// acknowledge tells that a message arrived, once for a burst of them.
func (t *turn) acknowledge(key string, pairs ...string) {
	if t.v.Now.Sub(t.s.AckAt) < ackPause {
		return
	}
	t.s.AckAt = t.v.Now
	t.reply(t.say(key, pairs...), nil)
}

// ask keeps the message and asks where it belongs, once for a burst.
func (t *turn) ask(kind AskKind, p Part, offered []ticket.Summary) {
	a := t.s.Ask
	if a == nil {
		a = &Ask{ID: shortID("ask", t.ev.Key, askID)}
	}
	changed := a.Kind != kind
	a.Kind = kind
	if !t.wait(a, p) {
		return
	}
	t.s.Ask = a
	refs := make([]ticket.Ref, len(offered))
	for i, s := range offered {
		refs[i] = s.Ref
	}
	changed = changed || !slices.Equal(refs, a.Refs)
	a.Refs = refs
	if !changed && t.v.Now.Sub(a.At) < ackPause {
		return
	}
	a.At = t.v.Now
	t.question(a, 0)
}

// wait keeps a message with a question; false when there is no room for it.
func (t *turn) wait(a *Ask, p Part) bool {
	if !t.room(a.Parts, p, "ask.full") {
		if len(a.Parts) > 0 {
			t.question(a, 0)
		}
		return false
	}
	a.Parts = append(a.Parts, p)
	return true
}

func (t *turn) question(a *Ask, page int) {
	var rows messenger.Keyboard
	drop := button(t.say("button.drop"), "a", a.ID, "x")
	fresh := button(t.say("menu.new"), "a", a.ID, "n")
	switch a.Kind {
	case AskWhich:
		from, to, page, pages := window(len(a.Refs), askRows, page)
		for _, ref := range a.Refs[from:to] {
			rows = append(rows, []messenger.Button{button(t.name(ref), "a", a.ID, "t", ref.String())})
		}
		if nav := turnRow(t.locale, page, pages, "a", a.ID, "p"); nav != nil {
			rows = append(rows, nav)
		}
		t.reply(t.say("ask.which"), append(rows, []messenger.Button{fresh, drop}))
	case AskReopen:
		for _, ref := range a.Refs {
			rows = append(rows, []messenger.Button{button(t.say("button.reopen_one", "ticket", t.name(ref)), "a", a.ID, "r", ref.String())})
		}
		t.reply(t.say("ask.reopen"), append(rows, []messenger.Button{fresh, drop}))
	case AskOffer:
		t.reply(t.say("ask.offer"), messenger.Keyboard{{fresh, drop}})
	}
}

func (t *turn) askPress(id, verb, arg string) {
	a := t.s.Ask
	if a == nil || a.ID != id {
		if _, ok := t.s.ended(id); ok {
			t.menu(t.say("ask.answered"))
			return
		}
		t.menu(t.say("stale.form"))
		return
	}
	ref, ok := parseRef(arg)
	ok = ok && slices.Contains(a.Refs, ref)
	switch {
	case verb == "p":
		n, _ := strconv.Atoi(arg)
		t.question(a, n)
	case verb == "n":
		t.newForm(t.takeAsk())
	case verb == "x":
		t.dropAsk()
		t.menu(t.say("ask.dropped"))
	case verb == "t" && ok && a.Kind == AskWhich:
		for _, p := range t.takeAsk() {
			t.comment(p, ref)
		}
		t.target(ref)
		t.s.AckAt = t.v.Now
		t.reply(t.say("ack.ticket", "ticket", t.name(ref)), nil)
	case verb == "r" && ok && a.Kind == AskReopen:
		t.reopen(ref, t.ev.Key, t.takeAsk())
	default:
		t.stale()
	}
}

// reopen takes a ticket back to work with the messages that asked for it.
func (t *turn) reopen(ref ticket.Ref, key string, parts []Part) {
	r := ticket.Reopen{Customer: t.customer(), Ref: ref, At: t.v.Now}
	if len(parts) > 0 && parts[0].Album == "" {
		first := parts[0]
		r.Message = &first.Message
		t.s.place(first, ref)
		parts = parts[1:]
	}
	t.add(ticket.KindReopen, key, t.sequence(), r)
	for _, p := range parts {
		p.Sequence = t.sequence() // behind the reopening
		t.comment(p, ref)
	}
	t.target(ref)
	t.s.Target.Reopened = true
	t.reply(t.say("reopened", "ticket", t.name(ref)), nil)
}

// takeAsk ends the question and gives what waited.
func (t *turn) takeAsk() []Part {
	a := t.s.Ask
	t.s.end(a.ID, Answered, t.v.Now)
	t.s.Ask = nil
	return a.Parts
}

// waiting gives what waits for an answer that was given elsewhere: by the button of
// an earlier message.
func (t *turn) waiting(kind AskKind) []Part {
	if t.s.Ask == nil || t.s.Ask.Kind != kind {
		return nil
	}
	return t.takeAsk()
}

func (t *turn) dropAsk() {
	for _, p := range t.takeAsk() {
		t.s.place(Part{Album: p.Album}, ticket.Ref{})
	}
}

// target makes a ticket take what comes next.
func (t *turn) target(ref ticket.Ref) {
	t.s.Target = &Target{Ref: ref, At: t.v.Now, Until: t.v.Now.Add(targetLife)}
}

// chosenAfter reports whether a ticket was chosen after the form was touched.
func (t *turn) chosenAfter(f *Form) bool {
	return t.s.Target != nil && !t.s.Target.At.Before(f.At)
}
