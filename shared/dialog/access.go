package dialog

import (
	"regexp"
	"slices"

	"supportbot/shared/broadcast"
	"supportbot/shared/messenger"
	"supportbot/shared/person"
)

// tagged is the payload of a link that puts a tag on whoever comes by it.
var tagged = regexp.MustCompile(`^tag-([a-z0-9_-]{1,32})$`)

// tag takes a link's tag; false when the link has none.
func (t *turn) tag() bool {
	m := tagged.FindStringSubmatch(t.ev.Argument)
	if m == nil {
		return false
	}
	t.out.Update.Tags = []string{m[1]}
	t.out.Visit = true
	t.note("tag.added")
	return true
}

// link shows a code, or takes one that another messenger has shown.
func (t *turn) link(code string) {
	if code == "" {
		t.action("link")
		return
	}
	t.page(Page{Kind: PageLinked, Code: line(code, 32)})
}

// unsubscribe ends broadcasts of a kind. The message below which the button stands
// is not replaced: it may be worth reading.
func (t *turn) unsubscribe(letter string) {
	off := false
	var c person.Choice
	switch letter {
	case "n":
		c.News = &off
		t.note("unsubscribed.news")
	case "m":
		c.Maintenance = &off
		t.note("unsubscribed.maintenance")
	default:
		t.stale()
		return
	}
	t.edited = true
	t.choose(c)
}

// UnsubscribeButtons stand below every broadcast of a kind that can be refused.
func UnsubscribeButtons(k broadcast.Kind, locale string) []messenger.Button {
	switch k {
	case broadcast.News:
		return []messenger.Button{button(Text(locale, "button.unsubscribe.news"), "u", "n")}
	case broadcast.Maintenance:
		return []messenger.Button{button(Text(locale, "button.unsubscribe.maintenance"), "u", "m")}
	}
	return nil
}

func (p Page) access() bool {
	return slices.Contains([]PageKind{PageLink, PageLinked, PageConsole}, p.Kind)
}

// access renders the pages of codes.
func (r renderer) access() (string, messenger.Keyboard) {
	a, menu := r.d.Access, messenger.Keyboard{{r.menu()}}
	switch {
	case !a.Known:
		return r.say("access.unavailable"), messenger.Keyboard{{button(r.say("button.retry"), r.p.data()...), r.menu()}}
	case r.p.Kind == PageLink:
		return r.say("link.code", "code", a.Code), menu
	case r.p.Kind == PageLinked && a.Linked == "done":
		return r.say("linked.done"), menu
	case r.p.Kind == PageLinked && a.Linked == "same":
		return r.say("linked.same"), menu
	case r.p.Kind == PageLinked && a.Linked == "rights":
		return r.say("linked.rights"), menu
	case r.p.Kind == PageLinked:
		return r.say("linked.unknown"), menu
	case a.URL == "":
		return r.say("console.none"), menu
	}
	return r.say("console"), messenger.Keyboard{{{Label: r.say("button.console"), URL: a.URL}}, {r.menu()}}
}
