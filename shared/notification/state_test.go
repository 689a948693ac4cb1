package notification_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"supportbot/shared/broadcast"
	"supportbot/shared/messenger"
)

// TestStates: what may be done with a broadcast in each state, and what it is then.
// "409" is refused; a state that stands there is the answer's.
func TestStates(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.person("", messenger.Telegram)
	const no = "409"
	for state, want := range map[broadcast.State]struct{ put, rate, start, pause, resume, cancel, correct, resend string }{
		broadcast.Draft:      {"draft", "draft", "planning", no, no, "cancelled", no, no},
		broadcast.Scheduled:  {no, "scheduled", "scheduled", no, no, "cancelled", no, no},
		broadcast.Planning:   {no, "planning", "planning", no, no, "cancelled", no, no},
		broadcast.Running:    {no, "running", "running", "paused", "running", "cancelled", no, "0"},
		broadcast.Pausing:    {no, "pausing", no, "paused", "running", "cancelled", no, no},
		broadcast.Paused:     {no, "paused", no, "paused", "running", "cancelled", no, "0"},
		broadcast.Cancelling: {no, no, no, no, no, "cancelled", no, no},
		broadcast.Cancelled:  {no, no, no, no, no, "cancelled", "planning", no},
		broadcast.Finished:   {no, no, no, no, no, no, "planning", "0"},
	} {
		t.Run(string(state), func(t *testing.T) {
			for _, tc := range []struct {
				method, what string
				body         any
				want         string
			}{
				{"PUT", "", spec(set("title", "другой")), want.put}, {"PATCH", "", map[string]any{"rate": 3}, want.rate},
				{"POST", "/start", nil, want.start}, {"POST", "/pause", nil, want.pause}, {"POST", "/resume", nil, want.resume},
				{"POST", "/cancel", nil, want.cancel}, {"POST", "/correct", valid("correct"), want.correct},
				{"POST", "/resend-uncertain", nil, want.resend},
			} {
				id := d.make(state)
				got := d.call(tc.method, path(id, tc.what), tc.body)
				if tc.want == no {
					if p := got.problem(); got.status != 409 || !strings.HasSuffix(p.Detail, "; this one is "+string(state)) {
						t.Errorf("%s %s: %d %s, want %s", tc.method, tc.what, got.status, got.body, no)
					}
					continue
				}
				var b struct {
					State  string
					Resent *int
				}
				got.into(&b)
				if b.Resent != nil {
					b.State = fmt.Sprint(*b.Resent)
				}
				if b.State != tc.want {
					t.Errorf("%s %s: %s, want %s", tc.method, tc.what, b.State, tc.want)
				}
			}
			// A test of it, and a look at it, are always possible.
			id := d.make(state)
			if got := d.call("POST", path(id, "/test"), map[string]any{"customer": 1}); got.status != 202 {
				t.Errorf("test: %d %s", got.status, got.body)
			}
			var p broadcast.Progress
			if d.call("GET", path(id, "/progress"), nil).into(&p); p.State != state {
				t.Errorf("progress %+v", p)
			}
		})
	}
}

// TestStates_TwoPhases: while a call is under way a pause and a cancellation wait,
// and say so.
func TestStates_TwoPhases(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for range 3 {
		d.person("", messenger.Telegram)
	}
	id := d.make(broadcast.Running)
	const claim = "00000000-0000-0000-0000-00000000000b"
	batch := d.number(`SELECT id FROM batches WHERE broadcast = $1`, id)
	got, _, err := d.db.ClaimRecipients(d.ctx, batch, claim, []int{1})
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	steps := []struct {
		what  string
		state broadcast.State
	}{{"/pause", broadcast.Pausing}, {"/resume", broadcast.Running}, {"/pause", broadcast.Pausing}, {"/cancel", broadcast.Cancelling}}
	for _, s := range steps {
		var b broadcast.Broadcast
		if d.call("POST", path(id, s.what), nil).into(&b); b.State != s.state {
			t.Errorf("%s: %s, want %s", s.what, b.State, s.state)
		}
	}
	d.must(d.db.Write(d.ctx, batch, claim, []broadcast.Result{{N: 1, Outcome: broadcast.Sent, MessageID: "1"}}))
	var b broadcast.Broadcast
	d.call("POST", path(id, "/cancel"), nil).into(&b)
	if want := (broadcast.Counts{Total: 3, Sent: 1, Skipped: 2}); b.State != broadcast.Cancelled || b.Counts != want {
		t.Errorf("got %s %+v, want %+v", b.State, b.Counts, want)
	}
}

// TestDraft: what is changed is changed; a schedule holds from the start on.
func TestDraft(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.make(broadcast.Draft)
	var b broadcast.Broadcast
	d.call("PUT", path(id, ""), spec(set("title", "другой"), set("start_at", d.now().Add(time.Hour)), set("kind", "maintenance"))).into(&b)
	if b.Title != "другой" || b.Kind != broadcast.Maintenance || !b.Draft || b.StartAt == nil {
		t.Errorf("draft %+v", b)
	}
	b = broadcast.Broadcast{}
	if d.call("POST", path(id, "/start"), nil).into(&b); b.State != broadcast.Scheduled || b.Draft {
		t.Errorf("started: %s, draft %v", b.State, b.Draft)
	}
	if n := d.number(`SELECT count(*) FROM jobs WHERE run_at > now() + interval '59 minutes'`); n != 1 {
		t.Errorf("%d jobs wait for the hour, want 1", n)
	}
}

