package dialog

import (
	"regexp"
	"slices"
	"strings"

	"supportbot/shared/messenger"
)

// mistyped is what looks like a command and not like a path or a message.
var mistyped = regexp.MustCompile(`^[a-z_]+$`)

// known lists the commands, and acts those that change what the customer is at;
// overtaken, these would undo what was done later.
var (
	known = []string{"start", "menu", "new", "tickets", "history", "settings", "help", "lang", "cancel", "link", "console", "data", "export", "forget"}
	acts  = []string{"new", "cancel"}
)

// command handles a command; false means that it is none of ours and so a
// message that begins with a slash.
func (t *turn) command(late bool) bool {
	name := t.ev.Command
	if name == "language" {
		name = "lang"
	}
	if !slices.Contains(known, name) {
		if t.s.Form != nil || t.ev.Argument != "" || !mistyped.MatchString(name) {
			return false
		}
		t.menu(t.say("command.unknown"))
		return true
	}
	t.s.Remark = nil
	if late && slices.Contains(acts, name) {
		t.note("late.command")
		t.resume()
		return true
	}
	switch name {
	case "start":
		t.start(late)
	case "cancel":
		t.cancel()
	case "link":
		t.link(t.ev.Argument)
	default:
		t.action(name)
	}
	return true
}

// action is what the menu's buttons and the commands of the same name do.
func (t *turn) action(name string) {
	t.s.Target = nil
	switch name {
	case "new":
		t.newForm(nil)
	case "tickets":
		t.page(Page{Kind: PageTickets})
	case "history":
		t.page(Page{Kind: PageAll})
	case "settings":
		t.settings()
	case "lang":
		t.languages()
	case "link":
		t.page(Page{Kind: PageLink})
	case "console":
		t.page(Page{Kind: PageConsole})
	case "data", "export", "forget":
		t.privacy(name)
	case "help":
		t.reply(t.say("help"), messenger.Keyboard{{button(t.say("button.menu"), "m", "menu")}})
	case "menu":
		t.menu(t.say("menu"))
	default:
		t.stale()
	}
}

// start greets. The payload of a deep link is kept for the next ticket; the key
// of a category opens its form at once.
func (t *turn) start(late bool) {
	if t.tag() {
		t.menu(t.say("start"))
		return
	}
	g, category := t.v.Catalogue.Category(t.ev.Argument)
	if t.ev.Argument != "" && !category {
		t.s.Start = line(t.ev.Argument, 64)
	}
	if category && t.s.Form == nil && !late {
		t.note("start")
		t.openForm(g.Key, nil)
		t.prompt()
		return
	}
	t.s.Target = nil
	t.menu(t.say("start"))
}

// menu shows the main menu, with a way back into an unfinished form.
func (t *turn) menu(text string) {
	k := MenuKeyboard(t.locale)
	if f := t.s.Form; f != nil {
		k = append(messenger.Keyboard{{button(t.say("button.continue"), "f", f.ID, string(f.Step), "go")}}, k...)
	}
	t.reply(text, k)
}

// resume shows what the customer is at.
func (t *turn) resume() {
	if t.s.Form != nil {
		t.prompt()
		return
	}
	t.menu("")
}

// cancel ends the nearest thing that can be cancelled, and says so.
func (t *turn) cancel() {
	switch {
	case t.s.Form != nil:
		t.dropForm()
		t.menu(t.say("form.cancelled"))
	case t.s.Ask != nil:
		t.dropAsk()
		t.menu(t.say("ask.dropped"))
	case t.s.Target != nil:
		t.s.Target = nil
		t.menu(t.say("menu"))
	case t.justSent():
		t.menu(t.say("form.too_late"))
	default:
		t.menu(t.say("cancel.nothing"))
	}
}

// justSent: the confirmation was faster than the cancelling.
func (t *turn) justSent() bool {
	return slices.ContainsFunc(t.s.Ended, func(e Ended) bool {
		return e.How == Sent && t.v.Now.Sub(e.At) < cancelWait
	})
}

func (t *turn) press() {
	p := t.ev.Press
	if p == nil {
		return
	}
	t.s.Last = max(t.s.Last, t.ev.Sequence)
	if p.ID != "" {
		t.out.Replies = append(t.out.Replies, Reply{Answer: &Answer{Press: *p}})
	}
	f := append(strings.Split(p.Data, ":"), "", "", "", "")
	if f[0] != "r" {
		t.s.Remark = nil
	}
	switch f[0] {
	case "m":
		t.action(f[1])
	case "f":
		t.formPress(f[1], FormStep(f[2]), f[3], f[4])
	case "a":
		t.askPress(f[1], f[2], f[3])
	case "v":
		t.viewPress(f[1], f[2], f[3])
	case "t":
		t.ticketPress(f[1], f[2])
	case "r":
		t.ratePress(f[1], f[2])
	case "s":
		t.settingPress(f[1], f[2])
	case "u":
		t.unsubscribe(f[1])
	case "e":
		t.erase(f[1])
	default:
		t.stale()
	}
}

// stale answers a press of a button that no longer means anything.
func (t *turn) stale() { t.menu(t.say("stale")) }

// toast adds a short text to the answer of the press.
func (t *turn) toast(key string) {
	if len(t.out.Replies) > 0 && t.out.Replies[0].Answer != nil {
		t.out.Replies[0].Answer.Text = t.say(key)
	}
}
