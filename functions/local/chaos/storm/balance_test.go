package storm_test

import (
	"strings"
	"testing"
	"time"

	"supportbot/functions/local/chaos/storm"
	"supportbot/shared/sandbox/fault"
)

const (
	ivan  = "telegram:3300000000000"
	maria = "vk:4400001"
)

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time { return began.Add(time.Duration(seconds * float64(time.Second))) }

// good are books that balance: Ivan has a ticket with a photo, a rating, an answer with a
// file, a note that he does not see, and news; Maria has a ticket and news.
func good() *storm.Books {
	return &storm.Books{
		Said: []storm.Said{
			{Token: "S1N1E", Chat: ivan, Number: 1, At: at(1), Brought: true}, {Token: "D1N2E", Chat: ivan, Number: 2, At: at(2), File: "photo 2", Brought: true},
			{Token: "M1N3E", Chat: ivan, Number: 4, At: at(4), Burst: 1, Brought: true},
			{Token: "M1N4E", Chat: ivan, Number: 5, At: at(5), Burst: 2, File: "photo 4", Brought: true},
			{Token: "S2N1E", Chat: maria, Number: 1, At: at(1), Brought: true}, {Token: "M2N2E", Chat: maria, Number: 3, At: at(5), Brought: true},
		},
		Forms: []storm.Form{{Chat: ivan, Subject: "S1N1E", Parts: []string{"D1N2E"}, Sent: at(2.5)}, {Chat: maria, Subject: "S2N1E", Sent: at(2.5)}},
		Tickets: []storm.Ticket{
			{
				Key: "SUP-1", Chat: ivan, Summary: "S1N1E не печатает", Rating: "5", Files: []string{"photo 2", "photo 4"}, Entries: []storm.Entry{
					{Text: "D1N2E", At: at(3)}, {Text: "пишет: M1N3E", At: at(6)}, {Text: "пишет: M1N4E", At: at(7)},
				},
			},
			{Key: "SUP-2", Chat: maria, Summary: "S2N1E не печатает", Entries: []storm.Entry{{Text: "", At: at(3)}, {Text: "пишет: M2N2E", At: at(6)}}},
		},
		Ratings: []storm.Rating{{Chat: ivan, Ticket: "SUP-1", Score: "5"}},
		Written: []storm.Written{
			{Kind: "inside", Token: "I1N5E", Chat: ivan, At: at(8)},
			{Kind: "answer", Token: "A1N6E", Chat: ivan, Job: "tracker:a:comment:7", At: at(9)},
			{Kind: "file", Token: "F1N6E.txt", Chat: ivan, Job: "tracker:a:comment:7", At: at(9)},
			{Kind: "answer", Token: "A1N7E", Chat: ivan, Job: "tracker:a:comment:8", At: at(10)},
			{Kind: "status", Token: "S1N1E", And: "статус «Решено»", Chat: ivan, Job: "tracker:a:change:9", At: at(11)},
		},
		Chats: map[string][]storm.Got{
			ivan: {
				{ID: 3, Text: "Обращение «S1N1E не печатает» принято.", At: at(3)},
				{ID: 6, Text: "Ответ: A1N6E", At: at(10)}, {ID: 7, Text: "F1N6E.txt", At: at(10)}, {ID: 8, Text: "Ответ: A1N7E", At: at(11)},
				{ID: 9, Text: "Обращение SUP-1 «S1N1E не печатает»: статус «Решено».", At: at(12)},
				{ID: 10, Text: "B0N1E новости", At: at(13)},
			},
			maria: {{ID: 2, Text: "Обращение «S2N1E не печатает» принято.", At: at(3)}, {ID: 4, Text: "B0N1E новости", At: at(14)}},
		},
		News:   []storm.News{{Token: "B0N1E", Asked: at(12), Taken: true}},
		Copies: []storm.Copy{{Token: "B0N1E", Chat: ivan, Outcome: "sent"}, {Token: "B0N1E", Chat: maria, Outcome: "sent"}},
		Calls: []storm.Call{
			{Service: "telegram", Method: "sendMessage", Chat: ivan, At: at(3)}, {Service: "telegram", Method: "sendMessage", Chat: ivan, Text: "B0N1E", At: at(13)},
			{Service: "vk", Method: "messages.send", Chat: maria, Text: "B0N1E", At: at(14)}, {Service: "tracker", Method: "POST /v3/issues", Text: "I1N5E", At: at(3)},
		},
		Alone:  []storm.Alone{{From: at(0), To: at(3600)}}, // no places are written down
		Struck: at(5),
	}
}

