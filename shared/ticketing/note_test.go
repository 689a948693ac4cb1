package ticketing_test

import (
	"strings"
	"testing"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/sandbox/fault"
	"supportbot/shared/ticket"
	"supportbot/shared/ticketing"
	"supportbot/shared/wiring/wiringtest"
)

func TestNote(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	c := wiringtest.Telegrammer()
	k := r.Open(c, "d1")
	for kind, want := range map[ticket.NoteKind]string{
		ticket.NoteUndelivered: "Ответ не доставлен: клиент запретил боту писать ему или удалил аккаунт.",
		ticket.NoteRefused:     `не принимает такое сообщение (a\_\*.txt)`,
		ticket.NoteResent:      "Ответ мог прийти клиенту дважды",
		ticket.NoteReview:      "Неизвестно, дошёл ли ответ до клиента",
		ticket.NoteTooLarge:    `Файл «a\_\*.txt» не отправлен`,
	} {
		key := "note:" + string(kind)
		run(r, wiringtest.Inbound(c, ticket.KindNote, key, 1, ticket.Note{Ref: ticket.Ref{Issue: k.ID}, Note: kind, Detail: "a_*.txt"}))
		r.Want(key, job.Completed)
		wantText(r, written(r, "d1", want, 1)[0].Text, want, "\n\n[//]: # (support-bot:r")
	}
	run(r, wiringtest.Inbound(c, ticket.KindNote, "nowhere", 1, ticket.Note{Ref: ticket.Ref{Draft: "d1"}, Note: ticket.NoteResent}))
	r.Want("nowhere", job.NeedsReview)
	if got := told(r, c); len(got) != 0 {
		t.Errorf("the customer was told of a note: %q", got)
	}
}

func TestNote_OutcomeUnknown(t *testing.T) {
	t.Parallel()
	for _, kind := range []fault.Kind{fault.CloseAfter, fault.CloseBefore} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			r := wiringtest.New(t)
			c := wiringtest.VKontakter()
			k := r.Open(c, "d1")
			fails(r, postComment, kind, 1)
			run(r, wiringtest.Inbound(c, ticket.KindNote, "n1", 1, ticket.Note{Ref: ticket.Ref{Issue: k.ID}, Note: ticket.NoteResent}))
			r.Want("n1", job.Queued)
			r.Later(time.Minute)
			r.Want("n1", job.Completed)
			written(r, "d1", "дважды", 1)
		})
	}
}

// An event that could not be placed while Tracker was away is handled when it is
// back, also after hours.
func TestAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *wiringtest.Rig, c ticket.Customer) {
		r.Open(c, "d1")
		const search = "POST /v3/issues/_search"
		refuses(r, search, 503, 0)
		ev := messenger.Event{
			Key: "e1", Kind: messenger.EventMessage, Address: c.Address, User: c.User, Time: at, Sequence: 7, MessageID: "7",
			Content: messenger.Content{Text: "куда-нибудь"},
		}
		run(r, wiringtest.Inbound(c, ticket.KindAgain, "again:e1", 7, ticket.Again{Event: ev}))
		for range job.Attempts + 1 {
			r.Later(15 * time.Minute)
		}
		wantState(r, "again:e1", job.Queued, 0)
		written(r, "d1", "куда-нибудь", 0)
		r.Tracker.Faults().Clear()
		r.Later(15 * time.Minute)
		wantState(r, "again:e1", job.Completed, 0)
		r.Later(10 * time.Second)
		written(r, "d1", "куда-нибудь", 1)
	})
}

// Who is told of a review, in their language: the customer whose words are not in
// the ticket yet.
func TestReview(t *testing.T) {
	t.Parallel()
	c := wiringtest.Telegrammer()
	c.Locale = "en"
	ev := messenger.Event{Address: c.Address, User: messenger.User{Locale: "en"}}
	comment := ticket.Comment{Customer: c}
	for name, tc := range map[string]struct {
		kind    string
		payload any
		want    string
	}{
		"creation":    {ticket.KindCreate, ticket.Create{Customer: c}, "could not be opened at once"},
		"comment":     {ticket.KindComment, comment, "could not be added to the ticket"},
		"album":       {ticket.KindComment, []job.Member{{Payload: encoded(t, comment)}}, "could not be added to the ticket"},
		"rating":      {ticket.KindRate, ticket.Rate{Customer: c}, "could not be added to the ticket"},
		"reopening":   {ticket.KindReopen, ticket.Reopen{Customer: c}, "could not be added to the ticket"},
		"event":       {ticket.KindAgain, ticket.Again{Event: ev}, "could not be added to the ticket"},
		"note":        {ticket.KindNote, ticket.Note{}, ""},
		"delivery":    {ticket.KindNotice, ticket.Notice{Address: c.Address}, ""},
		"unreadable":  {ticket.KindComment, "what is this", ""},
		"empty album": {ticket.KindComment, []job.Member{}, ""},
	} {
		got := ticketing.Review(job.Job{Key: "k", Kind: tc.kind, Payload: encoded(t, tc.payload), CreatedAt: at})
		if (len(got) == 1) != (tc.want != "") {
			t.Errorf("%s: %d are told", name, len(got))
			continue
		}
		if len(got) == 0 {
			continue
		}
		n, _ := got[0].Payload.(ticket.Notice)
		if n.Address != c.Address || got[0].Key != "k:review" || got[0].Lane.Name != ticket.OutboundLane(c.Address) || got[0].Sequence != at.UnixMilli() {
			t.Errorf("%s: %+v", name, got[0])
		}
		if !strings.Contains(n.Part.Text, tc.want) {
			t.Errorf("%s: told %q", name, n.Part.Text)
		}
	}
}
