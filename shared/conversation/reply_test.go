package conversation_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"supportbot/shared/conversation"
	"supportbot/shared/dialog"
	"supportbot/shared/messenger"
	"supportbot/shared/pace"
	"supportbot/shared/person"
	"supportbot/shared/ticket"
)

func failure(kind messenger.ErrorKind, after time.Duration) error {
	return &messenger.Error{Kind: kind, Code: 429, RetryAfter: after, Err: errors.New("told so")}
}

// unplaced is the failure of an adapter that found no place for one of its calls.
func unplaced(wait time.Duration) error {
	return &messenger.Error{Kind: messenger.RateLimited, RetryAfter: wait, Err: &pace.TooLong{Wait: wait}}
}

func TestReply_WhatCannotGoOutNow(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		fail      []error
		refuse    bool // by our own limits
		sent      int
		queued    bool
		uncertain bool
		told      int // the limiter, of refusals
	}{
		{name: "works", sent: 1},
		{name: "told to wait a moment", fail: []error{failure(messenger.RateLimited, time.Millisecond)}, sent: 1, told: 1},
		{name: "told twice", fail: []error{failure(messenger.RateLimited, time.Millisecond), failure(messenger.RateLimited, time.Millisecond)}, queued: true, told: 2},
		{name: "told to wait long", fail: []error{failure(messenger.RateLimited, 2282*time.Second)}, queued: true, told: 1},
		{name: "no place within the limits for a part of it", fail: []error{unplaced(time.Millisecond)}, queued: true},
		{name: "no place within the limits", refuse: true, queued: true},
		{name: "temporary", fail: []error{failure(messenger.Temporary, 0)}, queued: true},
		{name: "uncertain", fail: []error{failure(messenger.Uncertain, 0)}, queued: true, uncertain: true},
		{name: "an error of no kind", fail: []error{errors.New("EOF")}, queued: true, uncertain: true},
		{name: "refused for good", fail: []error{failure(messenger.Invalid, 0)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			s := b.service(nil)
			b.sender.fail, b.pacer.refuse = tt.fail, tt.refuse
			ev := b.message("/menu")
			b.do(s, ev)
			if got := len(b.sender.texts()); got != tt.sent {
				t.Errorf("sent: got %d, want %d", got, tt.sent)
			}
			if len(b.pacer.refused) != tt.told {
				t.Errorf("refusals that the limiter was told of: got %v, want %d", b.pacer.refused, tt.told)
			}
			b.wantNothingPending()
			if !tt.queued {
				if got := b.records.kinds(); got != nil {
					t.Errorf("jobs: got %v", got)
				}
				return
			}
			if got := b.records.kinds(); !slices.Equal(got, []string{ticket.KindNotice}) {
				t.Fatalf("jobs: got %v, want a notice", got)
			}
			key := "reply:" + ev.Key + ":0"
			j := b.records.jobs[key][0]
			if j.Queue != ticket.QueueDeliveries || j.Lane.Name != ticket.OutboundLane(b.a) || j.Lane.Loose || j.CorrelationID != ev.Key {
				t.Errorf("job: got %+v", j)
			}
			n, ok := j.Payload.(ticket.Notice)
			if !ok || n.Uncertain != tt.uncertain || n.Part.Text != dialog.Text("ru", "menu") || n.Keyboard == nil || n.Address != b.a {
				t.Errorf("notice: got %+v", j.Payload)
			}
			if !slices.Contains(b.hints.keys, key) {
				t.Errorf("published: got %v", b.hints.keys)
			}
		})
	}
}

func TestReply_WhatFollowsADeferredOneWaitsToo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.service(nil)
	b.lister.set(nil, ticket.Summary{Ref: ticket.Ref{Draft: "abc"}, Title: "one\ftwo\fthree", Phase: ticket.PhaseOpen})
	b.do(s, b.message("/menu"))
	b.sender.forget()
	b.sender.fail = []error{nil, failure(messenger.Temporary, 0)}
	ev := b.press("v:o:dabc")
	b.do(s, ev)
	if got := len(b.sender.texts()); got != 1 {
		t.Errorf("sent %d parts, want the first alone", got)
	}
	want := []string{"reply:" + ev.Key + ":1", "reply:" + ev.Key + ":2"}
	if !slices.Equal(b.records.order, want) {
		t.Errorf("jobs: got %v, want %v", b.records.order, want)
	}
}