func TestBalance_Good(t *testing.T) {
	t.Parallel()
	b := good().Balance()
	if len(b.Wrong) > 0 {
		t.Fatalf("wrong: %q", b.Wrong)
	}
	want := storm.Balance{Said: 3, Recorded: 3, Photos: 2, Forms: 2, Tickets: 2, Ratings: 1, Answers: 4, Once: 4, Notes: 1, News: 2}
	if got := counts(b); got != counts(&want) || b.Ticket.Longest != 2*time.Second {
		t.Errorf("got %v, %s; want %v", got, b.Ticket.Longest, counts(&want))
	}
}

// counts are those of a balance, in their order.
func counts(b *storm.Balance) [19]int {
	return [19]int{
		b.Said, b.Recorded, b.Returned, b.Held, b.Unbrought, b.Photos, b.Forms, b.Tickets, b.Again, b.Told, b.Ratings,
		b.Answers, b.Once, b.Twice, b.Review, b.Notes, b.News, b.NewsUncertain, b.Letters,
	}
}

// spoilt are books that have one fault: what spoils the good ones, and what is wrong then.
type spoilt map[string]struct {
	spoil func(*storm.Books)
	want  string
}

func (s spoilt) check(t *testing.T) {
	t.Helper()
	for name, c := range s {
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

// excused are books with a difference that is no fault: how many times it is counted.
type excused map[string]struct {
	spoil func(*storm.Books)
	count func(*storm.Balance) int
	want  int
}

func (e excused) check(t *testing.T) {
	t.Helper()
	for name, c := range e {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := good()
			c.spoil(b)
			got := b.Balance()
			if n := c.count(got); len(got.Wrong) > 0 || n != c.want {
				t.Errorf("wrong is %q, %d are counted, want %d", got.Wrong, n, c.want)
			}
		})
	}
}

func repeat[T any](all *[]T, i int) { *all = append(*all, (*all)[i]) }

func repeatChat(b *storm.Books, chat string, i int) {
	b.Chats[chat] = append(b.Chats[chat], b.Chats[chat][i])
}

func tell(b *storm.Books, chat, text string, when time.Time) {
	b.Chats[chat] = append(b.Chats[chat], storm.Got{ID: int64(100 + len(b.Chats[chat])), Text: text, At: when})
}

func TestBalance_Rest(t *testing.T) {
	t.Parallel()
	spoilt{
		"a canary is in a log":      {func(b *storm.Books) { b.Spilled = []string{"the log: CANARY"} }, "a canary is in the log"},
		"a process leaves a file":   {func(b *storm.Books) { b.Litter = []string{"/tmp0/upload1"} }, "left /tmp0/upload1"},
		"nothing met a fault":       {func(b *storm.Books) { b.Unmet = []string{"token revoked: VK"} }, "nothing met the fault"},
		"a dead letter is not kept": {func(b *storm.Books) { b.Letters = []storm.Letter{{Queue: "tickets", Job: 7, State: "queued"}} }, "is kept nowhere"},
		"...of a job that ended":    {func(b *storm.Books) { b.Letters = []storm.Letter{{Queue: "tickets", Job: 7, State: "completed"}} }, "is kept nowhere"},
		"a dead letter waits": {
			func(b *storm.Books) {
				b.Letters = []storm.Letter{{Queue: "tickets", Job: 7, State: "completed", Waits: true}}
			}, "was not taken out",
		},
	}.check(t)
	letters := func(b *storm.Balance) int { return b.Letters }
	excused{
		"a dead letter is kept":        {func(b *storm.Books) { b.Letters = []storm.Letter{{Job: 7, State: "queued", Kept: true}} }, letters, 1},
		"its job ended":                {func(b *storm.Books) { b.Letters = []storm.Letter{{Job: 7, State: "completed", Kept: true}} }, letters, 1},
		"its job ended and went":       {func(b *storm.Books) { b.Letters = []storm.Letter{{Job: 7}} }, letters, 1},
		"its job waits for a person":   {func(b *storm.Books) { b.Letters = []storm.Letter{{Job: 7, State: "needs_review", Kept: true}} }, letters, 1},
		"nothing was given up, either": {func(*storm.Books) {}, letters, 0},
	}.check(t)
}

