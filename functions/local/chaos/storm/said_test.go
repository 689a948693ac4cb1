package storm_test

import (
	"testing"
	"time"

	"supportbot/functions/local/chaos/storm"
)

const (
	question = "Открытых обращений нет. Создать новое с этим сообщением?"
	outdated = "Форма устарела, ответы в ней не сохранились."
)

// lose takes a message of Ivan's out of his ticket: number 1 or 2.
func lose(b *storm.Books, n int) { b.Tickets[0].Entries[n].Text = "" }

func other(key, text string) storm.Ticket {
	return storm.Ticket{Key: key, Chat: maria, Summary: "S2N1E", Entries: []storm.Entry{{Text: text, At: at(9)}}}
}

func TestBalance_Said(t *testing.T) {
	t.Parallel()
	spoilt{
		"a message is lost":    {func(b *storm.Books) { lose(b, 2) }, "M1N4E of " + ivan + " was written and is lost"},
		"a message is doubled": {func(b *storm.Books) { repeat(&b.Tickets[0].Entries, 2) }, "M1N4E is in tickets 2 times"},
		"a message is in two tickets": {func(b *storm.Books) {
			b.Tickets[1].Entries = append(b.Tickets[1].Entries, storm.Entry{Text: "M1N3E", At: at(9)})
		}, "M1N3E is in tickets 2 times"},
		"a message is somebody else's": {func(b *storm.Books) {
			lose(b, 1)
			b.Tickets[1].Entries = append(b.Tickets[1].Entries, storm.Entry{Text: "M1N3E", At: at(9)})
		}, "M1N3E is in somebody else's ticket"},
		"a message that VK never brought is lost": {func(b *storm.Books) {
			b.Said[5].Brought, b.Tickets[1].Entries[1].Text = false, ""
		}, "M2N2E of " + maria + " was written and is lost"},
		"one that VK brought is lost in a wipe": {func(b *storm.Books) {
			b.Tickets[1].Entries[1].Text, b.Wipes = "", []time.Time{at(6)}
		}, "M2N2E"},
		"a message is asked about though nothing was forgotten": {func(b *storm.Books) {
			lose(b, 2)
			tell(b, ivan, question, at(20))
		}, "M1N4E of " + ivan + " was written and is lost"},
		"a question was about another burst": {func(b *storm.Books) {
			lose(b, 1)
			lose(b, 2)
			b.Wipes = []time.Time{at(5)}
			tell(b, ivan, question, at(7))
		}, "M1N4E"},
		"a question came before": {func(b *storm.Books) {
			lose(b, 2)
			b.Wipes = []time.Time{at(1)}
			tell(b, ivan, question, at(3))
		}, "M1N4E"},
		"the photo of a message is lost":    {func(b *storm.Books) { b.Tickets[0].Files = b.Tickets[0].Files[:1] }, "the file of M1N4E is in its ticket 0 times"},
		"the photo of a message is doubled": {func(b *storm.Books) { repeat(&b.Tickets[0].Files, 1) }, "the file of M1N4E is in its ticket 2 times"},
		"a photo is another one":            {func(b *storm.Books) { b.Tickets[0].Files[0] = "photo" }, "the file of D1N2E is in its ticket 0 times"},
	}.check(t)
	excused{
		"in review": {func(b *storm.Books) {
			lose(b, 2)
			b.Held = []string{`{"text": "M1N4E"}`}
		}, func(b *storm.Balance) int { return b.Held }, 1},
		"a burst was asked about": {func(b *storm.Books) {
			b.Said[3].Burst = 1
			lose(b, 1)
			lose(b, 2)
			b.Wipes = []time.Time{at(4)}
			tell(b, ivan, question, at(7))
		}, func(b *storm.Balance) int { return b.Returned }, 2},
		"two bursts, two questions": {func(b *storm.Books) {
			lose(b, 1)
			lose(b, 2)
			b.Wipes = []time.Time{at(4)}
			tell(b, ivan, question, at(7))
			tell(b, ivan, "Сообщение не отправлено.", at(8))
		}, func(b *storm.Balance) int { return b.Returned }, 2},
		"VK never brought it, and who took what was forgotten": {func(b *storm.Books) {
			b.Said[5].Brought, b.Tickets[1].Entries[1].Text, b.Wipes = false, "", []time.Time{at(60)}
		}, func(b *storm.Balance) int { return b.Unbrought }, 1},
	}.check(t)
}

