package dialog

import (
	"slices"

	"supportbot/shared/catalogue"
	"supportbot/shared/messenger"
	"supportbot/shared/person"
)

func (t *turn) settings() {
	s := t.v.Person.Settings
	if c := t.out.Update.Settings; c != nil {
		s = s.With(*c)
	}
	row := func(letter, key string, on bool) []messenger.Button {
		mark, other := "✅ ", "0"
		if !on {
			mark, other = "☐ ", "1"
		}
		return []messenger.Button{button(mark+t.say(key), "s", letter, other)}
	}
	t.reply(t.say("settings"), messenger.Keyboard{
		row("n", "settings.news", s.News),
		row("m", "settings.maintenance", s.Maintenance),
		row("s", "settings.status", s.Status),
		{button(t.say("menu.link"), "m", "link")},
		{button(t.say("menu.data"), "m", "data")},
		{button(t.say("button.menu"), "m", "menu")},
	})
}

func (t *turn) languages() {
	var row []messenger.Button
	for _, l := range catalogue.Languages {
		row = append(row, button(Text(l, "lang.name"), "s", "l", l))
	}
	t.reply(t.say("lang"), messenger.Keyboard{row, {button(t.say("button.menu"), "m", "menu")}})
}

// settingPress sets a value rather than toggling one: a double tap is one tap.
func (t *turn) settingPress(name, value string) {
	if name == "l" && slices.Contains(catalogue.Languages, value) {
		t.locale = value
		t.out.Update.Locale = &value
		t.out.Visit = true
		t.menu(t.say("lang.set"))
		return
	}
	var c person.Choice
	on := value == "1"
	switch {
	case value != "0" && value != "1":
		t.stale()
		return
	case name == "n":
		c.News = &on
	case name == "m":
		c.Maintenance = &on
	case name == "s":
		c.Status = &on
	default:
		t.stale()
		return
	}
	t.choose(c)
}

// choose keeps a choice and shows the settings as they are then.
func (t *turn) choose(c person.Choice) {
	t.out.Update.Settings = &c
	t.out.Visit = true
	t.toast("settings.saved")
	t.settings()
}
