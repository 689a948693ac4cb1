package delivery_test

import (
	"strings"
	"testing"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/sandbox/fault"
	"supportbot/shared/ticket"
	"supportbot/shared/wiring/wiringtest"
)

// each runs a test for a ticket of the customer in each messenger.
func each(t *testing.T, test func(*testing.T, *wiringtest.Rig, ticket.Customer)) {
	t.Helper()
	for name, c := range wiringtest.EachMessenger() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, wiringtest.New(t), c)
		})
	}
}

// wantSaid checks in how many of the bot's messages a text is.
func wantSaid(t *testing.T, r *wiringtest.Rig, c ticket.Customer, text string, want int) {
	t.Helper()
	if got := r.Count(c, text); got != want {
		t.Errorf("%q is in %d messages, want %d: %+v", text, got, want, r.Said(c))
	}
}

func TestEdit_ReplacesTheMessage(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *wiringtest.Rig, c ticket.Customer) {
		k := r.Open(c, "d1")
		m := r.Reply(k, "/reply первая версия")
		r.Edit(k, m.ID, "/reply вторая версия", "e1")
		wantSaid(t, r, c, "первая", 0)
		wantSaid(t, r, c, "вторая", 1)
		r.Edit(k, m.ID, "теперь для коллег", "e2")
		wantSaid(t, r, c, "вторая", 1)
		wantSaid(t, r, c, "коллег", 0)
		r.Edit(k, m.ID, "/reply третья", "e3")
		wantSaid(t, r, c, "вторая", 0)
		wantSaid(t, r, c, "третья", 1)
		wantSaid(t, r, c, "справленный", 0)
	})
}

// A reply of several messages is edited message by message, and one that makes
// more or fewer messages than before follows as a correction.
func TestEdit_OfSeveralMessages(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *wiringtest.Rig, c ticket.Customer) {
		k := r.Open(c, "d1")
		long := strings.Repeat("строка ответа\n\n", 400)
		m := r.Reply(k, "/reply "+long+"конец")
		before := len(r.Said(c))
		r.Edit(k, m.ID, "/reply "+long+"начало", "e1")
		if got := len(r.Said(c)); got != before {
			t.Errorf("%d messages after the edit, want %d", got, before)
		}
		wantSaid(t, r, c, "конец", 0)
		wantSaid(t, r, c, "начало", 1)
		r.Edit(k, m.ID, "/reply совсем коротко", "e2")
		wantSaid(t, r, c, "совсем коротко", 1)
		wantSaid(t, r, c, "справленный ответ", 1)
	})
}

// A note that becomes a reply, of which nobody knows whether the customer has it: what
// followed the edit does not send the same once more, while a newer version goes out.
func TestEdit_OfAReplyInDoubt(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	c := wiringtest.Telegrammer()
	k := r.Open(c, "d1")
	m := r.Reply(k, "ещё думаем")
	r.Telegram.Faults().Add(fault.Fault{Method: "sendMessage", Kind: fault.CloseAfter, Times: 2})
	r.Edit(k, m.ID, "/reply первая", "e1")
	for range 2 {
		r.Later(time.Hour)
	}
	key := ticket.AnswerKey(k.ID, m.ID)
	r.Want(key, job.NeedsReview)
	r.Want(key+":v2", job.Completed)
	wantSaid(t, r, c, "первая", 2)
	r.Edit(k, m.ID, "/reply вторая", "e2")
	wantSaid(t, r, c, "вторая", 1)
}

// A replayed edit brings nothing back that a newer one has replaced.
func TestEdit_ReplayedAfterANewerOne(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	c := wiringtest.Telegrammer()
	k := r.Open(c, "d1")
	m := r.Reply(k, "/reply первая")
	key := ticket.AnswerKey(k.ID, m.ID)
	r.Telegram.Faults().Add(fault.Fault{Method: "editMessageText", Kind: fault.CloseBefore})
	r.Edit(k, m.ID, "/reply вторая", "e1")
	r.Exec(`UPDATE jobs SET started_at = started_at - interval '2 hours' WHERE key = $1`, key+":v2") // no outage is as long
	for range job.Attempts {
		r.Later(time.Hour)
	}
	r.Want(key+":v2", job.NeedsReview)
	r.Telegram.Faults().Clear()
	r.Edit(k, m.ID, "/reply третья", "e2")
	wantSaid(t, r, c, "третья", 1)
	replay(r, key+":v2")
	r.Want(key+":v2", job.Completed)
	wantSaid(t, r, c, "третья", 1)
	wantSaid(t, r, c, "вторая", 0)
}

func replay(r *wiringtest.Rig, key string) {
	r.T.Helper()
	in, err := r.DB.Replay(r.Context(), r.Find(key).ID, "person:1")
	if err != nil {
		r.T.Fatal(err)
	}
	r.Publisher.Publish(r.Context(), []job.Inserted{in})
	r.Work()
}

// An edit that can no longer be made, of a comment that is no reply any more, says
// nothing.
func TestEdit_BecameInternalWhileItWaited(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	c := wiringtest.Telegrammer()
	k := r.Open(c, "d1")
	m := r.Reply(k, "/reply первая")
	r.Telegram.Faults().Add(fault.Fault{Method: "editMessageText", Kind: fault.CloseAfter, Times: 1})
	r.Edit(k, m.ID, "/reply вторая", "e1")
	if err := r.Agent.EditComment(k.ID, m.ID, "для коллег"); err != nil {
		t.Fatal(err)
	}
	r.Telegram.Faults().Add(fault.Fault{Method: "editMessageText", Kind: fault.Status, Status: 400, Times: 1})
	before := len(r.Said(c))
	r.Later(time.Hour)
	if got := len(r.Said(c)); got != before {
		t.Errorf("said %+v", r.Said(c)[before:])
	}
	r.Want(ticket.AnswerKey(k.ID, m.ID)+":v2", job.Completed)
}

// An edit that comes before the first delivery has run goes out once, as it is now.
func TestEdit_BeforeTheAnswer(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *wiringtest.Rig, c ticket.Customer) {
		k := r.Open(c, "d1")
		m := r.Comment(k, "/reply первая")
		r.Edit(k, m.ID, "/reply вторая", "e1")
		wantSaid(t, r, c, "первая", 0)
		wantSaid(t, r, c, "вторая", 1)
	})
}
