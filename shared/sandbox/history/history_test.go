package history_test

import (
	"context"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"supportbot/shared/sandbox/history"
	sandbox "supportbot/shared/sandbox/tracker"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	from   = time.Date(2025, 7, 1, 0, 0, 0, 0, time.UTC)
	to     = time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	agents = []string{"anna", "boris", "vera", "gleb"}
)

func config(tickets int) history.Config {
	return history.Config{
		Seed: 7, Tickets: tickets, From: from, To: to, Queues: []string{"SUP", "BIL"}, Agents: agents,
		Categories: []history.Category{{Key: "problem", Type: "bug", Priority: "normal"}, {Key: "idea", Type: "improvement", Priority: "minor"}},
	}
}

// What a history is worth: everything that metrics have to cope with is in it.
func TestPlan_HasEverything(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for _, r := range history.New(config(3000)).All() {
		note(seen, r)
	}
	for _, what := range []string{
		"opened by an agent", "never touched", "telegram", "vk", "en", "assignee", "assignee gone", "nobody's resolved",
		"rating", "rating changed", "reopened", "reopened by the customer", "closed", "moved", "deadline", "deadline gone", "priority", "type", "category",
		"waitingSupplier", "needInfo", "summon", "becomes an answer", "is no answer any more", "answer rewritten", "deleted", "weekend", "night",
		"on the hour", "open", "an agent's moved",
	} {
		if seen[what] == 0 {
			t.Errorf("nothing of the kind: %s", what)
		}
	}
}

func note(seen map[string]int, r history.Record) {
	is := func(what string, yes bool) {
		if yes {
			seen[what]++
		}
	}
	is("opened by an agent", r.By != "" && r.Customer == history.Customer{})
	is("never touched", len(r.Steps) == 0)
	is(r.Customer.Messenger, true)
	is(r.Customer.Locale, true)
	is("weekend", r.Opened.Weekday() == time.Sunday)
	is("night", r.Opened.Hour() < 6)
	is("on the hour", r.Opened.Equal(r.Opened.Truncate(time.Hour)))
	last, ratings, owner := "open", 0, ""
	said := []history.Audience{}
	for _, s := range r.Steps {
		is("assignee", s.Assignee != "" && s.Assignee != history.Nobody)
		is("assignee gone", s.Assignee == history.Nobody)
		is("nobody's resolved", s.Status == "resolved" && owner == "")
		is("reopened by the customer", s.Status == "reopened" && s.By == "")
		is("moved", s.Queue != "")
		is("an agent's moved", s.Queue != "" && r.By != "")
		is("deadline", s.Deadline != "" && s.Deadline != history.Nobody)
		is("deadline gone", s.Deadline == history.Nobody)
		is("priority", s.Priority != "")
		is("type", s.Type != "")
		is("category", s.Category != "")
		is("summon", s.Say.Summon)
		is("deleted", s.Deletes > 0)
		is("rating changed", s.Rating > 0 && ratings > 0)
		if s.Rating > 0 {
			ratings++
			is("rating", true)
		}
		if s.Assignee != "" {
			owner = s.Assignee
		}
		if s.Status != "" {
			last = s.Status
			is(last, true)
		}
		switch {
		case s.Rewrites > 0:
			was := said[s.Rewrites-1]
			is("becomes an answer", was == history.Inside && s.Say.To == history.Out)
			is("is no answer any more", was == history.Out && s.Say.To == history.Inside)
			is("answer rewritten", was == history.Out && s.Say.To == history.Out)
			said[s.Rewrites-1] = s.Say.To
		case s.Say.To != "":
			said = append(said, s.Say.To)
		}
	}
	is("open", last != "resolved" && last != "closed")
}

// A ticket's steps are in order, within the period, and the same each time.
func TestPlan_IsOrderedAndRepeats(t *testing.T) {
	t.Parallel()
	one, two := history.New(config(800)), history.New(config(800))
	other := config(800)
	other.Seed++
	different := false
	for n := range one.Tickets() {
		r := one.Record(n)
		at := r.Opened
		if at.Before(from) || !at.Before(to) || !at.Equal(at.Truncate(time.Millisecond)) {
			t.Errorf("ticket %d is opened at %s", n, at)
		}
		for _, s := range r.Steps {
			if !s.At.After(at) || !s.At.Before(to) || !s.At.Equal(s.At.Truncate(time.Millisecond)) {
				t.Errorf("ticket %d: %s follows %s", n, s.At, at)
			}
			at = s.At
		}
		if diff := cmp.Diff(r, two.Record(n)); diff != "" {
			t.Fatalf("ticket %d is another one the second time:\n%s", n, diff)
		}
		different = different || !cmp.Equal(r, history.New(other).Record(n))
		if n > 50 && !different {
			t.Fatal("another seed makes the same history")
		}
	}
}

