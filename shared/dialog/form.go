package dialog

import (
	"slices"
	"strconv"
	"strings"

	"supportbot/shared/messenger"
	"supportbot/shared/ticket"
)

const (
	subjectLimit = 200 // Tracker keeps 255 characters
	draftID      = 12  // characters of base 32: 60 bits
	askID        = 8
)

// newForm starts a form with messages that are already there, or goes on with
// the one that is open.
func (t *turn) newForm(parts []Part) {
	t.s.Target, t.s.Remark = nil, nil
	if a := t.s.Ask; parts == nil && a != nil && a.Kind != AskWhich {
		parts = t.takeAsk() // the answer to the question, given through the menu
	}
	if f := t.s.Form; f != nil {
		f.At = t.v.Now
		t.note("form.unfinished")
		for _, p := range parts {
			if !t.keep(f, p) {
				break // said once
			}
		}
	} else {
		t.openForm("", parts)
	}
	t.prompt()
}

func (t *turn) openForm(category string, parts []Part) {
	f := &Form{ID: shortID("form", t.ev.Key, draftID), Step: StepCategory, At: t.v.Now, Parts: parts}
	if category != "" {
		f.Category, f.Step = category, StepSubject
	}
	t.s.Form = f
}

// formInput takes a message into the form. Only the message that the form waits
// for advances it; any other is kept as a part of the description.
func (t *turn) formInput(f *Form, p Part) {
	f.At = t.v.Now
	following := holds(f.Parts, p.Album)
	switch {
	case following:
		if t.keep(f, p) {
			return // acknowledged with the album's first part
		}
	case p.Late:
		t.keepAside(f, p, "late.kept")
	case f.Step == StepCategory:
		g, ok := t.titled(p)
		if !ok {
			t.keepAside(f, p, "form.kept")
			break
		}
		f.Category, f.Step = g, StepSubject
	case f.Step == StepSubject:
		t.subject(f, p)
	case t.keep(f, p):
		f.Step = StepConfirm
	}
	t.prompt()
}

// subject takes the first line; what does not fit into it is description.
func (t *turn) subject(f *Form, p Part) {
	subject := line(firstLine(p.Text), subjectLimit)
	if subject == "" {
		t.keepAside(f, p, "form.kept")
		return
	}
	f.Subject, f.SubjectFrom = subject, p.ID
	c := p.Content
	whole := subject == strings.TrimSpace(p.Text)
	c.Text, c.Markdown = "", ""
	if !whole || !c.Empty() {
		t.keep(f, p)
	}
	t.afterSubject(f)
}

func (t *turn) afterSubject(f *Form) {
	f.Step = StepDescription
	if len(f.Parts) > 0 {
		f.Step = StepConfirm
	}
}

// titled finds the category that a customer typed, and nothing else, instead of
// pressing.
func (t *turn) titled(p Part) (string, bool) {
	rest := p.Content
	rest.Text, rest.Markdown = "", ""
	if !rest.Empty() {
		return "", false
	}
	for _, g := range t.v.Catalogue.Categories {
		for _, title := range g.Title {
			if strings.EqualFold(strings.TrimSpace(p.Text), title) {
				return g.Key, true
			}
		}
	}
	return "", false
}

// keepAside keeps a message that is not what the form waits for.
func (t *turn) keepAside(f *Form, p Part, said string) {
	if t.keep(f, p) {
		t.note(said)
	}
}

// keep adds a message, in the order in which they were written; false when there is
// no room for it.
func (t *turn) keep(f *Form, p Part) bool {
	if !t.room(f.Parts, p, "form.full") {
		return false
	}
	i := len(f.Parts)
	for i > 0 && p.Sequence > 0 && f.Parts[i-1].Sequence > p.Sequence {
		i--
	}
	f.Parts = slices.Insert(f.Parts, i, p)
	return true
}

func (t *turn) formPress(id string, step FormStep, verb, arg string) {
	f := t.s.Form
	if f == nil || f.ID != id {
		t.formOver(id)
		return
	}
	f.At = t.v.Now
	if verb == "x" {
		t.dropForm()
		t.menu(t.say("form.cancelled"))
		return
	}
	if step != f.Step {
		t.toast("stale.step")
		t.prompt()
		return
	}
	switch verb {
	case "b":
		t.back(f)
		return
	case "k":
		if _, ok := t.v.Catalogue.Category(arg); ok && step == StepCategory {
			f.Category, f.Step = arg, StepSubject
			if f.Subject != "" {
				t.afterSubject(f)
			}
		}
	case "p":
		n, _ := strconv.Atoi(arg)
		t.reply(t.say("form.category"), t.categories(f, n))
		return
	case "u":
		if subject := f.suggestion(); step == StepSubject && subject != "" {
			f.Subject, f.SubjectFrom = subject, ""
			t.afterSubject(f)
		}
	case "n":
		if step == StepDescription {
			f.Step = StepConfirm
		}
	case "ok":
		if step == StepConfirm {
			t.submit(f)
			return
		}
	}
	t.prompt()
}

func (t *turn) back(f *Form) {
	switch f.Step {
	case StepCategory:
		t.dropForm()
		t.menu(t.say("form.cancelled"))
		return
	case StepSubject:
		f.Step = StepCategory
	case StepDescription:
		f.Step = StepSubject
	case StepConfirm:
		f.Step = StepDescription
	}
	t.prompt()
}

// formOver answers the press of a button whose form is gone.
func (t *turn) formOver(id string) {
	e, ok := t.s.ended(id)
	switch {
	case !ok:
		t.menu(t.say("stale.form"))
	case e.How == Sent:
		t.menu(t.say("form.already_sent"))
	default:
		t.menu(t.say("form.already_cancelled"))
	}
}

func (t *turn) dropForm() {
	f := t.s.Form
	t.s.end(f.ID, Cancelled, t.v.Now)
	for _, p := range f.Parts {
		t.s.place(Part{Album: p.Album}, ticket.Ref{})
	}
	t.s.Form = nil
}

// submit makes the ticket. From here on the draft's id is its name.
func (t *turn) submit(f *Form) {
	if _, ok := t.v.Catalogue.Category(f.Category); !ok { // the operator took it away meanwhile
		f.Step = StepCategory
		t.prompt()
		return
	}
	ref := ticket.Ref{Draft: f.ID}
	create := ticket.Create{
		Draft: f.ID, Customer: t.customer(), Category: f.Category, Subject: f.Subject, At: t.v.Now,
	}
	for _, p := range f.Parts {
		create.Messages = append(create.Messages, p.Message)
		t.s.place(p, ref)
	}
	if t.s.Start != "" {
		create.Messages = append(create.Messages, ticket.Message{
			Key: t.ev.Key, At: t.v.Now,
			Content: messenger.Content{Notes: []string{"start: " + t.s.Start}},
		})
		t.s.Start = ""
	}
	if f.SubjectFrom != "" {
		t.s.place(Part{ID: f.SubjectFrom}, ref)
	}
	t.add(ticket.KindCreate, ticket.DraftKey(f.ID), t.sequence(), create)
	t.s.Form = nil
	t.s.end(f.ID, Sent, t.v.Now)
	t.s.Opened = keepLast(append(t.s.Opened, ticket.Summary{
		Ref: ref, Title: f.Subject, Status: "open", Phase: ticket.PhaseOpen, CreatedAt: t.v.Now, UpdatedAt: t.v.Now,
	}), keepOpened)
	t.reply(t.say("form.sent", "subject", f.Subject), messenger.Keyboard{
		{button(t.say("menu.tickets"), "m", "tickets"), button(t.say("button.menu"), "m", "menu")},
	})
}
