package ticketing_test

import (
	"testing"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/person"
	"supportbot/shared/sandbox/tracker"
	"supportbot/shared/ticket"
	"supportbot/shared/wiring/wiringtest"
)

// at is a time that agents in Moscow read as 02.03.2026 15:04:05.
var at = time.Date(2026, 3, 2, 12, 4, 5, 0, time.UTC)

func TestComment_Content(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *wiringtest.Rig, c ticket.Customer) {
		r.Open(c, "d1")
		run(r, says(c, "m1", "d1", ticket.Message{Content: content(r, c)}))
		got := written(r, "d1", "Принтер", 1)[0]
		wantText(r, got.Text, append([]string{`**Иван \*Звёздочка\* (\@ivan\_nick)** пишет:`}, contentParts...)...)
		wantFiles(r, got.Files, "фото 1.txt", "акт.txt")
		if !got.Robot {
			t.Errorf("written by %s", got.Author)
		}
	})
}

// What the messenger has as formatting reaches the ticket as formatting.
func TestComment_Markdown(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	c := wiringtest.Telegrammer()
	r.Open(c, "d1")
	run(r, says(c, "m1", "d1", ticket.Message{Content: messenger.Content{Text: "очень важно", Markdown: "очень **важно**"}}))
	wantText(r, written(r, "d1", "важно", 1)[0].Text, "пишет:\n\nочень **важно**\n\n")
}

// Edits and messages that were overtaken say so, with their own time.
func TestComment_EditsAndLateOnes(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	c := wiringtest.VKontakter()
	c.User.Name, c.User.Username = "", ""
	r.Open(c, "d1")
	for key, tc := range map[string]struct {
		m    ticket.Message
		want string
	}{
		"edit": {ticket.Message{Edited: true}, " исправляет сообщение от 02.03.2026 15:04:05, новый текст:\n\n"},
		"late": {ticket.Message{Late: true}, " пишет (отправлено 02.03.2026 15:04:05, пришло позже):\n\n"},
		"both": {ticket.Message{Edited: true, Late: true}, " исправляет сообщение от 02.03.2026 15:04:05, новый текст:\n\n"},
		"new":  {ticket.Message{}, " пишет:\n\n"},
	} {
		tc.m.At, tc.m.Text = at, "слова "+key
		run(r, says(c, key, "d1", tc.m))
		wantText(r, written(r, "d1", "слова "+key, 1)[0].Text, "**"+c.User.ID+"**"+tc.want+"слова "+key+"\n\n[//]: # (support-bot:c")
	}
}

// part is one part of an album.
func part(r *wiringtest.Rig, c ticket.Customer, key, name string, sent messenger.Attachment, after time.Duration) job.New {
	j := says(c, key, "d1", ticket.Message{At: at.Add(after), Content: messenger.Content{Text: name, Attachments: []messenger.Attachment{sent}}})
	j.Key = ticket.AlbumKey(c.Address, "A")
	j.Gather = &job.Gather{Member: key, Wait: 3 * time.Second, Cap: 12 * time.Second}
	return j
}

// An album is one comment, in the order in which its parts were sent, each once;
// a part that comes when it has been written makes its own.
func TestComment_Album(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *wiringtest.Rig, c ticket.Customer) {
		r.Open(c, "d1")
		file := map[string]messenger.Attachment{}
		for _, name := range []string{"1.txt", "2.txt", "3.txt", "4.txt"} {
			file[name] = sent(r, c, name, []byte(name))
		}
		second := part(r, c, "m2", "вторая", file["2.txt"], 1)
		r.Insert(part(r, c, "m3", "третья", file["3.txt"], 2))
		r.Insert(part(r, c, "m1", "первая", file["1.txt"], 0), second)
		r.Insert(second)
		r.Work()
		written(r, "d1", "пишет", 0)
		r.Later(4 * time.Second)
		r.Want(ticket.AlbumKey(c.Address, "A"), job.Completed)
		got := written(r, "d1", "пишет", 1)[0]
		wantText(r, got.Text, "пишет:", "первая", "вторая", "третья")
		wantFiles(r, got.Files, "1.txt", "2.txt", "3.txt")

		run(r, part(r, c, "m4", "четвёртая", file["4.txt"], 3), second)
		r.Later(4 * time.Second)
		r.Want("m4", job.Completed)
		late := written(r, "d1", "пишет", 2)[1]
		wantText(r, late.Text, "пишет:", "четвёртая")
		wantFiles(r, late.Files, "4.txt")
	})
}

