package ticketing_test

import (
	"strconv"
	"testing"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/sandbox/fault"
	sandbox "supportbot/shared/sandbox/tracker"
	"supportbot/shared/ticket"
	"supportbot/shared/wiring/wiringtest"
)

func reopens(c ticket.Customer, key, text string) job.New {
	in := ticket.Reopen{Customer: c, Ref: ticket.Ref{Draft: "d1"}, At: at}
	if text != "" {
		in.Message = &ticket.Message{Key: key, At: at, Content: messenger.Content{Text: text}}
	}
	return wiringtest.Inbound(c, ticket.KindReopen, key, 10, in)
}

// asked is what a comment says when nothing else was said.
const asked = "Клиент просит вернуть обращение в работу"

// workflow is one with more steps than the usual one, and statuses that nobody
// has told us about.
func workflow(cfg *wiringtest.Config) {
	q := &cfg.Tracker.Queues[0]
	q.Workflow = append([]sandbox.Transition{
		{ID: "verify", From: "resolved", To: "verified"},
		{ID: "again", From: "resolved", To: "inProgress"},
		{ID: "cancel", From: "open", To: "cancelled"},
		{ID: "verify", From: "open", To: "verified"},
		{ID: "archive", From: "verified", To: "archived"},
		{ID: "postpone", From: "archived", To: "needInfo"},
		{ID: "open", From: "archived", To: "open"},
		{ID: "go", From: "archived", To: "inProgress"},
		{ID: "archive", From: "open", To: "archived"},
	}, q.Workflow...)
	cfg.Tracker.Statuses = []sandbox.Status{
		{Key: "open", Type: "new"}, {Key: "needInfo", Type: "paused"}, {Key: "inProgress", Type: "inProgress"}, {Key: "resolved", Type: "done"},
		{Key: "reopened", Type: "new"}, {Key: "closed", Type: "done"}, {Key: "cancelled", Type: "cancelled"}, {Key: "waitingSupplier"},
		{Key: "verified", Type: "done"}, {Key: "archived", Type: "done"},
	}
}

// From each status the ticket goes where work goes on, by the step that its
// workflow offers. Where it offers none the agent decides, and an open ticket
// stays as it is.
func TestReopen_ByStatus(t *testing.T) {
	t.Parallel()
	for from, tc := range map[string]struct {
		want string
		asks int
	}{
		"open":            {"open", 0},
		"inProgress":      {"inProgress", 0},
		"needInfo":        {"needInfo", 0},
		"waitingSupplier": {"waitingSupplier", 0}, // Tracker does not say what it means
		"resolved":        {"reopened", 1},        // rather than inProgress, and never verified
		"closed":          {"reopened", 1},
		"archived":        {"open", 1},      // rather than inProgress or needInfo
		"cancelled":       {"cancelled", 1}, // no step at all
		"verified":        {"verified", 1},  // no step to where work goes on
	} {
		t.Run(from, func(t *testing.T) {
			t.Parallel()
			r := wiringtest.New(t, workflow)
			c := wiringtest.Telegrammer()
			k := r.Open(c, "d1")
			moveTo(r, k, from)
			run(r, reopens(c, "o1", ""))
			wantState(r, "o1", job.Completed, 0)
			if got := r.Ticket("d1").Status; got != tc.want {
				t.Errorf("the ticket is %s, want %s", got, tc.want)
			}
			for _, said := range written(r, "d1", asked, tc.asks) {
				wantText(r, said.Text, asked, "\n\n[//]: # (support-bot:r") // not the customer's words
			}
			run(r, reopens(c, "o2", "опять не печатает"))
			wantText(r, written(r, "d1", "опять", 1)[0].Text, "пишет:\n\nопять не печатает\n\n[//]: # (support-bot:c")
			written(r, "d1", asked, tc.asks)
		})
	}
}