func TestBalance_Order(t *testing.T) {
	t.Parallel()
	swap := func(b *storm.Books) {
		e := b.Tickets[0].Entries
		e[1], e[2] = e[2], e[1]
	}
	// lately lets Ivan's first message say that it came late.
	lately := func(b *storm.Books, when string) {
		swap(b)
		b.Tickets[0].Entries[2].Text = "пишет (отправлено 01.03.2026 " + when + ", пришло позже): M1N3E"
	}
	call := func(chat string, number int64, began, ended float64) storm.Brought {
		return storm.Brought{Chat: chat, Number: number, Began: at(began), At: at(ended)}
	}
	overtaken := []storm.Brought{call(ivan, 5, 5, 5), call(ivan, 4, 6, 6)}
	spoilt{
		"messages are in wrong order": {swap, "M1N3E stands behind M1N4E"},
		"they are, and a wipe was before": {func(b *storm.Books) {
			swap(b)
			b.Brought, b.Wipes = overtaken, []time.Time{at(4)}
		}, "M1N3E stands behind M1N4E"},
		"they are, and a wipe was after": {func(b *storm.Books) {
			swap(b)
			b.Brought, b.Wipes = overtaken, []time.Time{at(9)}
		}, "M1N3E stands behind M1N4E"},
		"nothing overtook it": {func(b *storm.Books) {
			lately(b, "15:00:04")
			b.Brought = []storm.Brought{call(ivan, 4, 3, 4), call(ivan, 5, 6.5, 7), call(maria, 9, 3, 3)}
		}, "M1N3E, number 4, says it came late, and nothing overtook it"},
		"it shows another time": {func(b *storm.Books) {
			lately(b, "12:00:04")
			b.Brought = overtaken
		}, "it is of 15:00:04"},
		"answers are in wrong order": {func(b *storm.Books) {
			b.Chats[ivan][1].ID = 70
			b.Chats[ivan] = b.Chats[ivan][:4]
			b.Written = b.Written[:4]
			b.Written[2].Loose = true
			b.Copies, b.News = b.Copies[1:], nil
		}, "A1N7E came to " + ivan + " before an earlier one"},
		"a status is before an answer":       {func(b *storm.Books) { b.Chats[ivan][4].ID = 5 }, "status S1N1E came to " + ivan + " before an earlier one"},
		"a file comes before its answer":     {func(b *storm.Books) { b.Chats[ivan][2].ID = 5 }, "file F1N6E.txt came to " + ivan + " before an earlier one"},
		"a file comes after the next answer": {func(b *storm.Books) { b.Chats[ivan][3].ID = 6; b.Chats[ivan][1].ID = 5 }, "answer A1N7E came to " + ivan + " before an earlier one"},
	}.check(t)
	recorded := func(b *storm.Balance) int { return b.Recorded }
	excused{
		"they are in wrong order, and a wipe was between": {func(b *storm.Books) {
			swap(b)
			b.Brought, b.Wipes = overtaken, []time.Time{at(5.5)}
		}, func(b *storm.Balance) int { return b.Unmarked }, 1},
		"it was overtaken": {func(b *storm.Books) {
			lately(b, "15:00:04")
			b.Brought = overtaken
		}, recorded, 3},
		"it was brought again when another had overtaken it": {func(b *storm.Books) {
			lately(b, "15:00:04")
			b.Brought = append([]storm.Brought{call(ivan, 4, 4, 4)}, overtaken...)
		}, recorded, 3},
		"a newer one was taken at once, and its answer came much later": {func(b *storm.Books) {
			lately(b, "15:00:04")
			b.Brought = []storm.Brought{call(ivan, 4, 4, 5), call(ivan, 5, 5, 60)}
		}, recorded, 3},
		"VK never brought it": {func(b *storm.Books) {
			lately(b, "15:00:04")
			b.Brought, b.Said[2].Brought = overtaken[:1], false
		}, recorded, 3},
	}.check(t)
}

