package news_test

import (
	"fmt"
	"net/http"
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

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, backendtest.Goroutines()) }

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

// Listings lag behind the call that made us look, ids grow a digit, and most of
// the entries are older than the cursor.
func TestLook_LagAndThousandsOfComments(t *testing.T) {
	t.Parallel()
	now := &clock{now: time.Now().Add(-time.Hour)}
	r := wiringtest.New(t, withClock(now))
	c := wiringtest.Telegrammer()
	k := r.Open(c, "d1")
	for i := range 20 {
		now.Add(time.Minute)
		var many []tracker.NewComment
		for range 60 {
			many = append(many, tracker.NewComment{Text: "внутри"})
		}
		many = append(many, tracker.NewComment{Text: fmt.Sprintf("/reply ответ-%02d", i)})
		if _, err := r.Agent.Do(k.ID, tracker.Edit{Comments: many}); err != nil {
			t.Fatal(err)
		}
		r.Tracker.SetLag(time.Minute)
		r.Look(k.ID, fmt.Sprint("blind", i))
		r.Tracker.SetLag(0)
		r.Look(k.ID, fmt.Sprint("l", i))
	}
	r.Later(time.Minute)
	var want []string
	for i := range 20 {
		want = append(want, fmt.Sprintf("ответ-%02d", i))
	}
	wantOrder(t, r, c, want...)
	cur, err := r.DB.Cursor(r.Context(), k.ID)
	if err != nil || cur == nil {
		t.Fatal(cur, err)
	}
	if len(cur.Recent) > 400 || cur.Comment == "" || cur.Change == "" {
		t.Errorf("the cursor does not move: %d recent, comment %q, change %q", len(cur.Recent), cur.Comment, cur.Change)
	}
}

// A listing that is empty for once forgets nothing, also when the keys of old
// deliveries are gone.
func TestLook_EmptyListingKeepsWhatWasHandled(t *testing.T) {
	t.Parallel()
	now := &clock{now: time.Now()}
	r := wiringtest.New(t, withClock(now))
	c := wiringtest.Telegrammer()
	k := r.Open(c, "d1")
	if _, err := r.Agent.Do(k.ID, tracker.Edit{Status: "inProgress"}); err != nil {
		t.Fatal(err)
	}
	r.Reply(k, "/reply раз")
	r.Tracker.SetLag(time.Hour)
	r.Look(k.ID, "blind")
	r.Tracker.SetLag(0)
	r.Exec(`DELETE FROM jobs WHERE state = 'completed'`)
	r.Look(k.ID, "again")
	wantOrder(t, r, c, "В работе")
	wantOrder(t, r, c, "раз")
}

// The comment that the cursor stands at was deleted, and this Tracker does not
// page behind what it does not know.
func TestLook_CursorOnADeletedComment(t *testing.T) {
	t.Parallel()
	now := &clock{now: time.Now().Add(-time.Hour)}
	var gone string
	r := wiringtest.New(t, withClock(now), func(cfg *wiringtest.Config) {
		cfg.Front = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				if gone != "" && q.URL.Query().Get("id") == gone {
					http.Error(w, `{"errors":{},"errorMessages":["no such comment"]}`, http.StatusNotFound)
					return
				}
				next.ServeHTTP(w, q)
			})
		}
	})
	c := wiringtest.Telegrammer()
	k := r.Open(c, "d1")
	first := r.Reply(k, "/reply раз")
	now.Add(10 * time.Minute)
	r.Reply(k, "/reply два")
	cur, _ := r.DB.Cursor(r.Context(), k.ID)
	if cur.Comment != first.ID {
		t.Fatalf("the cursor is at %q, want %q", cur.Comment, first.ID)
	}
	if err := r.Agent.DeleteComment(k.ID, first.ID); err != nil {
		t.Fatal(err)
	}
	gone = first.ID
	r.Exec(`DELETE FROM jobs WHERE state = 'completed'`)
	r.Exec(`DELETE FROM answers`)
	now.Add(10 * time.Minute)
	r.Reply(k, "/reply три")
	wantOrder(t, r, c, "раз", "два", "три")
}

func TestLook_MovedTicket(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	c := wiringtest.VKontakter()
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

// An agent opens a ticket for a customer by its fields.
func TestLook_OpenedByAnAgent(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	c := wiringtest.Telegrammer()
	k, err := r.Agent.Create(tracker.NewTicket{Summary: "по звонку", Fields: map[string]string{
		"supportMessenger": "telegram", "supportBot": c.Address.Bot, "supportChat": c.Address.Chat,
	}})
	if err != nil {
		t.Fatal(err)
	}
	r.Reply(k, "/reply перезвоним")
	wantOrder(t, r, c, "перезвоним")
}

// After the cursors were lost with the database nothing old goes out again; while
// the ticket is being opened it begins with itself.
func TestLook_WithoutACursor(t *testing.T) {
	t.Parallel()
	now := &clock{now: time.Now().Add(-time.Hour)}
	r := wiringtest.New(t, withClock(now))
	c := wiringtest.Telegrammer()
	k := r.Open(c, "d1")
	r.Reply(k, "/reply раз")
	r.Exec(`DELETE FROM ticket_cursors`)
	r.Exec(`DELETE FROM answers`)
	r.Exec(`DELETE FROM jobs WHERE kind <> $1`, ticket.KindCreate)
	now.Add(time.Hour)
	r.Reply(k, "/reply два")
	wantOrder(t, r, c, "раз", "два")

	r.Exec(`DELETE FROM ticket_cursors`)
	r.Exec(`UPDATE jobs SET state = 'queued', finished_at = NULL, result = NULL, run_at = clock_timestamp() + interval '1 day' WHERE kind = $1`, ticket.KindCreate)
	r.Look(k.ID, "while it is being opened")
	cur, err := r.DB.Cursor(r.Context(), k.ID)
	if err != nil || cur == nil || !cur.StartsAt.Equal(k.CreatedAt) {
		t.Errorf("the news begin at %+v, %v, want %v", cur, err, k.CreatedAt)
	}
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