func TestReply_Blocked(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.service(nil)
	b.sender.fail = []error{failure(messenger.Blocked, 0)}
	b.do(s, b.message("/menu"))
	if b.records.reach == nil || *b.records.reach {
		t.Fatal("the person still counts as reachable")
	}
	if got := b.records.kinds(); got != nil {
		t.Errorf("jobs: got %v", got)
	}
	b.wantNothingPending()
	b.do(s, b.message("/menu")) // writes again
	if !*b.records.reach {
		t.Error("the person does not count as reachable")
	}
	b.wantTexts("menu")
}

func TestEvent_BlockedAndUnblocked(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.service(nil)
	b.do(s, b.message("/menu"))
	b.do(s, b.event(messenger.EventBlocked))
	if *b.records.reach {
		t.Error("blocked: still reachable")
	}
	b.do(s, b.message("/menu")) // VK sends no event for that
	if !*b.records.reach {
		t.Error("wrote again: not reachable")
	}
	b.do(s, b.event(messenger.EventBlocked))
	b.do(s, b.event(messenger.EventUnblocked))
	if !*b.records.reach {
		t.Error("unblocked: not reachable")
	}
	b.wantNothingPending()
}

// Who blocks the bot and is not known, like one who was erased, leaves nothing behind.
func TestEvent_BlockedByNobody(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.service(nil)
	b.records.unknown = true
	ev := b.event(messenger.EventBlocked)
	ev.User.Name = ""
	b.do(s, ev)
	if b.records.reach != nil || b.sender.asked > 0 {
		t.Errorf("reachable %v, asked for a name %d times", b.records.reach, b.sender.asked)
	}
	if keys := b.client.Keys(context.Background(), "*"+b.a.Chat+"*").Val(); len(keys) > 0 {
		t.Errorf("kept: %v", keys)
	}
	b.do(s, b.message("/menu"))
	if b.records.reach == nil || !*b.records.reach {
		t.Error("who writes then does not count as reachable")
	}
	b.wantTexts("menu")
}

func TestReply_EditsThePressedMessage(t *testing.T) {
	t.Parallel()
	for _, gone := range []bool{false, true} {
		b := newBench(t)
		s := b.service(nil)
		b.do(s, b.message("/menu"))
		b.sender.forget()
		if gone {
			b.sender.failEdit = failure(messenger.Invalid, 0)
		}
		ev := b.press("m:help")
		ev.Press.MessageID = "9999999999999"
		b.do(s, ev)
		if gone {
			b.wantTexts("help") // sent anew
		} else if !slices.Equal(b.sender.edits, []string{"9999999999999"}) || b.sender.texts() != nil {
			t.Errorf("got edits %v, texts %q", b.sender.edits, b.sender.texts())
		}
		if got := b.sender.answered; !slices.Equal(got, []string{ev.Press.ID}) {
			t.Errorf("answered: got %v", got)
		}
	}
}

func TestReply_UncertainEditIsNoDuplicate(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.service(nil)
	b.do(s, b.message("/menu"))
	b.sender.failEdit = failure(messenger.Uncertain, 0)
	ev := b.press("m:help")
	ev.Press.MessageID = "9999999999999"
	b.do(s, ev)
	n, ok := b.records.jobs["reply:"+ev.Key+":0"][0].Payload.(ticket.Notice)
	if !ok || n.Uncertain {
		t.Errorf("got %+v", n)
	}
}

// A name that could not be had on the first visit is asked for on the next, and then
// no more.
func TestPerson_NameIsAskedForUntilItIsKnown(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.service(nil)
	come := func() {
		ev := b.message("/menu")
		ev.User.Name, ev.User.Username = "", ""
		b.do(s, ev)
	}
	come()
	if b.sender.asked != 1 || b.records.named != "" {
		t.Fatalf("asked %d times, came %q", b.sender.asked, b.records.named)
	}
	b.sender.known = messenger.User{ID: b.a.Chat, Name: "canary-name"}
	come()
	come()
	if b.sender.asked != 2 || b.records.named != "canary-name" {
		t.Errorf("asked %d times, came %q", b.sender.asked, b.records.named)
	}
}

