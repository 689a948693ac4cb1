package storm_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"supportbot/functions/local/chaos/storm"
)

const (
	ivan  = "telegram:3300000000000"
	maria = "vk:4400001"
)

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time { return began.Add(time.Duration(seconds * float64(time.Second))) }

// good are books that balance: Ivan has a ticket, an answer, a note that he does not
// see, and news; Maria has news.
func good() *storm.Books {
	return &storm.Books{
		Said: []storm.Said{
			{Token: "S1N1E", Chat: ivan, Number: 1, At: at(1)}, {Token: "D1N2E", Chat: ivan, Number: 2, At: at(2)},
			{Token: "M1N3E", Chat: ivan, Number: 4, At: at(4)}, {Token: "M1N4E", Chat: ivan, Number: 5, At: at(5)},
		},
		Forms: []storm.Form{{Chat: ivan, Subject: "S1N1E", Parts: []string{"D1N2E"}}},
		Tickets: []storm.Ticket{{Key: "SUP-1", Chat: ivan, Summary: "S1N1E не печатает", Entries: []storm.Entry{
			{Text: "D1N2E", At: at(3)}, {Text: "пишет: M1N3E", At: at(6)}, {Text: "пишет: M1N4E", At: at(7)},
		}}},
		Written: []storm.Written{
			{Kind: "inside", Token: "I1N5E", Chat: ivan, At: at(8)},
			{Kind: "answer", Token: "A1N6E", Chat: ivan, Job: "tracker:a:comment:7", At: at(9)},
			{Kind: "answer", Token: "A1N7E", Chat: ivan, Job: "tracker:a:comment:8", At: at(10)},
			{Kind: "status", Token: "S1N1E", And: "статус «Решено»", Chat: ivan, Job: "tracker:a:change:", At: at(11)},
		},
		Chats: map[string][]storm.Got{
			ivan: {
				{ID: 3, Text: "Обращение «S1N1E не печатает» принято.", At: at(3)},
				{ID: 6, Text: "Ответ: A1N6E", At: at(10)}, {ID: 7, Text: "Ответ: A1N7E", At: at(11)},
				{ID: 8, Text: "Обращение SUP-1 «S1N1E не печатает»: статус «Решено».", At: at(12)},
				{ID: 9, Text: "B0N1E новости", At: at(13)},
			},
			maria: {{ID: 1, Text: "B0N1E новости", At: at(14)}},
		},
		Copies: []storm.Copy{{Token: "B0N1E", Chat: ivan, Outcome: "sent"}, {Token: "B0N1E", Chat: maria, Outcome: "sent"}},
		Sends:  []storm.Send{{Chat: ivan, At: at(3)}, {Chat: ivan, At: at(10)}, {Chat: "vk:", At: at(14)}},
	}
}

func TestBalance_Good(t *testing.T) {
	t.Parallel()
	b := good().Balance()
	if len(b.Wrong) > 0 {
		t.Fatalf("wrong: %q", b.Wrong)
	}
	if b.Said != 2 || b.Recorded != 2 || b.Answers != 3 || b.Once != 3 || b.News != 2 || b.Tickets != 1 || b.Ticket.Longest != 2*time.Second {
		t.Errorf("got %+v", b)
	}
}

