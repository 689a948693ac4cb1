package ticketing_test

import (
	"strings"
	"testing"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/sandbox/fault"
	"supportbot/shared/ticket"
	"supportbot/shared/wiring/wiringtest"
)

// What becomes of a comment that Tracker refuses, by its answer: what a wait can
// mend costs no attempt, what no repetition can mend goes to a person at once.
// Mended, each is in the ticket once.
func TestRefused_Comment(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status   int
		state    job.State
		attempts int
	}{
		"a bad value":          {400, job.NeedsReview, 0},
		"token not valid":      {401, job.Queued, 0},
		"no right":             {403, job.Queued, 1},
		"deleted":              {404, job.NeedsReview, 0},
		"version conflict":     {409, job.Queued, 1},
		"another version":      {412, job.Queued, 1},
		"too large":            {413, job.NeedsReview, 0},
		"a bad field":          {422, job.NeedsReview, 0},
		"versions used up":     {423, job.NeedsReview, 0},
		"too many calls":       {429, job.Queued, 0},
		"out of order":         {500, job.Queued, 1}, // nobody knows whether it took effect
		"away for a while":     {503, job.Queued, 0},
		"a proxy's time is up": {504, job.Queued, 0}, // nor here, but it is an outage
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := wiringtest.New(t)
			c := wiringtest.Telegrammer()
			r.Open(c, "d1")
			refuses(r, postComment, tc.status, 1)
			run(r, wiringtest.Says(c, "m1", "d1", "первое"))
			wantState(r, "m1", tc.state, tc.attempts)
			written(r, "d1", "первое", 0)
			if tc.state == job.NeedsReview {
				if got := told(r, c); len(got) != 1 || !strings.Contains(got[0], "записать его в обращение сразу не получилось") {
					t.Errorf("the customer was told %q", got)
				}
				replay(r, "m1")
			}
			r.Later(15 * time.Minute)
			r.Want("m1", job.Completed)
			written(r, "d1", "первое", 1)
			if got := told(r, c); len(got) != 0 {
				t.Errorf("the customer was told %q", got)
			}
		})
	}
}

// Tracker says how long to wait, and is not asked before.
func TestRefused_RetryAfter(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	c := wiringtest.Telegrammer()
	r.Open(c, "d1")
	before := calls(r, "POST", "comments")
	r.Tracker.Faults().Add(fault.Fault{Method: postComment, Kind: fault.Status, Status: 429, RetryAfter: 100, Times: 1})
	run(r, wiringtest.Says(c, "m1", "d1", "первое"))
	wantState(r, "m1", job.Queued, 0)
	const waits = `SELECT (run_at - clock_timestamp() BETWEEN interval '50 seconds' AND interval '100 seconds')::text FROM jobs WHERE key = 'm1'`
	if r.Text(waits) != "true" {
		t.Error("it does not wait for as long as Tracker asked")
	}
	if got := calls(r, "POST", "comments") - before; got != 1 {
		t.Errorf("%d calls, want 1", got)
	}
}

// An outage of hours, or a token that is not valid for hours, sends nobody's
// ticket to a person: it is opened when Tracker answers again.
func TestRefused_Outage(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"away": 503, "token": 401} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := wiringtest.New(t)
			c := wiringtest.Telegrammer()
			for _, method := range []string{"* /v3/*", "* /v3/*/*", "* /v3/*/*/*"} {
				refuses(r, method, status, 0)
			}
			run(r, wiringtest.Create(c, "d1"), wiringtest.Says(c, "m1", "d1", "первое"))
			for range job.Attempts + 1 {
				r.Later(15 * time.Minute)
			}
			wantState(r, ticket.DraftKey("d1"), job.Queued, 0)
			r.Tracker.Faults().Clear()
			r.Later(15 * time.Minute)
			wantState(r, "m1", job.Completed, 0)
			written(r, "d1", "первое", 1)
		})
	}
}