func TestPerson_LanguageAndSettings(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.service(nil)
	b.do(s, b.press("s:l:en"))
	if b.records.person.Locale != "en" {
		t.Fatalf("locale: got %q", b.records.person.Locale)
	}
	b.sender.forget()
	b.do(s, b.message("/menu"))
	if got, want := b.sender.texts(), []string{dialog.Text("en", "menu")}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	b.do(s, b.press("s:n:0"))
	b.do(s, b.press("s:s:0"))
	if got, want := b.records.person.Settings, (person.Settings{Maintenance: true}); got != want {
		t.Errorf("settings: got %+v, want %+v", got, want)
	}
	before := b.records.visits
	b.do(s, b.message("/menu"))
	if b.records.visits != before {
		t.Error("Postgres is asked although nothing changed")
	}
	renamed := b.message("/menu")
	renamed.User.Name = "canary-new"
	b.do(s, renamed)
	b.do(s, b.press("m:help"))
	if got := b.records.visits - before; got != 2 { // the new name, and the old one again
		t.Errorf("a new name was recorded %d times", got)
	}
	b.wait(61 * time.Minute)
	before = b.records.visits
	b.do(s, b.message("/menu"))
	b.do(s, b.message("/menu"))
	if got := b.records.visits - before; got != 1 {
		t.Errorf("an old copy was refreshed %d times, want once", got)
	}
}

func TestTickets_AreReadOnceAMinute(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.service(nil)
	b.lister.set(nil, ticket.Summary{Ref: ticket.Ref{Draft: "abc"}, Key: "SUP-1", Phase: ticket.PhaseOpen})
	for range 3 {
		b.do(s, b.message("text"))
		b.do(s, b.message("/tickets"))
	}
	if b.lister.tickets != 1 {
		t.Errorf("read %d times, want once", b.lister.tickets)
	}
	b.wait(time.Minute)
	b.do(s, b.message("/tickets")) // read while it is rendered, and kept
	b.do(s, b.message("text"))
	if b.lister.tickets != 2 {
		t.Errorf("read %d times, want twice", b.lister.tickets)
	}
	b.do(s, b.message("/help"))
	b.wait(time.Hour)
	b.do(s, b.message("/help"))
	if b.lister.tickets != 2 {
		t.Error("read for nothing")
	}
}

func TestTickets_TrackerAway(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.service(nil)
	open := ticket.Summary{Ref: ticket.Ref{Draft: "abc"}, Key: "SUP-1", Phase: ticket.PhaseOpen}
	b.lister.set(errors.New("503"))
	ev := b.message("text")
	b.do(s, ev)
	b.wantTexts("ack.later")
	var again ticket.Again
	if err := json.Unmarshal(payloadOf(t, b.records, "again:"+ev.Key), &again); err != nil {
		t.Fatal(err)
	}
	if err := s.Again(context.Background(), again.Event); err == nil {
		t.Error("Again: got no error while Tracker is away")
	}
	b.lister.set(nil, open)
	b.wait(time.Minute)
	for range 2 { // a worker may repeat it
		if err := s.Again(context.Background(), again.Event); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := b.records.kinds(), []string{ticket.KindAgain, ticket.KindComment}; !slices.Equal(got, want) {
		t.Errorf("jobs: got %v, want %v", got, want)
	}
	b.lister.set(errors.New("503")) // what was kept stands in
	b.wait(24 * time.Hour)
	b.do(s, b.message("text"))
	if got := b.records.kinds(); got[len(got)-1] != ticket.KindComment {
		t.Errorf("jobs: got %v", got)
	}
	b.sender.forget()
	b.do(s, b.message("/tickets"))
	if got := b.sender.texts(); len(got) != 1 || !strings.Contains(got[0], "SUP-1") || !strings.Contains(got[0], "Данные на") {
		t.Errorf("got %q", got)
	}
	b.wantNothingPending()
}

func TestTickets_TrackerHangs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.service(nil)
	b.do(s, b.message("/menu"))
	b.lister.hang = true
	started := time.Now()
	ev := b.message("text")
	b.do(s, ev)
	if took := time.Since(started); took < 1900*time.Millisecond || took > time.Minute {
		t.Errorf("waited %v for Tracker, want about 2 s", took)
	}
	payloadOf(t, b.records, "again:"+ev.Key)
}