// A ticket is acted on for its own customer alone, however it is named.
func TestComment_ForeignTicket(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	owner, forger := wiringtest.Telegrammer(), wiringtest.VKontakter()
	k := r.Open(owner, "d1")
	nobodys, err := r.Agent.Create(tracker.NewTicket{Summary: "внутри"})
	if err != nil {
		t.Fatal(err)
	}
	r.Open(forger, "d2")
	before := r.Ticket("d1").Version
	for name, ref := range map[string]ticket.Ref{"draft": {Draft: "d1"}, "issue": {Issue: k.ID}, "key": {Issue: k.Key}, "nobody's": {Issue: nobodys.ID}} {
		m := ticket.Message{Key: "m" + name, At: at, Content: messenger.Content{Text: "чужое"}}
		run(r,
			wiringtest.Inbound(forger, ticket.KindComment, "m"+name, 1, ticket.Comment{Customer: forger, Ref: ref, Message: m}),
			wiringtest.Inbound(forger, ticket.KindRate, "r"+name, 2, ticket.Rate{Customer: forger, Ref: ref, Score: 1}),
			wiringtest.Inbound(forger, ticket.KindReopen, "o"+name, 3, ticket.Reopen{Customer: forger, Ref: ref, Message: &m}))
		for _, kind := range []string{"m", "r", "o"} {
			r.Want(kind+name, job.NeedsReview)
		}
	}
	now, _ := r.Tracker.Ticket(nobodys.ID)
	if r.Ticket("d1").Version != before || now.Version != nobodys.Version {
		t.Errorf("a foreign ticket was changed: %+v, %+v", r.Ticket("d1"), now)
	}
	run(r, wiringtest.Says(forger, "m2", "d2", "своё"))
	written(r, "d2", "своё", 1)
}

// A ticket without a draft, and one whose draft was cleaned up long ago.
func TestComment_FindsTheTicket(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	c := wiringtest.Telegrammer()
	r.Open(c, "d1")
	r.Exec(`DELETE FROM jobs`)
	run(r, wiringtest.Says(c, "m1", "d1", "после уборки"))
	written(r, "d1", "после уборки", 1)

	byAgent, err := r.Agent.Create(tracker.NewTicket{Summary: "по звонку", Fields: map[string]string{
		"supportMessenger": "telegram", "supportBot": c.Address.Bot, "supportChat": c.Address.Chat,
	}})
	if err != nil {
		t.Fatal(err)
	}
	run(r, wiringtest.Inbound(c, ticket.KindComment, "m2", 1, ticket.Comment{
		Customer: c, Ref: ticket.Ref{Issue: byAgent.ID}, Message: ticket.Message{Key: "m2", At: at, Content: messenger.Content{Text: "да"}},
	}))
	if k, _ := r.Tracker.Ticket(byAgent.ID); len(wiringtest.Comments(k, "да\n")) != 1 {
		t.Errorf("comments %+v", k.Comments)
	}
}

// The ticket of somebody who was erased is nobody's, also for who writes from the same chat
// and has its button yet.
func TestComment_ErasedTicket(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	c := wiringtest.Telegrammer()
	r.Met(c)
	r.Open(c, "d1")
	p, err := r.DB.Person(r.Context(), c.Address)
	if err != nil || p == nil {
		t.Fatalf("person: %v, %v", p, err)
	}
	r.Insert(person.EraseJob(p.ID))
	r.Later(10 * time.Second)
	r.Want(person.EraseKey(p.ID), job.Completed)
	r.Met(c)
	run(r, wiringtest.Says(c, "m1", "d1", "снова я"))
	r.Want("m1", job.NeedsReview)
	written(r, "d1", "снова я", 0)
}

// Moved to another queue, with another key and without its fields, a ticket still
// takes what its customer writes.
func TestComment_MovedTicket(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *wiringtest.Rig, c ticket.Customer) {
		k := r.Open(c, "d1")
		if _, err := r.Agent.Move(k.Key, "BIL"); err != nil {
			t.Fatal(err)
		}
		run(r,
			wiringtest.Says(c, "m1", "d1", "по черновику"),
			wiringtest.Inbound(c, ticket.KindComment, "m2", 11, ticket.Comment{
				Customer: c, Ref: ticket.Ref{Issue: k.ID}, Message: ticket.Message{Key: "m2", At: at, Content: messenger.Content{Text: "по номеру"}},
			}))
		written(r, "d1", "по черновику", 1)
		written(r, "d1", "по номеру", 1)
		if q := r.Ticket("d1").Queue; q != "BIL" {
			t.Errorf("the ticket is in %s", q)
		}
	})
}
