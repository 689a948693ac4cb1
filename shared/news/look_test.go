package news_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/job"
	"supportbot/shared/news"
	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/tracker"
	"supportbot/shared/ticket"
	"supportbot/shared/wiring/wiringtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, backendtest.Goroutines()...) }

// clock is Tracker's, moved by the test.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.now }
func (c *clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func withClock(c *clock) func(*wiringtest.Config) {
	return func(cfg *wiringtest.Config) { cfg.Tracker.Now = c.Now }
}

// order gives where texts are in what the customer got.
func wantOrder(t *testing.T, r *wiringtest.Rig, c ticket.Customer, want ...string) {
	t.Helper()
	var all strings.Builder
	for _, m := range r.Said(c) {
		all.WriteString(m.Text + "\n")
	}
	at := 0
	for _, text := range want {
		n := strings.Index(all.String()[at:], text)
		if n < 0 || strings.Count(all.String(), text) != 1 {
			t.Fatalf("%q is missing, doubled or out of order in:\n%s", text, all.String())
		}
		at += n
	}
}

func TestLook_OneOperationWithCommentsAndStatus(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	c := wiringtest.Telegrammer()
	k := r.Open(c, "d1")
	if _, err := r.Agent.Do(k.ID, tracker.Edit{Status: "inProgress", Comments: []tracker.NewComment{
		{Text: "/reply раз"}, {Text: "внутри"}, {Text: "/reply два"}, {Text: "/reply три"},
	}}); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		r.Look(k.ID, fmt.Sprint("l", i))
	}
	wantOrder(t, r, c, "раз", "два", "три", "В работе")
	if r.Count(c, "внутри") > 0 {
		t.Error("an internal comment went out")
	}
}

func TestLook_MovedTicket(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	c := wiringtest.VKontakter()
	r.Met(c)
	k := r.Open(c, "d1")
	r.Comment(k, "/reply раз")
	moved, err := r.Agent.Move(k.Key, "BIL")
	if err != nil {
		t.Fatal(err)
	}
	r.Insert(news.Job(ticket.Look{Key: k.Key}, "by the old key"))
	r.Work()
	r.Reply(moved, "/reply два")
	wantOrder(t, r, c, "раз", "два")
	if r.Count(c, moved.Key) == 0 {
		t.Errorf("the new key %s is not named: %+v", moved.Key, r.Said(c))
	}
}

func TestLook_NotOurs(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	k, err := r.Agent.Create(tracker.NewTicket{Summary: "без клиента"})
	if err != nil {
		t.Fatal(err)
	}
	r.Reply(k, "/reply никому")
	r.Insert(news.Job(ticket.Look{ID: "0000000000000000deadbeef"}, "nobody's"), news.Job(ticket.Look{Key: "SUP-999"}, "nobody's key"))
	r.Work()
	if got := r.Text(`SELECT count(*)::text FROM ticket_cursors`); got != "0" {
		t.Errorf("%s cursors for tickets that are not ours", got)
	}
	if got := r.Text(`SELECT count(*)::text FROM jobs WHERE state <> 'completed'`); got != "0" {
		t.Errorf("%s jobs are left", got)
	}
}

// Who is known no more was forgotten, whether their tickets have their fields or not; so
// was whoever is said so by the ticket's tag. Nothing goes to either, nothing is kept of
// them anew, and the agent of a ticket without the tag is told.
func TestLook_Forgotten(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	gone, tagged := wiringtest.VKontakter(), wiringtest.Telegrammer()
	km, kf, kt := r.Open(gone, "d1"), r.Open(gone, "d3"), r.Open(tagged, "d2")
	if _, err := r.Agent.Move(km.Key, "BIL"); err != nil {
		t.Fatal(err)
	}
	r.Exec(`DELETE FROM identities WHERE messenger = 'vk'`)
	if err := r.Bot.Tracker.Detach(r.Context(), kt.ID); err != nil {
		t.Fatal(err)
	}
	r.Work()
	r.Exec(`DELETE FROM jobs`)
	lists := r.Redis.Keys(r.Context(), "*"+gone.Address.Chat+"*").Val()
	r.Redis.Del(r.Context(), lists...)
	for i, k := range []string{km.ID, kf.ID, kt.ID} {
		r.Comment(tracker.Ticket{ID: k}, "/reply никому")
		if _, err := r.Agent.Do(k, tracker.Edit{Status: "inProgress"}); err != nil {
			t.Fatal(err)
		}
		r.Look(k, fmt.Sprint("l", i))
		r.Look(k, fmt.Sprint("again", i))
	}
	if n := r.Count(gone, "никому") + r.Count(tagged, "никому"); n > 0 {
		t.Errorf("%d messages", n)
	}
	if got := r.Text(`SELECT count(*)::text FROM jobs j WHERE lane LIKE 'out:%' OR j::text LIKE $1`, "%"+gone.Address.Chat+"%"); got != "0" {
		t.Errorf("%s jobs name who is gone", got)
	}
	if keys := r.Redis.Keys(r.Context(), "*"+gone.Address.Chat+"*").Val(); len(lists) == 0 || len(keys) > 0 {
		t.Errorf("kept: %v, before: %v", keys, lists)
	}
	for draft, want := range map[string]int{"d1": 1, "d3": 1, "d2": 0} {
		if got := wiringtest.Comments(r.Ticket(draft), "не доставлен"); len(got) != want {
			t.Errorf("ticket %s: %q, want %d", draft, got, want)
		}
	}
}

// An agent opens a ticket for a customer by its fields.
func TestLook_OpenedByAnAgent(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	c := wiringtest.Telegrammer()
	r.Met(c)
	k, err := r.Agent.Create(tracker.NewTicket{Summary: "по звонку", Fields: map[string]string{
		"supportMessenger": "telegram", "supportBot": c.Address.Bot, "supportChat": c.Address.Chat,
	}})
	if err != nil {
		t.Fatal(err)
	}
	r.Reply(k, "/reply перезвоним")
	wantOrder(t, r, c, "перезвоним")
}

// Triggers that never stop coming join the second look each time; its key stays
// as short as it is.
func TestLook_JoinedAgainAndAgain(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	k := r.Open(wiringtest.Telegrammer(), "d1")
	for i := range 60 {
		in, err := r.DB.Look(r.Context(), news.Job(ticket.Look{ID: k.ID}, fmt.Sprint("t", i)))
		if err != nil {
			t.Fatal(err)
		}
		r.Publisher.Publish(r.Context(), []job.Inserted{in})
		r.Work()
	}
	keys := r.Keys(ticket.KindLook)
	if longest := slices.MaxFunc(keys, func(a, b string) int { return len(a) - len(b) }); len(keys) < 60 || len(longest) > 30 {
		t.Errorf("%d looks, the longest key is %q", len(keys), longest)
	}
}

// A token that is not valid for hours costs no attempt.
func TestLook_TokenNotValid(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	c := wiringtest.Telegrammer()
	k := r.Open(c, "d1")
	r.Tracker.Faults().Add(fault.Fault{Method: "*", Kind: fault.Status, Status: 401})
	r.Tracker.Faults().Add(fault.Fault{Method: "GET /v3/issues/*", Kind: fault.Status, Status: 401})
	r.Comment(k, "/reply раз")
	r.Look(k.ID, "l1")
	for range job.Attempts + 1 {
		r.Later(time.Hour)
	}
	r.Want("look:l1", job.Queued)
	r.Tracker.Faults().Clear()
	r.Later(time.Hour)
	wantOrder(t, r, c, "раз")
}
