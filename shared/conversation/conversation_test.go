package conversation_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"supportbot/shared/backend"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/conversation"
	"supportbot/shared/messenger"
	"supportbot/shared/ticket"
)

func TestAccept_SameUpdateFromManySides(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	one, two := b.service(nil), b.service(nil)
	confirm := b.filled(one)
	b.sender.forget()
	var wg sync.WaitGroup
	for i := range 10 {
		s := []*conversation.Service{one, two}[i%2]
		wg.Add(1)
		go func() {
			defer wg.Done()
			a, err := s.Accept(context.Background(), confirm)
			if err != nil {
				t.Error(err)
				return
			}
			a.Finish(context.Background())
		}()
	}
	wg.Wait()
	if got := b.records.kinds(); !slices.Equal(got, []string{ticket.KindCreate}) {
		t.Errorf("jobs: got %v, want one ticket", got)
	}
	b.wantTexts("form.sent")
	if got := len(b.sender.answered); got != 1 {
		t.Errorf("the press was answered %d times", got)
	}
	b.wantNothingPending()
}

func TestAccept_DoubleTap(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.service(nil)
	first := b.filled(s)
	second := b.press(first.Press.Data)
	b.sender.forget()
	b.race(s, first, second)
	if got := b.records.kinds(); !slices.Equal(got, []string{ticket.KindCreate}) {
		t.Errorf("jobs: got %v, want one ticket", got)
	}
	b.wantTexts("form.sent", "form.already_sent")
	b.wantNothingPending()
}

// race lets events arrive at once.
func (b *bench) race(s *conversation.Service, events ...messenger.Event) {
	b.t.Helper()
	var wg sync.WaitGroup
	for _, ev := range events {
		wg.Add(1)
		go func() {
			defer wg.Done()
			a, err := s.Accept(context.Background(), ev)
			if err != nil {
				b.t.Error(err)
				return
			}
			a.Finish(context.Background())
		}()
	}
	wg.Wait()
}

func TestAccept_ConfirmAgainstCancel(t *testing.T) {
	t.Parallel()
	for range 10 {
		b := newBench(t)
		s := b.service(nil)
		confirm := b.filled(s)
		b.sender.forget()
		b.race(s, confirm, b.message("/cancel"))
		if len(b.records.kinds()) == 1 {
			b.wantTexts("form.sent", "form.too_late")
		} else {
			b.wantTexts("form.cancelled", "form.already_cancelled")
		}
		b.wantNothingPending()
	}
}

func TestAccept_ManyEventsAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.service(nil)
	b.lister.set(nil, ticket.Summary{Ref: ticket.Ref{Draft: "abc"}, Key: "SUP-1", Phase: ticket.PhaseOpen})
	var events []messenger.Event
	for range 25 {
		events = append(events, b.message("canary-text"))
	}
	b.race(s, events...)
	if got := len(b.records.kinds()); got != 25 {
		t.Errorf("got %d jobs, want 25", got)
	}
	if got := len(b.sender.texts()); got != 1 {
		t.Errorf("acknowledged %d times", got)
	}
	b.wantNothingPending()
}

func TestAccept_RoundTrips(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.service(nil)
	warm := b.filled(s)
	for name, ev := range map[string]messenger.Event{"step": b.message("/menu"), "job": warm, "page": b.message("/tickets"), "silent": b.message("ещё")} {
		before := b.trips.n.Load()
		a, err := s.Accept(context.Background(), ev)
		if err != nil {
			t.Fatal(err)
		}
		accepted := b.trips.n.Load()
		a.Finish(context.Background())
		after := b.trips.n.Load()
		if accepted-before > 2 || after-accepted > 1 {
			t.Errorf("%s: %d round trips before the answer and %d after it, want 2 and 1", name, accepted-before, after-accepted)
		}
	}
}

func TestAccept_RepliesAreSentInOrderByOne(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.service(nil)
	b.do(s, b.message("/menu"))
	b.sender.forget()
	inside, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	b.sender.before = func(messenger.Outgoing) {
		once.Do(func() {
			close(inside)
			<-goOn
		})
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.do(s, b.message("/help"))
	}()
	<-inside
	b.do(b.service(nil), b.message("/settings")) // returns although the other one is sending
	b.do(s, b.message("/lang"))
	if got := b.sender.texts(); got != nil {
		t.Errorf("a reply overtook: %q", got)
	}
	close(goOn)
	<-done
	b.wantTexts("help", "settings", "lang")
	b.wantNothingPending()
}

func TestAccept_RepeatedAfterTheEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.service(nil)
	ev := b.message("/menu")
	b.do(s, ev)
	if got := b.do(s, ev); got != conversation.Repeated {
		t.Errorf("got %q", got)
	}
	b.wantTexts("menu")
}