// A creation that is refused for now is made once it is not.
func TestRefused_Create(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status   int
		state    job.State
		attempts int
	}{
		"a bad field":    {422, job.NeedsReview, 0},
		"no right":       {403, job.Queued, 1},
		"too many calls": {429, job.Queued, 0},
		"away":           {503, job.Queued, 0},
		// Somebody has the value, and nobody can say who: look again later.
		"duplicate": {409, job.Queued, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := wiringtest.New(t)
			refuses(r, postIssue, tc.status, 1)
			key := ticket.DraftKey("d1")
			run(r, wiringtest.Create(wiringtest.VKontakter(), "d1"))
			wantState(r, key, tc.state, tc.attempts)
			if tc.state == job.NeedsReview {
				replay(r, key)
			}
			r.Later(15 * time.Minute)
			r.Want(key, job.Completed)
			if n := len(r.Tracker.Tickets()); n != 1 {
				t.Errorf("%d tickets, want 1", n)
			}
		})
	}
}

// A ticket that has used up its versions takes nothing more from the robot: the
// customer is told, and their other tickets go on.
func TestRefused_VersionsUsedUp(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t, func(cfg *wiringtest.Config) { cfg.Tracker.VersionLimit = 3 })
	c := wiringtest.VKontakter()
	r.Open(c, "d1")
	run(r, wiringtest.Says(c, "m1", "d1", "последнее"))
	r.Open(c, "d2")
	rate := wiringtest.Inbound(c, ticket.KindRate, "r1", 12, ticket.Rate{Customer: c, Ref: ticket.Ref{Draft: "d1"}, Score: 5})
	run(r, wiringtest.Says(c, "m2", "d1", "уже никак"), rate, wiringtest.Says(c, "m3", "d2", "в другое"))
	r.Want("m1", job.Completed)
	r.Want("m2", job.NeedsReview)
	r.Want("r1", job.NeedsReview)
	r.Want("m3", job.Completed)
	if got := told(r, c); len(got) != 2 {
		t.Errorf("the customer was told %q", got)
	}
}

// deleted makes Tracker say that there is no such ticket.
func deleted(r *wiringtest.Rig, id string) {
	for _, method := range []string{"* /v3/issues/" + id, "* /v3/issues/" + id + "/*", "* /v3/issues/" + id + "/*/*", "* /v3/issues/" + id + "/*/*/*"} {
		refuses(r, method, 404, 0)
	}
}

// What is said to a deleted ticket waits for a person, and holds up nothing.
func TestRefused_DeletedTicket(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *wiringtest.Rig, c ticket.Customer) {
		k := r.Open(c, "d1")
		r.Open(c, "d2")
		deleted(r, k.ID)
		ref := ticket.Ref{Draft: "d1"}
		run(r,
			wiringtest.Says(c, "m1", "d1", "никуда"),
			wiringtest.Inbound(c, ticket.KindComment, "m2", 11, ticket.Comment{Customer: c, Ref: ticket.Ref{Issue: k.ID}, Message: ticket.Message{Key: "m2", At: at}}),
			wiringtest.Inbound(c, ticket.KindRate, "r1", 12, ticket.Rate{Customer: c, Ref: ref, Score: 5}),
			wiringtest.Inbound(c, ticket.KindReopen, "o1", 13, ticket.Reopen{Customer: c, Ref: ref}),
			wiringtest.Inbound(c, ticket.KindNote, "n1", 14, ticket.Note{Ref: ticket.Ref{Issue: k.ID}, Note: ticket.NoteUndelivered}),
			wiringtest.Inbound(c, ticket.KindComment, "m3", 15, ticket.Comment{Customer: c, Ref: ticket.Ref{Draft: "d2"}, Message: ticket.Message{Key: "m3", At: at}}))
		for _, key := range []string{"m1", "m2", "r1", "o1"} {
			wantState(r, key, job.NeedsReview, 0)
		}
		wantState(r, "n1", job.Completed, 0) // there is nobody to read it
		wantState(r, "m3", job.Completed, 0)
		if got := told(r, c); len(got) != 4 {
			t.Errorf("the customer was told %q", got)
		}
	})
}