func moveTo(r *wiringtest.Rig, k sandbox.Ticket, status string) {
	r.T.Helper()
	if status == k.Status {
		return
	}
	e := sandbox.Edit{Status: status}
	if status == "resolved" || status == "closed" {
		e.Resolution = "fixed"
	}
	if _, err := r.Agent.Do(k.ID, e); err != nil {
		r.T.Fatal(err)
	}
}

// Whatever is unknown or refused on the way, the ticket is reopened by one step,
// with one comment.
func TestReopen_Faults(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*wiringtest.Rig){
		"step: took effect":      func(r *wiringtest.Rig) { fails(r, postStep, fault.CloseAfter, 1) },
		"step: no effect":        func(r *wiringtest.Rig) { fails(r, postStep, fault.CloseBefore, 1) },
		"step: conflict":         func(r *wiringtest.Rig) { refuses(r, postStep, 409, 1) },
		"step: too many":         func(r *wiringtest.Rig) { refuses(r, postStep, 429, 1) },
		"steps not readable":     func(r *wiringtest.Rig) { refuses(r, "GET /v3/issues/*/transitions", 503, 1) },
		"ticket not readable":    func(r *wiringtest.Rig) { refuses(r, "GET /v3/issues/*", 401, 1) },
		"comment: took effect":   func(r *wiringtest.Rig) { fails(r, postComment, fault.CloseAfter, 1) },
		"comment: no effect":     func(r *wiringtest.Rig) { fails(r, postComment, fault.CloseBefore, 1) },
		"comment: not available": func(r *wiringtest.Rig) { refuses(r, postComment, 503, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := wiringtest.New(t)
			c := wiringtest.VKontakter()
			k := r.Open(c, "d1")
			for i, words := range []string{"", "опять"} {
				moveTo(r, r.Ticket("d1"), "resolved")
				before := len(steps(r, k))
				spoil(r)
				key := "o" + strconv.Itoa(i)
				run(r, reopens(c, key, words))
				r.Want(key, job.Queued)
				r.Later(15 * time.Minute)
				r.Want(key, job.Completed)
				if got := steps(r, k)[before:]; len(got) != 1 || got[0] != "reopened" {
					t.Errorf("steps %q, want one", got)
				}
			}
			written(r, "d1", asked, 1)
			written(r, "d1", "опять", 1)
		})
	}
}

// steps are the statuses that a ticket has had.
func steps(r *wiringtest.Rig, k sandbox.Ticket) (to []string) {
	for _, h := range r.Tracker.History(k.ID) {
		for _, f := range h.Fields {
			if f.Key == "status" {
				to = append(to, f.To)
			}
		}
	}
	return to
}

// A step that wants more than the robot knows, or that it may not take, is left to
// the agent, and what the customer wrote is there.
func TestReopen_StepDeclined(t *testing.T) {
	t.Parallel()
	for _, status := range []int{400, 403, 404, 422} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			t.Parallel()
			r := wiringtest.New(t)
			c := wiringtest.Telegrammer()
			moveTo(r, r.Open(c, "d1"), "closed")
			refuses(r, postStep, status, 1)
			run(r, reopens(c, "o1", "опять"))
			wantState(r, "o1", job.Completed, 0)
			written(r, "d1", "опять", 1)
			if got := r.Ticket("d1").Status; got != "closed" {
				t.Errorf("the ticket is %s", got)
			}
		})
	}
}

// The customer's list does not show the old status.
func TestReopen_ForgetsTheList(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	c := wiringtest.Telegrammer()
	moveTo(r, r.Open(c, "d1"), "resolved")
	before, err := r.Tickets.Get(r.Context(), c.Address)
	if err != nil {
		t.Fatal(err)
	}
	run(r, reopens(c, "o1", ""))
	after, err := r.Tickets.Get(r.Context(), c.Address)
	if err != nil || after.Generation == before.Generation {
		t.Errorf("the list is as old as before: %+v, %v", after, err)
	}
}