func TestAccept_RedisAway(t *testing.T) {
	t.Parallel()
	server := backendtest.RedisServer(t, backend.Options{})
	b := newBenchAt(t, server.URL())
	s := b.service(nil)
	ev := b.message("/menu")
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Accept(context.Background(), ev); !errors.Is(err, conversation.ErrUnavailable) {
		t.Fatalf("got %v, want ErrUnavailable", err)
	}
	if _, err := s.CompleteStale(context.Background(), 0); !errors.Is(err, conversation.ErrUnavailable) {
		t.Errorf("CompleteStale: got %v, want ErrUnavailable", err)
	}
	if err := server.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	b.do(s, ev)
	b.wantTexts("menu")
}

func TestAccept_Flood(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.flood = conversation.Flood{Burst: 3, Every: time.Hour}
	s := b.service(nil)
	got := map[conversation.Outcome]int{}
	for range 8 {
		got[b.do(s, b.message("/menu"))]++
	}
	if got[conversation.Handled] != 3 || got[conversation.Flooding] != 5 {
		t.Errorf("got %v", got)
	}
	b.wantTexts("menu", "menu", "menu", "flood")
	other := newBench(t)
	if got := other.do(other.service(nil), other.message("/menu")); got != conversation.Handled {
		t.Errorf("another customer: got %q", got)
	}
}

func TestAccept_Banned(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.service(nil)
	b.records.person.Banned = true
	for range 3 {
		if got := b.do(s, b.message("/menu")); got != conversation.Banned {
			t.Errorf("got %q", got)
		}
	}
	if b.records.visits != 1 {
		t.Errorf("Postgres was asked %d times, want once", b.records.visits)
	}
	b.records.person.Banned = false
	if err := b.store.ForgetPerson(context.Background(), b.a); err != nil {
		t.Fatal(err)
	}
	if got := b.do(s, b.message("/menu")); got != conversation.Handled {
		t.Errorf("after the ban: got %q", got)
	}
	b.wantTexts("menu")
	// A ban in Postgres that nobody told of holds within the hour.
	b.records.person.Banned = true
	b.wait(61 * time.Minute)
	b.do(s, b.message("/menu"))
	if got := b.do(s, b.message("/menu")); got != conversation.Banned {
		t.Errorf("got %q", got)
	}
}

func TestAccept_Group(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.service(nil)
	for range 3 {
		b.do(s, b.event(messenger.EventGroup))
	}
	b.wantTexts("group")
	b.sender.fail = []error{&messenger.Error{Kind: messenger.Temporary, Err: errors.New("503")}}
	b.wait(2 * time.Hour)
	b.do(s, b.event(messenger.EventGroup))
	if b.records.visits != 0 || b.records.kinds() != nil {
		t.Error("a group was recorded")
	}
	b.wantNothingPending()
}

func TestAccept_UnknownBot(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ev := b.message("/menu")
	ev.Address.Bot = "nobody"
	if _, err := b.service(nil).Accept(context.Background(), ev); err == nil {
		t.Error("got no error")
	}
}

// TestLog_NeverWhatCustomersWrite runs the faults too: errors are logged, and so is each
// event that comes by a webhook.
func TestLog_NeverWhatCustomersWrite(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.service(nil)
	confirm := b.filled(s)
	comes := func(ev messenger.Event) {
		ev.User.Name, ev.User.Username = "canary-name", "canary_nick"
		call(conversation.Webhook(receiver{events: []messenger.Event{ev}}, s))
	}
	ev := b.message("canary-text")
	ev.Attachments = []messenger.Attachment{{Kind: messenger.Document, Ref: "canary-ref", Name: "canary-file.pdf"}}
	ev.Contact = &messenger.Contact{Name: "canary-contact", Phone: "canary-phone"}
	ev.Unsupported = []string{"canary-kind"}
	comes(ev)
	comes(b.message("/start canary-payload"))
	comes(confirm)
	b.lister.set(errors.New("tracker is away"))
	b.wait(time.Hour)
	comes(b.message("canary-text"))
	comes(b.message("/tickets"))
	b.sender.fail = []error{&messenger.Error{Kind: messenger.Invalid, Err: errors.New("bad request")}, &messenger.Error{Kind: messenger.Blocked, Err: errors.New("blocked")}}
	comes(b.message("/help"))
	comes(b.message("/help"))
	if log := b.log.String(); strings.Count(log, `"msg":"event"`) < 7 || strings.Contains(log, "canary") {
		t.Errorf("log: %s", log)
	}
}