func TestPages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.service(nil)
	b.lister.set(nil, ticket.Summary{Ref: ticket.Ref{Draft: "abc"}, Key: "SUP-1", Title: "t", Phase: ticket.PhaseOpen})
	b.lister.history = []ticket.Entry{{Kind: "agent", Text: "an answer"}}
	tests := []struct {
		data, want string
		read       bool // of the history
	}{
		{"m:tickets", "SUP-1 · t", false},
		{"v:o:dabc", "SUP-1", false},
		{"v:h:dabc:0", "an answer", true},
		{"v:h:i5f0c1e2d:0", dialog.Text("ru", "ticket.unknown"), false}, // forged
	}
	for _, tt := range tests {
		b.sender.forget()
		b.lister.histored = nil
		b.do(s, b.press(tt.data))
		if got := b.sender.texts(); len(got) != 1 || !strings.Contains(got[0], tt.want) {
			t.Errorf("%s: got %q, want %q", tt.data, got, tt.want)
		}
		if got := len(b.lister.histored) > 0; got != tt.read {
			t.Errorf("%s: history read: got %v, want %v", tt.data, got, tt.read)
		}
	}
}

func TestAlbum_PartsJoinOneJob(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.service(nil)
	b.lister.set(nil, ticket.Summary{Ref: ticket.Ref{Draft: "abc"}, Key: "SUP-1", Phase: ticket.PhaseOpen})
	for range 5 {
		ev := b.message("")
		ev.Album, ev.Attachments = "A", []messenger.Attachment{{Kind: messenger.Photo, Ref: "r", Name: "p.jpg"}}
		b.do(s, ev)
		b.do(s, ev)
	}
	if got := len(b.records.jobs[ticket.AlbumKey(b.a, "A")]); got != 5 || len(b.records.order) != 1 {
		t.Errorf("got %d parts in %d jobs, want 5 in one", got, len(b.records.order))
	}
	if got := len(b.sender.texts()); got != 1 {
		t.Errorf("acknowledged %d times, want once", got)
	}
}

func TestCompleteStale_LeavesOtherBotsAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	confirm := b.filled(b.service(nil))
	b.dies(conversation.StageCommitted, confirm)
	b.afterLease()
	other := newBench(t)
	if n, err := other.service(nil).CompleteStale(context.Background(), 0); n != 0 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	if n, err := b.service(nil).CompleteStale(context.Background(), time.Hour); n != 0 || err != nil {
		t.Errorf("too young: got %d, %v", n, err)
	}
	if n, err := b.service(nil).CompleteStale(context.Background(), 0); n != 1 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
}

// TestReply_SlowMessenger: replies take a few seconds at most, and none is begun
// when somebody else may hold the lease already.
func TestReply_SlowMessenger(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		takes   time.Duration
		pending int
		jobs    int
	}{
		{"too slow for a webhook", 4 * time.Second, 0, 1},
		{"the lease may be over", 8 * time.Second, 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			s := b.service(nil)
			b.lister.set(nil, ticket.Summary{Ref: ticket.Ref{Draft: "abc"}, Title: "one\ftwo", Phase: ticket.PhaseOpen})
			b.do(s, b.message("/menu"))
			b.sender.forget()
			b.sender.before = func(messenger.Outgoing) { b.wait(tt.takes) }
			ev := b.press("v:o:dabc")
			b.do(s, ev)
			if got := len(b.sender.texts()); got != 1 {
				t.Errorf("sent %d parts, want one", got)
			}
			if got := len(b.snapshot().Pending); got != tt.pending {
				t.Errorf("%d entries are pending, want %d", got, tt.pending)
			}
			if got := len(b.records.kinds()); got != tt.jobs {
				t.Errorf("got %d jobs, want %d", got, tt.jobs)
			}
			b.sender.before = nil
			b.do(s, ev) // the lease was given back: no need to wait for its end
			b.wantNothingPending()
		})
	}
}
