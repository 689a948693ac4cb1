package dialog

import (
	"slices"
	"strconv"
	"strings"

	"supportbot/shared/messenger"
	"supportbot/shared/ticket"
)

// turn is one event being handled.
type turn struct {
	s      State
	ev     messenger.Event
	v      View
	out    Result
	locale string
	notes  []string // told on top of the next message
	edited bool     // the pressed message was replaced already
}

// Step handles one event. It changes nothing that it was given, and gives the
// same for the same.
func Step(s State, ev messenger.Event, v View) (State, Result) {
	t := &turn{s: s.clone(), ev: ev, v: v, locale: Locale(v.Person.Locale, ev.User.Locale)}
	t.s.expire(v.Now, v.Tickets)
	switch ev.Kind {
	case messenger.EventMessage:
		t.message()
	case messenger.EventEdit:
		t.edit()
	case messenger.EventPress:
		t.press()
	case messenger.EventGroup:
		t.group()
	case messenger.EventBlocked:
		t.reachable(false)
	case messenger.EventUnblocked:
		t.reachable(true)
	}
	if len(t.notes) > 0 {
		t.reply("", nil)
	}
	return t.s, t.out
}

func (t *turn) message() {
	late := t.overtaken()
	t.s.Last = max(t.s.Last, t.ev.Sequence)
	if t.ev.Command != "" && len(t.ev.Attachments) == 0 && t.command(late) {
		return
	}
	if len(t.ev.Unsupported) > 0 && !t.v.Again {
		t.note("unsupported", "what", t.unsupported())
	}
	if t.ev.Content.Empty() {
		return
	}
	if t.tooLarge() && !t.v.Again {
		t.note("file.too_large", "limit", strconv.FormatInt(t.v.Download>>20, 10))
	}
	t.content(t.part(late))
}

// content decides who takes a message: an album's later parts follow the first
// one; a remark or a ticket that was just chosen goes before an older form.
func (t *turn) content(p Part) {
	f := t.s.Form
	where, known := find(t.s.Albums, p.Album)
	switch {
	case known && where == (ticket.Ref{}):
		// The rest of an album whose form was cancelled.
	case known:
		t.comment(p, where)
	case t.s.Ask != nil && holds(t.s.Ask.Parts, p.Album):
		t.wait(t.s.Ask, p)
	case f != nil && holds(f.Parts, p.Album):
		t.formInput(f, p)
	case t.takesRemark(p):
		t.remark(p)
	case f == nil || t.v.Again || t.chosenAfter(f):
		t.free(p)
	default:
		t.formInput(f, p)
	}
}

// overtaken reports whether a later message was handled before this one.
func (t *turn) overtaken() bool {
	return t.ev.Sequence > 0 && t.ev.Sequence < t.s.Last && !t.v.Again
}

// sequence orders a job that follows from this event: a message by its own
// number, anything else behind all that was seen.
func (t *turn) sequence() int64 {
	if t.ev.Kind == messenger.EventMessage && t.ev.Sequence > 0 {
		return t.ev.Sequence
	}
	return max(t.s.Last, t.ev.Sequence)
}

func (t *turn) part(late bool) Part {
	return Part{
		Message:  ticket.Message{Key: t.ev.Key, At: t.ev.Time, Content: t.ev.Content, Late: late},
		ID:       t.ev.MessageID,
		Sequence: t.sequence(),
		Album:    t.ev.Album,
	}
}

func (t *turn) group() {
	if t.v.Now.Sub(t.s.RefusedAt) < refusePace {
		return
	}
	t.s.RefusedAt = t.v.Now
	t.reply(t.say("group"), nil)
}

func (t *turn) reachable(yes bool) {
	t.out.Update.Reachable = &yes
	t.out.Visit = true
}

// unsupported names what was lost, each kind once.
func (t *turn) unsupported() string {
	var names []string
	for _, what := range t.ev.Unsupported {
		key := "unsupported." + what
		name := t.say(key)
		if name == key {
			name = line(what, labelLimit)
		}
		if len(names) < unsupportedNames && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// unsupportedNames bounds the names of what was lost in one message.
const unsupportedNames = 10

func (t *turn) tooLarge() bool {
	if t.v.Download == 0 {
		return false
	}
	files := t.ev.Attachments
	for _, q := range t.ev.Quotes {
		files = append(files[:len(files):len(files)], q.Attachments...)
	}
	for _, a := range files {
		if a.Size > t.v.Download {
			return true
		}
	}
	return false
}

func (t *turn) say(key string, pairs ...string) string { return Text(t.locale, key, pairs...) }

// note puts a sentence on top of the next message.
func (t *turn) note(key string, pairs ...string) { t.notes = append(t.notes, t.say(key, pairs...)) }

func (t *turn) reply(text string, k messenger.Keyboard) {
	if text != "" {
		t.notes = append(t.notes, text)
	}
	t.out.Replies = append(t.out.Replies, Reply{Text: strings.Join(t.notes, "\n\n"), Keyboard: k, Edit: t.replaces()})
	t.notes = nil
}

func (t *turn) page(p Page) {
	p.Locale, p.Opened = t.locale, t.s.Opened
	t.out.Replies = append(t.out.Replies, Reply{Page: &p, Edit: t.replaces()})
}

// replaces gives the message that the first reply to a press may replace: the
// pressed one, unless the customer has written below it. Messengers number the
// messages of a chat whoever writes them.
func (t *turn) replaces() string {
	if t.ev.Kind != messenger.EventPress || t.ev.Press == nil || t.ev.NoCallback || t.edited {
		return ""
	}
	t.edited = true
	n, err := strconv.ParseInt(t.ev.Press.MessageID, 10, 64)
	if err != nil || n < t.s.Last {
		return ""
	}
	return t.ev.Press.MessageID
}