// TestCorrect: to those who have it or may have it, there where they have it.
// A draft that lay beyond the time for which it was meant does not go out at once.
func TestDraft_TimeIsOver(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.make(broadcast.Draft, set("start_at", d.now().Add(time.Hour)))
	d.later(2 * time.Hour)
	if got := d.call("POST", path(id, "/start"), nil); got.status != 409 || !strings.Contains(got.problem().Detail, "time to start is over") {
		t.Errorf("start: %d %s", got.status, got.body)
	}
	var b broadcast.Broadcast
	if d.call("GET", path(id, ""), nil).into(&b); b.State != broadcast.Draft {
		t.Errorf("it is %s", b.State)
	}
	d.call("PUT", path(id, ""), spec()).into(&b)
	if d.call("POST", path(id, "/start"), nil).into(&b); b.State != broadcast.Planning {
		t.Errorf("without a time it is %s", b.State)
	}
}

func TestCorrect(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for range 5 {
		d.person("", messenger.Telegram)
	}
	id := d.make(broadcast.Finished)
	for n, outcome := range []string{"sent", "uncertain", "blocked", "failed", "skipped"} {
		d.exec(`UPDATE recipients SET outcome = $2, done_at = now() WHERE n = $1`, n+1, outcome)
	}
	var fix broadcast.Broadcast
	d.call("POST", path(id, "/correct"), valid("correct")).into(&fix)
	if fix.Parent != id || fix.Relation != broadcast.Correction || fix.Kind != broadcast.News {
		t.Errorf("correction %+v", fix)
	}
	d.plan(fix.ID)
	if n := d.number(`SELECT total FROM broadcasts WHERE id = $1`, fix.ID); n != 2 {
		t.Errorf("a correction for %d, want 2", n)
	}
	// Only the uncertain one is sent to again.
	var again struct{ Resent int }
	if d.call("POST", path(id, "/resend-uncertain"), nil).into(&again); again.Resent != 1 {
		t.Errorf("resent to %d", again.Resent)
	}
	var b broadcast.Broadcast
	if d.call("GET", path(id, ""), nil).into(&b); b.State != broadcast.Running || b.Counts.Open() != 1 {
		t.Errorf("after that: %s %+v", b.State, b.Counts)
	}
	// When it is no longer known who got it, there is nobody to correct.
	d.exec(`UPDATE broadcasts SET state = 'finished', finished_at = now() - interval '91 days' WHERE id = $1`, id)
	if got := d.call("POST", path(id, "/correct"), valid("correct")); got.status != 409 || !strings.Contains(got.problem().Detail, "90 days") {
		t.Errorf("a correction after 91 days: %d %s", got.status, got.body)
	}
}

// TestOne: a message or a test reaches one person once, on the messenger last used,
// and nobody else; whoever cannot be written to gets nothing, which ends at once.
func TestOne(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.person("", messenger.Telegram) // somebody else
	draft := d.make(broadcast.Draft)
	for name, tc := range map[string]struct {
		set          string
		in           []messenger.Name
		telegram, vk int64
	}{
		"telegram":        {"", []messenger.Name{messenger.Telegram}, 1, 0},
		"two messengers":  {"roles = '{admin}'", []messenger.Name{messenger.Telegram, messenger.VK}, 0, 1},
		"no messenger":    {"roles = '{admin}'", nil, 0, 0},
		"wants no news":   {"news = false, maintenance = false", []messenger.Name{messenger.VK}, 0, 1},
		"banned":          {"banned_at = now()", []messenger.Name{messenger.Telegram}, 0, 0},
		"blocked the bot": {"locale = 'en'", []messenger.Name{messenger.Telegram}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			id := d.person(tc.set, tc.in...)
			if name == "blocked the bot" {
				d.exec(`UPDATE identities SET reachable = false WHERE person_id = $1`, id)
			}
			for what, body := range map[string]map[string]any{
				"/v1/messages":       {"customer": id, "texts": map[string]any{"ru": "да"}},
				path(draft, "/test"): {"customer": id},
			} {
				var b broadcast.Broadcast
				d.call("POST", what, body).into(&b)
				d.plan(b.ID)
				in := func(m messenger.Name) int64 {
					return d.number(`SELECT coalesce(sum(size), 0) FROM batches WHERE broadcast = $1 AND messenger = $2`, b.ID, string(m))
				}
				if in(messenger.Telegram) != tc.telegram || in(messenger.VK) != tc.vk {
					t.Errorf("%s: %d in Telegram, %d in VK", what, in(messenger.Telegram), in(messenger.VK))
				}
				if d.call("GET", path(b.ID, ""), nil).into(&b); tc.telegram+tc.vk == 0 && b.State != broadcast.Finished {
					t.Errorf("%s to nobody is %s", what, b.State)
				}
			}
		})
	}
	// "To oneself" needs a self.
	got := d.call("POST", path(draft, "/test"), nil)
	if p := got.problem(); got.status != 422 || p.Errors[0].Pointer != "/customer" || !strings.Contains(p.Errors[0].Message, "belongs to no person") {
		t.Errorf("a test by a key of nobody: %d %s", got.status, got.body)
	}
	me := d.person(`roles = '{admin}'`, messenger.Telegram)
	var b broadcast.Broadcast
	d.call("POST", path(draft, "/test"), nil, "X-API-Key", "", "X-Session", d.session(me, "admin")).into(&b)
	if len(b.Audience.Customers) != 1 || b.Audience.Customers[0] != me || b.Relation != broadcast.Test || b.Parent != draft {
		t.Errorf("a test to oneself: %+v", b)
	}
}
