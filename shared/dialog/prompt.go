package dialog

import (
	"strconv"
	"strings"

	"supportbot/shared/messenger"
)

const excerpt = 300 // of the description in the summary, UTF-16 units

// prompt asks for what the form needs next.
func (t *turn) prompt() {
	f := t.s.Form
	switch f.Step {
	case StepCategory:
		t.reply(t.say("form.category"), t.categories(f, 0))
	case StepSubject:
		var rows messenger.Keyboard
		if s := f.suggestion(); s != "" {
			rows = append(rows, []messenger.Button{t.formButton(f, t.say("button.use", "text", s), "u")})
		}
		t.reply(t.say("form.subject"), append(rows, t.formNav(f)))
	case StepDescription:
		label := "button.skip"
		if len(f.Parts) > 0 {
			label = "button.go_on"
		}
		t.reply(t.say("form.description"), messenger.Keyboard{{t.formButton(f, t.say(label), "n")}, t.formNav(f)})
	case StepConfirm:
		t.reply(t.summary(f), messenger.Keyboard{{t.formButton(f, t.say("button.send"), "ok")}, t.formNav(f)})
	}
}

func (t *turn) formButton(f *Form, label string, fields ...string) messenger.Button {
	return button(label, append([]string{"f", f.ID, string(f.Step)}, fields...)...)
}

func (t *turn) formNav(f *Form) []messenger.Button {
	return []messenger.Button{t.formButton(f, t.say("button.back"), "b"), t.formButton(f, t.say("button.cancel"), "x")}
}

func (t *turn) categories(f *Form, page int) messenger.Keyboard {
	all := t.v.Catalogue.Categories
	from, to, page, pages := window(len(all), pageRows, page)
	var rows messenger.Keyboard
	for _, g := range all[from:to] {
		rows = append(rows, []messenger.Button{t.formButton(f, g.Title.In(t.locale), "k", g.Key)})
	}
	nav := turnRow(t.locale, page, pages, "f", f.ID, string(StepCategory), "p")
	return append(rows, append(nav, t.formNav(f)...))
}

// suggestion is a subject made of the messages that are already there.
func (f *Form) suggestion() string {
	for _, p := range f.Parts {
		if s := line(firstLine(p.Text), subjectLimit); s != "" {
			return s
		}
	}
	return ""
}

// summary shows what is about to be sent.
func (t *turn) summary(f *Form) string {
	g, _ := t.v.Catalogue.Category(f.Category)
	lines := []string{
		t.say("summary.title"),
		t.say("summary.category", "category", g.Title.In(t.locale)),
		t.say("summary.subject", "subject", f.Subject),
	}
	var texts []string
	files, album := 0, false
	for _, p := range f.Parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
		files += len(p.Attachments)
		for _, q := range p.Quotes {
			files += len(q.Attachments)
		}
		album = album || p.Album != ""
	}
	if len(texts) > 0 {
		lines = append(lines, t.say("summary.text", "text", cut(strings.Join(texts, "\n"), excerpt)))
	}
	switch {
	case album: // its parts come one by one: a number would be wrong at once
		lines = append(lines, t.say("summary.album"))
	case files > 0:
		lines = append(lines, t.say("summary.files", "n", strconv.Itoa(files)))
	}
	if len(f.Parts) > 0 && len(texts) == 0 && files == 0 {
		lines = append(lines, t.say("summary.messages", "n", strconv.Itoa(len(f.Parts))))
	}
	return strings.Join(append(lines, "", t.say("summary.more")), "\n")
}