func TestBalance_Forms(t *testing.T) {
	t.Parallel()
	// without takes Maria's ticket away, and says nothing of it to her.
	without := func(b *storm.Books) {
		b.Tickets, b.Said = b.Tickets[:1], b.Said[:5]
		b.Chats[maria][0].Text = "Здравствуйте!"
	}
	spoilt{
		"a form was accepted and is lost": {func(b *storm.Books) {
			without(b)
			b.Chats[maria][0].Text = "Обращение «S2N1E не печатает» принято."
		}, "S2N1E was accepted and has no ticket"},
		"a form was sent and is lost": {without, "the form S2N1E was sent and is lost"},
		"a form was sent, and only its memory was wiped": {func(b *storm.Books) {
			without(b)
			b.Wipes = []time.Time{at(2)}
		}, "the form S2N1E was sent and is lost"},
		"a form was sent, and its customer only told": {func(b *storm.Books) {
			without(b)
			tell(b, maria, outdated, at(4))
		}, "the form S2N1E was sent and is lost"},
		"a form was sent, and its customer told of an earlier one": {func(b *storm.Books) {
			without(b)
			b.Wipes = []time.Time{at(2)}
			b.Forms[1].Began = at(1.5)
			tell(b, maria, outdated, at(0))
		}, "the form S2N1E was sent and is lost"},
		"a form was sent, and its memory wiped only after that": {func(b *storm.Books) {
			without(b)
			b.Wipes = []time.Time{b.Forms[1].Sent.Add(time.Second), b.Forms[1].Sent.Add(2 * time.Second)}
		}, "the form S2N1E was sent and is lost"},
		"a form has made two tickets": {func(b *storm.Books) { b.Tickets = append(b.Tickets, other("SUP-3", "")) }, "S2N1E has made 2 tickets"},
		"a part of a form is lost": {func(b *storm.Books) {
			b.Tickets[0].Entries[0].Text = ""
		}, "part D1N2E of the form S1N1E is not in its ticket"},
		"a part of a form is doubled": {func(b *storm.Books) { b.Tickets[0].Entries[1].Text += " D1N2E" }, "part D1N2E of a form is in tickets 2 times"},
		"a ticket of no form": {func(b *storm.Books) {
			b.Tickets = append(b.Tickets, storm.Ticket{Key: "SUP-3", Chat: ivan, Summary: "привет"})
		}, "SUP-3 is of no form"},
		"a rating is lost":        {func(b *storm.Books) { b.Tickets[0].Rating = "" }, `SUP-1 was rated 5 by ` + ivan + ` and has ""`},
		"a rating is another one": {func(b *storm.Books) { b.Tickets[0].Rating = "4" }, `has "4"`},
	}.check(t)
	excused{
		"a form was not sent": {func(b *storm.Books) {
			without(b)
			b.Forms[1].Sent = time.Time{}
		}, func(b *storm.Balance) int { return b.Again }, 1},
		"a form was forgotten, and its customer told": {func(b *storm.Books) {
			without(b)
			b.Wipes = []time.Time{at(2)}
			tell(b, maria, outdated, at(2))
		}, func(b *storm.Balance) int { return b.Told }, 1},
		"a form was forgotten, and what was to be said of that": {func(b *storm.Books) {
			without(b)
			b.Wipes = []time.Time{b.Forms[1].Began.Add(time.Millisecond), b.Forms[1].Sent.Add(time.Minute)}
		}, func(b *storm.Balance) int { return b.Unsaid }, 1},
		"a form is in review": {func(b *storm.Books) {
			without(b)
			b.Held = []string{`{"subject": "S2N1E"}`}
		}, func(b *storm.Balance) int { return b.Held }, 1},
		"a rating is in review": {func(b *storm.Books) {
			b.Tickets[0].Rating = ""
			b.Held = []string{`{"customer": "3300000000000", "score": 5}`}
		}, func(b *storm.Balance) int { return b.Ratings }, 1},
	}.check(t)
}

