package dialog_test

import (
	"testing"

	"supportbot/shared/dialog"
	"supportbot/shared/person"
)

// To be forgotten is asked for, confirmed, and then one job however often it is
// pressed; the state goes at once.
func TestForget(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.filled()
	c.do("/settings")
	c.do("btn Мои данные")
	c.wantSaid("data")
	c.do("btn Удалить мои данные")
	c.wantSaid("forget")
	c.wantJobs()
	yes := c.find("Да, удалить")
	c.do("btn Нет, оставить")
	c.wantSaid("forget.kept")
	c.wantJobs()
	if c.s.Form == nil {
		t.Error("the form is gone although nothing was to be erased")
	}
	for range 2 {
		c.do("press " + yes)
		c.wantSaid("forget.begun")
		c.wantJobs(person.KindErase + " erase:1")
	}
	if got, want := encode(t, c.s), encode(t, dialog.State{Last: c.s.Last}); got != want {
		t.Errorf("state %s, want %s", got, want)
	}
	if got := payload[person.Erase](t, c.last, 0); got.Person != 1 {
		t.Errorf("payload %+v", got)
	}
	c.do("press e:everything")
	c.wantSaid("stale")
}

func TestExport(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.do("/export")
	c.wantSaid("export.begun")
	c.wantJobs(person.KindExport + " export:1:2026-03-02T10")
	if got := payload[person.Export](t, c.last, 0); got.Person != 1 || got.Address.Chat != "1099511627777" {
		t.Errorf("payload %+v", got)
	}
}

// Nobody that nobody knows is erased or exported.
func TestPrivacy_NobodyKnown(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.v.Person.ID = 0
	for _, what := range []string{"/export", "press e:yes"} {
		c.do(what)
		c.wantSaid("access.unavailable")
		c.wantJobs()
	}
}
