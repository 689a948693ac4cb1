package news_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"supportbot/shared/sandbox/tracker"
	"supportbot/shared/ticket"
	"supportbot/shared/wiring/wiringtest"
)

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

// What a customer has of a ticket may be forgotten only while it is over.
func TestLook_NotesWhetherTheTicketIsOver(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	k := r.Open(wiringtest.Telegrammer(), "d1")
	for i, step := range []tracker.Edit{{Status: "inProgress"}, {Status: "resolved", Resolution: "fixed"}, {Status: "reopened"}} {
		if _, err := r.Agent.Do(k.ID, step); err != nil {
			t.Fatal(err)
		}
		r.Look(k.ID, fmt.Sprint("step ", i))
		cur, err := r.DB.Cursor(r.Context(), k.ID)
		if want := step.Resolution != ""; err != nil || cur == nil || cur.Resolved != want {
			t.Errorf("%s: the cursor is %+v, %v, want it to be over: %t", step.Status, cur, err, want)
		}
	}
}