func TestBalance_Told(t *testing.T) {
	t.Parallel()
	spoilt{
		"an answer is lost":    {func(b *storm.Books) { b.Chats[ivan][1].Text = "" }, "answer A1N6E never came"},
		"a file is lost":       {func(b *storm.Books) { b.Chats[ivan][2].Text = "" }, "file F1N6E.txt never came"},
		"an answer is doubled": {func(b *storm.Books) { repeatChat(b, ivan, 1) }, "answer A1N6E came to " + ivan + " 2 times"},
		"a status is not told": {func(b *storm.Books) { b.Chats[ivan][4].Text = "" }, "status S1N1E never came"},
		"a status is doubled, another one admitted": {func(b *storm.Books) {
			repeatChat(b, ivan, 4)
			b.Jobs = []storm.Listed{{Key: "tracker:a:change:8", Resent: true}, {Key: "tracker:a:change:91", Resent: true}}
		}, "status S1N1E came to " + ivan + " 2 times"},
		"a note for colleagues is written to a customer": {func(b *storm.Books) { b.Calls[2].Text = "I1N5E" }, "I1N5E for colleagues went to vk " + maria},
		"a note for colleagues is in an edit": {func(b *storm.Books) {
			b.Calls = append(b.Calls, storm.Call{Service: "telegram", Method: "editMessageText", Text: "I1N5E", At: at(20)})
		}, "by editMessageText"},
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
		"an answer is doubled in the calm": {func(b *storm.Books) {
			repeatChat(b, ivan, 1)
			b.Jobs, b.Struck = []storm.Listed{{Key: "tracker:a:comment:7", Resent: true}}, at(12)
		}, "answer A1N6E came to " + ivan + " 2 times"},
		"VK's are never uncertain": {func(b *storm.Books) {
			b.Written = append(b.Written, storm.Written{Kind: "answer", Token: "A2N1E", Chat: maria, Job: "tracker:b:comment:1"})
			tell(b, maria, "A2N1E", at(20))
			tell(b, maria, "A2N1E", at(21))
			b.Jobs = []storm.Listed{{Key: "tracker:b:comment:1", Resent: true}}
		}, "answer A2N1E came to " + maria + " 2 times"},
	}.check(t)
	excused{
		"twice and said so": {func(b *storm.Books) {
			repeatChat(b, ivan, 1)
			b.Jobs = []storm.Listed{{Key: "tracker:a:comment:7", Resent: true}}
		}, func(b *storm.Balance) int { return b.Twice }, 1},
		"a status twice and said so": {func(b *storm.Books) {
			repeatChat(b, ivan, 4)
			b.Jobs = []storm.Listed{{Key: "tracker:a:change:9", Resent: true}}
		}, func(b *storm.Balance) int { return b.Twice }, 1},
		"in review": {func(b *storm.Books) {
			b.Chats[ivan][3].Text = ""
			b.Jobs = []storm.Listed{{Key: "tracker:a:comment:8:edit:1", Review: true}}
		}, func(b *storm.Balance) int { return b.Review }, 1},
		"replaced by a newer version": {func(b *storm.Books) {
			b.Chats[ivan][3].Text, b.Written[3].Replaced = "", true
		}, func(b *storm.Balance) int { return b.Once }, 4},
	}.check(t)
}
