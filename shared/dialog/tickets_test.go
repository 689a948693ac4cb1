package dialog_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/dialog"
	"supportbot/shared/ticket"
)

func TestReopen_WithTheMessages(t *testing.T) {
	t.Parallel()
	c := newChat(t, summary("SUP-1", ticket.PhaseResolved, time.Hour))
	c.do("Опять сломалось")
	c.do("photo вот")
	r := c.do("btn Вернуть SUP-1")
	c.wantSaid("reopened", "ticket", "SUP-1 · Заголовок SUP-1")
	c.wantJobs("ticket.reopen telegram:77:3", "ticket.comment telegram:77:2")
	got := payload[ticket.Reopen](t, r, 0)
	if got.Message == nil || got.Message.Text != "Опять сломалось" || got.Message.Key != "telegram:77:1" {
		t.Errorf("reopen: got %+v", got.Message)
	}
	if r.Jobs[1].Sequence < r.Jobs[0].Sequence {
		t.Error("the comment goes before the reopening")
	}
	c.do("и ещё") // the list still shows it as resolved
	c.wantJobs("ticket.comment telegram:77:4")
}

func TestReopen_ByAnEarlierButtonTakesWhatWaits(t *testing.T) {
	t.Parallel()
	k := summary("SUP-1", ticket.PhaseResolved, time.Hour)
	c := newChat(t, k)
	c.do("Опять сломалось")
	r := c.handle(c.pressed(dialog.ReopenButton(k.Ref, "ru").Data))
	if got := payload[ticket.Reopen](t, r, 0); got.Message == nil || got.Message.Text != "Опять сломалось" {
		t.Errorf("reopen: got %+v, want the message that waited", got.Message)
	}
}

func TestTicketPress_AsksForTheListAlsoOfATicketOpenedHere(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	ref := ticket.Ref{Draft: c.filled()}
	c.do("btn Отправить")
	if r := c.handle(c.pressed(dialog.ReopenButton(ref, "ru").Data)); !r.Consulted {
		t.Error("the status of a ticket that was opened here is taken for what it was")
	}
}

func TestReopen_WithAnAlbum(t *testing.T) {
	t.Parallel()
	c := newChat(t, summary("SUP-1", ticket.PhaseResolved, time.Hour))
	c.do("album A")
	c.do("album A")
	r := c.do("btn Вернуть SUP-1")
	const album = "ticket.comment album:telegram:77:1099511627777:A"
	c.wantJobs("ticket.reopen telegram:77:3", album, album)
	if payload[ticket.Reopen](t, r, 0).Message != nil {
		t.Error("a part of the album went with the reopening")
	}
}

func TestTicket_AddAndReopenByButton(t *testing.T) {
	t.Parallel()
	open, done := summary("SUP-1", ticket.PhaseOpen, 0), summary("SUP-2", ticket.PhaseResolved, time.Hour)
	old, closed := summary("SUP-3", ticket.PhaseResolved, 100*time.Hour), summary("SUP-4", ticket.PhaseClosed, time.Hour)
	other := summary("SUP-5", ticket.PhaseOpen, time.Minute)
	tests := []struct {
		name, press, want string
		jobs              int
	}{
		{"add to an open one", "t:add:" + open.Ref.String(), "add.prompt", 0},
		{"add to a resolved one", "t:add:" + done.Ref.String(), "ticket.closed", 0},
		{"add to a closed one", "t:add:" + closed.Ref.String(), "ticket.closed", 0},
		{"reopen a resolved one", "t:re:" + done.Ref.String(), "reopened", 1},
		{"reopen one resolved long ago", "t:re:" + old.Ref.String(), "ticket.closed", 0},
		{"reopen an open one", "t:re:" + open.Ref.String(), "reopen.open", 0},
		{"somebody else's", "t:add:i5f0c1e2d3b4a59687abcdef0", "ticket.unknown", 0},
		{"reopen somebody else's", "t:re:i5f0c1e2d3b4a59687abcdef0", "ticket.unknown", 0},
		{"no ref at all", "t:add:", "stale", 0},
		{"nonsense", "t:explode:" + open.Ref.String(), "stale", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := newChat(t, open, done, old, closed, other)
			c.do("press " + tt.press)
			want, _, _ := strings.Cut(dialog.Text("ru", tt.want), "{ticket}")
			if !strings.Contains(c.said(), want) {
				t.Errorf("got %q, want %q", c.said(), want)
			}
			if len(c.last.Jobs) != tt.jobs {
				t.Errorf("got %d jobs, want %d", len(c.last.Jobs), tt.jobs)
			}
		})
	}
	t.Run("what follows goes there", func(t *testing.T) {
		t.Parallel()
		c := newChat(t, open, other)
		c.filled() // the form is older than the choice
		c.wait(time.Second)
		c.do("press t:add:" + open.Ref.String())
		r := c.do("дополнение")
		if got := payload[ticket.Comment](t, r, 0).Ref; got != open.Ref {
			t.Errorf("got %+v", got)
		}
		c.v.Tickets.List[0].Phase = ticket.PhaseClosed
		c.do("/menu")
		c.do("и в форму")
		c.wantSaid("summary.title")
	})
	t.Run("two taps reopen once", func(t *testing.T) {
		t.Parallel()
		c := newChat(t, done)
		c.do("press t:re:" + done.Ref.String())
		first := c.jobs()
		c.do("press t:re:" + done.Ref.String())
		if diff := cmp.Diff(first, c.jobs()); diff != "" {
			t.Errorf("the jobs have two keys: %s", diff)
		}
	})
	t.Run("the chosen one is closed meanwhile", func(t *testing.T) {
		t.Parallel()
		c := newChat(t, open, other)
		c.do("press t:add:" + open.Ref.String())
		c.v.Tickets.List = []ticket.Summary{summary("SUP-1", ticket.PhaseClosed, 0), other}
		r := c.do("дополнение")
		if got := payload[ticket.Comment](t, r, 0).Ref; got != other.Ref {
			t.Errorf("got %+v, want the one that is open", got)
		}
	})
}