// TestBalance_FindsWhatIsWrong: each of these books has one fault.
func TestBalance_FindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(*storm.Books)
		want  string
	}{
		"a message is lost":           {func(b *storm.Books) { b.Tickets[0].Entries = b.Tickets[0].Entries[:2] }, "M1N4E of " + ivan + " was taken and is lost"},
		"a message is doubled":        {func(b *storm.Books) { repeat(&b.Tickets[0].Entries, 2) }, "M1N4E is in tickets 2 times"},
		"a message is in two tickets": {func(b *storm.Books) { b.Tickets = append(b.Tickets, other("SUP-2", "M1N3E")) }, "M1N3E is in tickets 2 times"},
		"a message is somebody else's": {func(b *storm.Books) {
			b.Tickets[0].Entries[1].Text = ""
			b.Tickets = append(b.Tickets, other("SUP-2", "M1N3E"))
		}, "M1N3E is in somebody else's ticket"},
		"messages are in wrong order": {func(b *storm.Books) {
			e := b.Tickets[0].Entries
			e[1], e[2] = e[2], e[1]
		}, "M1N3E stands behind M1N4E"},
		"a form is lost": {func(b *storm.Books) { b.Tickets[0].Summary = "" }, "S1N1E was accepted and has no ticket"},
		"a form has made two tickets": {func(b *storm.Books) {
			b.Tickets = append(b.Tickets, storm.Ticket{Key: "SUP-2", Chat: ivan, Summary: "S1N1E"})
		}, "S1N1E has made 2 tickets"},
		"a part of a form is lost":       {func(b *storm.Books) { b.Tickets[0].Entries[0].Text = "" }, "part D1N2E of the form S1N1E is not in its ticket"},
		"an answer is lost":              {func(b *storm.Books) { b.Chats[ivan][1].Text = "" }, "answer A1N6E never came"},
		"an answer is doubled":           {func(b *storm.Books) { repeatChat(b, ivan, 1) }, "answer A1N6E came to " + ivan + " 2 times"},
		"answers are in wrong order":     {func(b *storm.Books) { b.Chats[ivan][1].ID = 70 }, "A1N7E came to " + ivan + " before an earlier one"},
		"a status is not told":           {func(b *storm.Books) { b.Chats[ivan][3].Text = "" }, "status S1N1E never came"},
		"a note for colleagues leaks":    {func(b *storm.Books) { b.Chats[maria][0].Text += " I1N5E" }, "I1N5E for colleagues came to " + maria},
		"a broadcast comes twice":        {func(b *storm.Books) { repeatChat(b, maria, 0) }, "B0N1E came to " + maria + " 2 times"},
		"a broadcast is lost":            {func(b *storm.Books) { b.Chats[maria] = nil }, `B0N1E to ` + maria + ` is "sent" in our tables and came 0 times`},
		"a broadcast comes to strangers": {func(b *storm.Books) { b.Copies = b.Copies[:1] }, "who is not among its recipients"},
		"too much at once to all chats":  {func(b *storm.Books) { flood(b, 61, 0.9, func(i int) string { return fmt.Sprint("telegram:", i) }) }, "telegram, all chats, 1 s: 61"},
		"too much to all chats":          {func(b *storm.Books) { flood(b, 331, 9.9, func(i int) string { return fmt.Sprint("telegram:", i) }) }, "telegram, all chats, 10 s: 331"},
		"too much to one chat":           {func(b *storm.Books) { flood(b, 15, 9.9, func(int) string { return ivan }) }, "Telegram, one chat, 10 s: 15"},
		"too many calls to VK":           {func(b *storm.Books) { flood(b, 221, 9.9, func(int) string { return "vk:" }) }, "vk, all chats, 10 s: 221"},
		"a canary is in a log":           {func(b *storm.Books) { b.Spilled = []string{"the log: CANARY"} }, "a canary is in the log"},
		// What the platform admits excuses only what it is about.
		"an answer is doubled, another one admitted": {func(b *storm.Books) {
			repeatChat(b, ivan, 1)
			b.Jobs = []storm.Listed{{Key: "tracker:a:comment:8", Resent: true}, {Key: "tracker:a:comment:77", Resent: true}}
		}, "answer A1N6E came to " + ivan + " 2 times"},
		"an answer came thrice": {func(b *storm.Books) {
			repeatChat(b, ivan, 1)
			repeatChat(b, ivan, 1)
			b.Jobs = []storm.Listed{{Key: "tracker:a:comment:7", Resent: true}}
		}, "answer A1N6E came to " + ivan + " 3 times"},
		"an answer is lost and only said to be sent twice": {func(b *storm.Books) {
			b.Chats[ivan][1].Text = ""
			b.Jobs = []storm.Listed{{Key: "tracker:a:comment:7", Resent: true}}
		}, "answer A1N6E never came"},
		"VK's are never uncertain": {func(b *storm.Books) {
			b.Written = append(b.Written, storm.Written{Kind: "answer", Token: "A2N1E", Chat: maria, Job: "tracker:b:comment:1"})
			b.Chats[maria] = append(b.Chats[maria], storm.Got{ID: 2, Text: "A2N1E"}, storm.Got{ID: 3, Text: "A2N1E"})
			b.Jobs = []storm.Listed{{Key: "tracker:b:comment:1", Resent: true}}
		}, "answer A2N1E came to " + maria + " 2 times"},
		"a message is asked about though nothing was forgotten": {func(b *storm.Books) {
			b.Tickets[0].Entries = b.Tickets[0].Entries[:2]
			b.Chats[ivan] = append(b.Chats[ivan], storm.Got{ID: 10, Text: "Открытых обращений нет.", At: at(20)})
		}, "M1N4E of " + ivan + " was taken and is lost"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := good()
			c.spoil(b)
			wrong := b.Balance().Wrong
			if len(wrong) != 1 || !strings.Contains(wrong[0], c.want) {
				t.Errorf("wrong is %q, want %q alone", wrong, c.want)
			}
		})
	}
}

// TestBalance_Excuses: what the platform admits is counted, and no fault.
func TestBalance_Excuses(t *testing.T) {
	t.Parallel()
	b := good()
	repeatChat(b, ivan, 1)
	b.Chats[ivan][2].Text = "Ответ:"
	b.Jobs = []storm.Listed{{Key: "tracker:a:comment:7", Resent: true}, {Key: "tracker:a:comment:8", Review: true}}
	b.Said = append(b.Said, storm.Said{Token: "M1N8E", Chat: ivan, Number: 11, At: at(15)}, storm.Said{Token: "M1N9E", Chat: ivan, Number: 12, At: at(16)})
	b.Held = []string{`{"text": "M1N8E"}`}
	b.Wipes = []time.Time{at(15)}
	b.Chats[ivan] = append(b.Chats[ivan], storm.Got{ID: 10, Text: "Открытых обращений нет.", At: at(17)})
	b.Tickets[0].Entries = append(b.Tickets[0].Entries, storm.Entry{Text: "пишет (отправлено, пришло позже): M1N10E", At: at(18)})
	b.Said = append(b.Said, storm.Said{Token: "M1N10E", Chat: ivan, Number: 3, At: at(17)})
	b.Copies[1].Outcome = "uncertain"
	got := b.Balance()
	if len(got.Wrong) > 0 {
		t.Errorf("wrong: %q", got.Wrong)
	}
	if got.Twice != 1 || got.Review != 1 || got.Held != 1 || got.Returned != 1 || got.Recorded != 3 || got.NewsUncertain != 1 {
		t.Errorf("got %+v", got)
	}
}

func repeat(all *[]storm.Entry, i int) { *all = append(*all, (*all)[i]) }

func repeatChat(b *storm.Books, chat string, i int) {
	b.Chats[chat] = append(b.Chats[chat], b.Chats[chat][i])
}

func other(key, text string) storm.Ticket {
	return storm.Ticket{Key: key, Chat: maria, Entries: []storm.Entry{{Text: text, At: at(9)}}}
}

// flood writes so many times, evenly within so many seconds.
func flood(b *storm.Books, n int, seconds float64, chat func(int) string) {
	for i := range n {
		b.Sends = append(b.Sends, storm.Send{Chat: chat(i), At: at(30 + seconds*float64(i)/float64(n))})
	}
}