// The busiest hours are those of rushes and of working days.
func TestPlan_Calendar(t *testing.T) {
	t.Parallel()
	cfg := config(4000)
	at := time.Date(2025, 10, 26, 0, 0, 0, 0, time.UTC) // a Sunday night
	cfg.Rushes = []history.Rush{{At: at, Lasts: 3 * time.Hour, Times: 40}}
	hours := map[time.Time]int{}
	halves := [2]int{}
	days := [7]int{}
	for _, r := range history.New(cfg).All() {
		hours[r.Opened.Truncate(time.Hour)]++
		days[r.Opened.Weekday()]++
		if r.Opened.Before(from.AddDate(0, 6, 0)) {
			halves[0]++
		} else {
			halves[1]++
		}
	}
	for n := range 3 {
		if got := hours[at.Add(time.Duration(n)*time.Hour)]; got < 15 {
			t.Errorf("%d tickets in hour %d of the rush", got, n)
		}
	}
	if days[time.Tuesday] < 2*days[time.Saturday] || halves[1] <= halves[0] {
		t.Errorf("by weekday %v, by half %v", days, halves)
	}
}

// What a Player does is in the tracker, at its time and by whom it was; in two goes it
// is the same as in one.
func TestPlayer(t *testing.T) {
	t.Parallel()
	plan := history.New(config(150))
	whole, parts := newDesk(t), newDesk(t)
	told := 0
	if err := whole.player.Play(context.Background(), plan, func(done int) { told = done }); err != nil {
		t.Fatal(err)
	}
	if told != plan.Tickets() {
		t.Errorf("told of %d tickets, want %d", told, plan.Tickets())
	}
	for n, r := range plan.All() {
		x := &history.Ticket{Record: r}
		for _, until := range []time.Time{from.AddDate(0, 3, 0), from.AddDate(0, 3, 1), {}} {
			if err := parts.player.Until(context.Background(), x, until); err != nil {
				t.Fatal(n, err)
			}
		}
	}
	there := map[string]sandbox.Ticket{}
	for _, k := range parts.server.Tickets() {
		there[name(k.CreatedAt, k.Summary)] = k
	}
	for _, r := range plan.All() {
		check(t, parts.server, there[name(r.Opened, r.Subject)], r)
	}
	if diff := cmp.Diff(whole.shown(), parts.shown()); diff != "" {
		t.Errorf("(-whole +in parts):\n%s", diff)
	}
}

func name(opened time.Time, subject string) string { return opened.UTC().String() + subject }

// check compares the ticket in the tracker with its record.
func check(t *testing.T, s *sandbox.Server, k sandbox.Ticket, r history.Record) {
	t.Helper()
	_, _, ours := ticket.ParseUnique(k.Unique)
	if ours != (r.By == "") {
		t.Errorf("ticket %d: unique %q", r.Number, k.Unique)
	}
	changes := s.History(k.ID)
	if len(changes) != 1+len(r.Steps) {
		t.Errorf("ticket %d: %d changes, want %d steps and the creation", r.Number, len(changes), len(r.Steps))
		return
	}
	status, assignee, rating := "open", "", ""
	for n, step := range r.Steps {
		c := changes[n+1]
		by := step.By
		if by == "" {
			by = "support-robot"
		}
		if !c.At.Equal(step.At) || c.Author != by {
			t.Errorf("ticket %d, step %d: by %s at %s, want %s at %s", r.Number, n, c.Author, c.At, by, step.At)
		}
		if step.Status != "" {
			status = step.Status
		}
		switch step.Assignee {
		case "":
		case history.Nobody:
			assignee = ""
		default:
			assignee = step.Assignee
		}
		if step.Rating > 0 {
			rating = strconv.Itoa(step.Rating)
		}
		if step.Queue != "" {
			rating = "" // the tracker forgets it
		}
	}
	got := []string{k.Status, k.Assignee, k.Fields[string(tracker.FieldRating)]}
	if diff := cmp.Diff([]string{status, assignee, rating}, got); diff != "" {
		t.Errorf("ticket %d (-want +got):\n%s", r.Number, diff)
	}
}

// desk is a tracker and who plays in it.
type desk struct {
	server *sandbox.Server
	player *history.Player
}

func newDesk(t *testing.T) desk {
	t.Helper()
	var fields []string
	for _, f := range tracker.Fields {
		fields = append(fields, string(f))
	}
	access := history.Access{Org: "7", Robot: "robot-token", Agents: map[string]string{}, Bots: map[string]string{"telegram": "1", "vk": "2"}, Name: "h"}
	var users []sandbox.User
	for n, login := range agents {
		access.Agents[login] = login + "-token"
		users = append(users, sandbox.User{ID: strconv.Itoa(101 + n), Login: login, Name: login, Token: login + "-token"})
	}
	s := sandbox.New(sandbox.Config{
		Token: access.Robot, OrgID: access.Org, Agents: users, Past: true, Now: func() time.Time { return to },
		Queues: []sandbox.Queue{sandbox.DefaultQueue("SUP", fields...), sandbox.DefaultQueue("BIL", fields...)},
	})
	web := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); web.Close() })
	access.URL = web.URL
	p, err := history.NewPlayer(context.Background(), access, "SUP", "BIL")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return desk{s, p}
}

// shown is what people see in the tracker, without what depends on the order in which
// tickets were told.
func (d desk) shown() (all []string) {
	for _, k := range d.server.Tickets() {
		line := []string{k.Unique, k.Summary, k.Status, k.Assignee, k.Priority, k.Type, k.Queue, k.UpdatedAt.String()}
		for _, c := range k.Comments {
			line = append(line, c.Author, c.Text, c.UpdatedAt.String())
		}
		for _, c := range d.server.History(k.ID) {
			line = append(line, c.Kind, c.At.String())
		}
		all = append(all, strings.Join(line, "|"))
	}
	slices.Sort(all)
	return all
}