func TestRating(t *testing.T) {
	t.Parallel()
	done := summary("SUP-2", ticket.PhaseResolved, time.Hour)
	rate := func(score string) string {
		for _, b := range dialog.RateButtons(done.Ref, "ru")[0] {
			if strings.HasPrefix(b.Label, score) {
				return "press " + b.Data
			}
		}
		return ""
	}
	t.Run("score and remark", func(t *testing.T) {
		t.Parallel()
		c := newChat(t, done)
		c.pushed = "99999999999999"
		r := c.do(rate("5"))
		c.wantSaid("rate.thanks", "score", "5")
		c.wantJobs("ticket.rate telegram:77:1")
		if got := payload[ticket.Rate](t, r, 0); got.Score != 5 || got.Ref != done.Ref || got.Remark != "" {
			t.Errorf("rate: got %+v", got)
		}
		if got := r.Replies[1].Edit; got != "" {
			t.Error("the news of the resolution is replaced")
		}
		r = c.do("Быстро и вежливо")
		c.wantSaid("rate.remark")
		if got := payload[ticket.Rate](t, r, 0); got.Score != 0 || got.Remark != "Быстро и вежливо" {
			t.Errorf("remark: got %+v", got)
		}
		c.do("Опять сломалось")
		c.wantSaid("ask.reopen")
	})
	t.Run("no remark", func(t *testing.T) {
		t.Parallel()
		c := newChat(t, done)
		c.do(rate("1"))
		c.do("btn Без отзыва")
		c.wantSaid("rate.done")
		c.do("Опять сломалось")
		c.wantSaid("ask.reopen")
	})
	t.Run("a file is no remark", func(t *testing.T) {
		t.Parallel()
		c := newChat(t, done)
		c.do(rate("1"))
		c.do("photo вот")
		c.wantSaid("ask.reopen")
	})
	t.Run("any other button ends it", func(t *testing.T) {
		t.Parallel()
		c := newChat(t, done)
		c.do(rate("1"))
		c.do("/new")
		c.do("btn Вопрос")
		c.do("Тема")
		if c.s.Form.Subject != "Тема" {
			t.Error("the subject was taken for a remark")
		}
	})
	t.Run("after an hour", func(t *testing.T) {
		t.Parallel()
		c := newChat(t, done)
		c.do(rate("1"))
		c.wait(time.Hour + time.Second)
		c.do("Опять сломалось")
		c.wantSaid("ask.reopen")
	})
	t.Run("somebody else's ticket", func(t *testing.T) {
		t.Parallel()
		c := newChat(t, done)
		c.do("press r:i5f0c:5")
		c.wantSaid("ticket.unknown")
		c.wantJobs()
	})
	t.Run("list unknown", func(t *testing.T) {
		t.Parallel()
		c := newChat(t)
		c.v.Tickets = dialog.Tickets{}
		c.do(rate("4"))
		c.wantJobs("ticket.rate telegram:77:1")
	})
	for _, data := range []string{"r::5", "r:dabc:6", "r:dabc:-1", "r:dabc:five", "r:dab c:5"} {
		t.Run("forged "+data, func(t *testing.T) {
			t.Parallel()
			c := newChat(t, done)
			c.do("press " + data)
			c.wantSaid("stale")
			c.wantJobs()
		})
	}
}