func TestBalance_News(t *testing.T) {
	t.Parallel()
	copyOf := func(outcome string) func(*storm.Books) {
		return func(b *storm.Books) { b.Copies[0].Outcome = outcome }
	}
	spoilt{
		"a broadcast comes twice":        {func(b *storm.Books) { repeatChat(b, maria, 1) }, "B0N1E came to " + maria + " 2 times"},
		"a broadcast is lost":            {func(b *storm.Books) { b.Chats[maria][1].Text = "" }, "is sent by our tables and did not come"},
		"a broadcast comes to strangers": {func(b *storm.Books) { b.Copies, b.News = b.Copies[:1], nil }, "who is not among its recipients"},
		"somebody is listed twice":       {func(b *storm.Books) { repeat(&b.Copies, 0) }, "B0N1E has " + ivan + " twice"},
		"a copy failed":                  {copyOf("failed"), `ended as "failed"`},
		"a copy was skipped":             {copyOf("skipped"), `ended as "skipped"`},
		"a copy has no outcome":          {copyOf(""), `ended as ""`},
		"uncertain without a reason":     {copyOf("uncertain"), "no fault made it so"},
		"uncertain by a refusal": {func(b *storm.Books) {
			copyOf("uncertain")(b)
			b.Calls[1].Fault = fault.Status
		}, "no fault made it so"},
		"uncertain by a crash long after": {func(b *storm.Books) {
			copyOf("uncertain")(b)
			b.Crashes = []time.Time{at(60)}
		}, "no fault made it so"},
		"VK's are never uncertain": {func(b *storm.Books) {
			b.Copies[1].Outcome = "uncertain"
			b.Calls[2].Fault = fault.CloseAfter
		}, "no fault made it so"},
		"a broadcast leaves somebody out": {func(b *storm.Books) {
			b.Copies = b.Copies[:1]
			b.Chats[maria][1].Text = ""
		}, "B0N1E left out " + maria},
	}.check(t)
	uncertain := func(b *storm.Balance) int { return b.NewsUncertain }
	news := func(b *storm.Balance) int { return b.News }
	excused{
		"an answer was lost": {func(b *storm.Books) {
			copyOf("uncertain")(b)
			b.Calls[1].Fault = fault.HTMLAfter
		}, uncertain, 1},
		"a crash": {func(b *storm.Books) {
			copyOf("uncertain")(b)
			b.Crashes = []time.Time{at(14)}
		}, uncertain, 1},
		"a crash before the call": {func(b *storm.Books) {
			copyOf("uncertain")(b)
			b.Calls[1].Text, b.Crashes, b.Chats[ivan][5].Text = "", []time.Time{at(14)}, ""
		}, uncertain, 1},
		"who came later gets none": {func(b *storm.Books) {
			b.Copies, b.News[0].Asked = b.Copies[:1], at(2)
			b.Chats[maria][1].Text = ""
		}, news, 1},
		"what the API did not take goes to nobody": {func(b *storm.Books) {
			b.News = append(b.News, storm.News{Token: "B0N2E", Asked: at(20)})
		}, news, 2},
	}.check(t)
}
