package ticketing_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"supportbot/shared/messenger"
	sandbox "supportbot/shared/sandbox/tracker"
	"supportbot/shared/ticket"
	"supportbot/shared/ticketing"
	"supportbot/shared/wiring/wiringtest"
)

func lister(r *wiringtest.Rig) *ticketing.Lister {
	return &ticketing.Lister{Tracker: r.Bot.Tracker, Catalogue: r.Catalogue, Rule: r.Rule}
}

func history(r *wiringtest.Rig, c ticket.Customer, ref ticket.Ref) []ticket.Entry {
	r.T.Helper()
	entries, err := lister(r).History(r.Context(), c.Address, ref)
	if err != nil {
		r.T.Fatal(err)
	}
	return entries
}

func TestLister_Tickets(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *wiringtest.Rig, c ticket.Customer) {
		name := string(c.Address.Messenger)
		fields := map[string]string{"supportMessenger": name, "supportBot": c.Address.Bot, "supportChat": c.Address.Chat}
		opened := r.Open(c, "d1")
		moveTo(r, opened, "closed")
		byAgent, err := r.Agent.Create(sandbox.NewTicket{Summary: "по звонку", Fields: fields})
		if err != nil {
			t.Fatal(err)
		}
		// Somebody else's, whose fields name this customer's chat in another
		// messenger or with another bot.
		for key, v := range map[string]string{"supportMessenger": "other", "supportBot": "1", "supportChat": "1"} {
			other := map[string]string{"supportMessenger": name, "supportBot": c.Address.Bot, "supportChat": c.Address.Chat}
			other[key] = v
			if _, err := r.Agent.Create(sandbox.NewTicket{Summary: "чужое", Fields: other}); err != nil {
				t.Fatal(err)
			}
		}
		got, err := lister(r).Tickets(r.Context(), c.Address)
		if err != nil {
			t.Fatal(err)
		}
		now := r.Ticket("d1")
		slices.SortFunc(got, func(a, b ticket.Summary) int { return a.CreatedAt.Compare(b.CreatedAt) })
		want := []ticket.Summary{
			{
				Ref: ticket.Ref{Draft: "d1"}, Key: now.Key, Title: "Не печатает", Status: "closed", StatusName: "Закрыт", Phase: ticket.PhaseClosed,
				CreatedAt: now.CreatedAt, UpdatedAt: now.UpdatedAt, ClosedAt: now.UpdatedAt,
			},
			{
				Ref: ticket.Ref{Issue: byAgent.ID}, Key: byAgent.Key, Title: "по звонку", Status: "open", StatusName: "Открыт", Phase: ticket.PhaseOpen,
				CreatedAt: byAgent.CreatedAt, UpdatedAt: byAgent.UpdatedAt,
			},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// Fields can be changed by anybody who works in Tracker; whose a ticket is cannot.
func TestLister_FieldsThatLie(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	owner, other := wiringtest.Telegrammer(), wiringtest.VKontakter()
	k := r.Open(owner, "d1")
	if err := r.Bot.Tracker.SetFields(r.Context(), k.ID, fieldsOf(other.Address)); err != nil {
		t.Fatal(err)
	}
	if got, err := lister(r).Tickets(r.Context(), other.Address); err != nil || len(got) != 0 {
		t.Errorf("the other one sees %+v, %v", got, err)
	}
	if got, err := lister(r).History(r.Context(), other.Address, ticket.Ref{Issue: k.ID}); err == nil {
		t.Errorf("the other one sees %+v", got)
	}
	if got := history(r, owner, ticket.Ref{Issue: k.ID}); len(got) == 0 {
		t.Error("the owner sees nothing")
	}
}

// A customer sees what they wrote, what was answered and how the status went, and
// nothing that is said inside.
func TestLister_History(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *wiringtest.Rig, c ticket.Customer) {
		k := r.Open(c, "d1")
		m := withFiles(sent(r, c, "a.txt", []byte("a.txt")))
		m.Text = "/reply не *работает*\n<b>вовсе</b>"
		run(r, says(c, "m1", "d1", m))
		r.Comment(k, "между нами")
		r.Comment(k, "/reply Проверьте **кабель**", sandbox.NewFile{Name: "схема.txt", Data: []byte("x")})
		if _, err := r.Agent.Comment(k.ID, "и [здесь](https://example.org)", "support-robot"); err != nil {
			t.Fatal(err)
		}
		moveTo(r, k, "inProgress")
		run(r, rates(c, "r1", 11, 5, "спасибо"), says(c, "m2", "d1", ticket.Message{Edited: true, Content: messenger.Content{Text: "уже работает"}}))
		moveTo(r, k, "resolved")
		run(r, reopens(c, "o1", ""), wiringtest.Inbound(c, ticket.KindNote, "n1", 12, ticket.Note{Ref: ticket.Ref{Issue: k.ID}, Note: ticket.NoteResent}))

		want := []ticket.Entry{
			{Kind: "created", Text: "Не печатает"},
			{Kind: "customer", Text: "/reply не *работает*\n<b>вовсе</b>", Files: 1},
			{Kind: "agent", Text: "Проверьте кабель", Files: 1},
			{Kind: "agent", Text: "и здесь (https://example.org)"},
			{Kind: "status", Status: "inProgress"},
			{Kind: "customer", Text: "уже работает"},
			{Kind: "status", Status: "resolved"},
			{Kind: "status", Status: "reopened", StatusName: "Переоткрыт"},
		}
		got := history(r, c, ticket.Ref{Draft: "d1"})
		if diff := cmp.Diff(want, slices.DeleteFunc(slices.Clone(got), opening), cmpopts.IgnoreFields(ticket.Entry{}, "At")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		for i, e := range got {
			if e.At.IsZero() || i > 0 && e.At.Before(got[i-1].At) {
				t.Errorf("entry %d is out of order: %+v", i, got)
			}
		}
	})
}

// opening is the status that a ticket begins with.
func opening(e ticket.Entry) bool { return e.Kind == "status" && e.Status == "open" }

// An agent who copies a comment of the customer's, marker and all, says nothing to
// the customer by that; with the prefix it is a reply like any other.
func TestLister_QuotedMarker(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	c := wiringtest.Telegrammer()
	k := r.Open(c, "d1")
	run(r, wiringtest.Says(c, "m1", "d1", "мои слова"))
	copied := written(r, "d1", "мои слова", 1)[0].Text
	r.Comment(k, "грубит:\n"+copied)
	r.Comment(k, copied)
	r.Comment(k, copied+"\nпервое")
	r.Comment(k, "/reply вы писали\n\n"+copied)
	var texts []string
	for _, e := range history(r, c, ticket.Ref{Draft: "d1"}) {
		if e.Kind == "customer" || e.Kind == "agent" {
			texts = append(texts, string(e.Kind))
		}
	}
	if diff := cmp.Diff([]string{"customer", "agent"}, texts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLister_ForeignTicket(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	owner, other := wiringtest.Telegrammer(), wiringtest.VKontakter()
	k := r.Open(owner, "d1")
	nobodys, err := r.Agent.Create(sandbox.NewTicket{Summary: "внутри"})
	if err != nil {
		t.Fatal(err)
	}
	for name, ref := range map[string]ticket.Ref{
		"draft": {Draft: "d1"}, "issue": {Issue: k.ID}, "key": {Issue: k.Key}, "nobody's": {Issue: nobodys.ID}, "nothing": {}, "a path": {Issue: "../myself"},
	} {
		if got, err := lister(r).History(r.Context(), other.Address, ref); err == nil {
			t.Errorf("%s: saw %+v", name, got)
		}
	}
	if got := history(r, owner, ticket.Ref{Issue: k.ID}); len(got) == 0 {
		t.Error("the owner sees nothing")
	}
}

// A moved ticket has lost its fields and keeps its history.
func TestLister_MovedTicket(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	c := wiringtest.Telegrammer()
	k := r.Open(c, "d1")
	run(r, wiringtest.Says(c, "m1", "d1", "до переезда"))
	if _, err := r.Agent.Move(k.Key, "BIL"); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []ticket.Ref{{Draft: "d1"}, {Issue: k.ID}} {
		if got := history(r, c, ref); !slices.ContainsFunc(got, func(e ticket.Entry) bool { return e.Text == "до переезда" }) {
			t.Errorf("%s: %+v", ref, got)
		}
	}
}

// Errors of Tracker's are errors, never an empty history.
func TestLister_TrackerAway(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	c := wiringtest.Telegrammer()
	r.Open(c, "d1")
	for _, method := range []string{
		"POST /v2/issues/_findByUnique", getComments, "GET /v3/issues/*/changelog", "GET /v3/myself",
	} {
		refuses(r, method, 503, 1)
		if got, err := lister(r).History(r.Context(), c.Address, ticket.Ref{Draft: "d1"}); err == nil {
			t.Errorf("%s: saw %+v", method, got)
		}
	}
	refuses(r, "POST /v3/issues/_search", 503, 1)
	if got, err := lister(r).Tickets(r.Context(), c.Address); err == nil {
		t.Errorf("saw %+v", got)
	}
	if got := history(r, c, ticket.Ref{Draft: "d1"}); len(got) == 0 || got[0].At.After(time.Now()) {
		t.Errorf("saw %+v", got)
	}
}
