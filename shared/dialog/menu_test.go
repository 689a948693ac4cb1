package dialog_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/dialog"
	"supportbot/shared/messenger"
	"supportbot/shared/person"
	"supportbot/shared/ticket"
)

func TestMenu(t *testing.T) {
	t.Parallel()
	tests := []struct{ do, want string }{
		{"/start", "start"},
		{"/menu", "menu"},
		{"/new", "form.category"},
		{"/settings", "settings"},
		{"/lang", "lang"},
		{"/language", "lang"},
		{"/help", "help"},
		{"/cancel", "cancel.nothing"},
		{"/foo", "command.unknown"},
		{"press m:new", "form.category"},
		{"press m:help", "help"},
		{"press m:nothing", "stale"},
		{"press ", "stale"},
		{"press garbage:::::::", "stale"},
		{"press v:x", "stale"},
		{"press v:o:", "stale"},
		{"press s:n:2", "stale"},
		{"press s:x:1", "stale"},
		{"press s:l:de", "stale"},
	}
	for _, tt := range tests {
		t.Run(tt.do, func(t *testing.T) {
			t.Parallel()
			c := newChat(t)
			c.do(tt.do)
			c.wantSaid(tt.want)
			c.wantJobs()
		})
	}
}

func TestMenu_Pages(t *testing.T) {
	t.Parallel()
	tests := []struct{ do, want string }{
		{"/tickets", "<tickets 0>"},
		{"/history", "<all 0>"},
		{"press m:tickets", "<tickets 0>"},
		{"press v:t:2", "<tickets 2>"},
		{"press v:a:1", "<all 1>"},
		{"press v:o:dabc", "<ticket 0>"},
		{"press v:h:i5f0c:3", "<history 3>"},
	}
	for _, tt := range tests {
		t.Run(tt.do, func(t *testing.T) {
			t.Parallel()
			c := newChat(t)
			c.v.Tickets = dialog.Tickets{} // a page reads what it shows when it is sent
			r := c.do(tt.do)
			if c.said() != tt.want {
				t.Errorf("got %q, want %q", c.said(), tt.want)
			}
			if r.Consulted {
				t.Error("the answer waits for Tracker")
			}
		})
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.do("/settings")
	off := "press " + c.find("✅ Новости")
	for range 2 { // a double tap is one tap
		r := c.do(off)
		want := person.Choice{News: new(bool)} // only what was pressed
		if diff := cmp.Diff(&want, r.Update.Settings); diff != "" || !r.Visit {
			t.Fatalf("choice (-want +got):\n%s", diff)
		}
		c.v.Person.Settings = c.v.Person.Settings.With(want)
		if c.find("☐ Новости") == "" || c.find("✅ Плановые работы") == "" {
			t.Error("the buttons do not show the new settings")
		}
		c.wantSaid("settings.saved")
	}
	if r := c.do("btn ☐ Новости"); !*r.Update.Settings.News {
		t.Error("news were not switched on again")
	}
	if r := c.do("btn ✅ Смена"); *r.Update.Settings.Status {
		t.Error("status news were not switched off")
	}
	if r := c.do("btn ✅ Плановые"); *r.Update.Settings.Maintenance {
		t.Error("maintenance news were not switched off")
	}
}

func TestLanguage(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.do("/lang")
	r := c.do("btn English")
	if r.Update.Locale == nil || *r.Update.Locale != "en" || !r.Visit {
		t.Fatalf("got %+v", r.Update)
	}
	if got, want := c.said(), dialog.Text("en", "lang.set"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	c.v.Person.Locale = "en"
	c.do("/menu")
	if c.find("New ticket") == "" {
		t.Error("the menu is not in English")
	}
	fresh := newChat(t)
	fresh.v.Person.Locale = ""
	ev := fresh.message("/menu")
	ev.User.Locale = "en"
	fresh.handle(ev)
	if fresh.find("New ticket") == "" {
		t.Error("the messenger's language is not used")
	}
}

func TestReachable(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	for kind, want := range map[messenger.Kind]bool{messenger.EventBlocked: false, messenger.EventUnblocked: true} {
		r := c.handle(c.event(kind))
		if r.Update.Reachable == nil || *r.Update.Reachable != want || !r.Visit {
			t.Errorf("%s: got %+v", kind, r)
		}
		c.wantSilence()
	}
}

func TestGroup_RefusedOnceAnHour(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	refused := 0
	for range 8 {
		r := c.handle(c.event(messenger.EventGroup))
		if r.Visit || len(r.Jobs) > 0 {
			t.Error("a group was recorded")
		}
		if len(r.Replies) > 0 {
			c.wantSaid("group")
			refused++
		}
		c.wait(20 * time.Minute)
	}
	if refused != 3 { // at 0:00, 1:00, 2:00
		t.Errorf("refused %d times in 2:20, want 3", refused)
	}
}

func TestPress_IsAnsweredAndReplacesItsMessage(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.do("/settings")
	tests := []struct {
		name, message, want string
		noCallback          bool
	}{
		{"nothing below it", "9999999999999", "9999999999999", false},
		{"the customer has written since", "17", "", false},
		{"no message id", "", "", false},
		{"no number", "abc", "", false},
		{"a client without callbacks", "9999999999999", "", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c.pushed = tt.message
			ev := c.pressed("m:help")
			ev.NoCallback = tt.noCallback
			r := c.handle(ev)
			if len(r.Replies) != 2 || r.Replies[0].Answer == nil || r.Replies[0].Answer.Press.ID != ev.Press.ID {
				t.Fatalf("got %+v", r.Replies)
			}
			if got := r.Replies[1].Edit; got != tt.want {
				t.Errorf("edit: got %q, want %q", got, tt.want)
			}
		})
	}
	silent := c.pressed("m:help")
	silent.Press.ID = "" // nothing to answer
	if r := c.handle(silent); len(r.Replies) != 1 {
		t.Errorf("got %d replies, want one", len(r.Replies))
	}
	nothing := c.event(messenger.EventPress)
	if r := c.handle(nothing); !r.Empty() {
		t.Errorf("a press without data: got %+v", r)
	}
}

func TestMenu_ShowsTicketsThatTrackerDoesNotListYet(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	id := c.filled()
	c.do("btn Отправить")
	c.do("/tickets")
	if p := c.page; p == nil || len(p.Opened) != 1 || p.Opened[0].Ref != (ticket.Ref{Draft: id}) {
		t.Fatalf("got %+v", c.page)
	}
	text, _ := dialog.Render(*c.page, dialog.Data{Catalogue: c.v.Catalogue, Now: c.v.Now, Tickets: dialog.Tickets{Known: true}})
	if !strings.Contains(text, "Принтер не печатает") {
		t.Errorf("got %q", text)
	}
	c.wait(25 * time.Hour)
	c.do("/tickets")
	if len(c.page.Opened) != 0 {
		t.Error("it is remembered for ever")
	}
}
