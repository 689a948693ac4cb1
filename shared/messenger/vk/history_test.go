package vk_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/messenger"
	"supportbot/shared/sandbox/fault"
	sandbox "supportbot/shared/sandbox/vk"
)

// freely lets every call be made, and counts them.
type freely struct{ turns int }

func (f *freely) turn(context.Context) error { f.turns++; return nil }

// What VK did not deliver is found in the history, under the same keys.
func TestHistory_GivesWhatReceiveWouldHave(t *testing.T) {
	t.Parallel()
	now := &clock{t: time.Now()}
	h := newHarness(t, func(c *sandbox.Config) { c.Now = now.now })
	events := collect(h)
	anna, boris, silent := h.customer(), h.customer(), h.customer()
	silent.Write("long ago")
	<-events
	anna.Write("long ago")
	<-events
	now.move(time.Hour)
	since := now.now()
	anna.Write("delivered")
	delivered := <-events
	if _, err := h.bot.Send(h.ctx, text(anna.Chat(), "answer", "k")); err != nil {
		t.Fatal(err)
	}
	h.faults.Add(fault.Fault{Method: sandbox.CallbackMethod, Kind: fault.Drop})
	anna.Write("lost")
	for i := range 250 { // more than a page
		boris.Write(fmt.Sprint("lost ", i))
	}
	now.move(time.Second)
	until := now.now()
	anna.Write("too fresh")

	free, before := &freely{}, len(h.calls.Since(0))
	chats, err := h.bot.Chats(h.ctx, since, free.turn)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]time.Time{
		anna.Chat(): until.UTC().Truncate(time.Second), boris.Chat(): since.UTC().Truncate(time.Second),
	}
	if diff := cmp.Diff(want, chats); diff != "" {
		t.Errorf("chats (-want +got):\n%s", diff)
	}
	said := func(chat string) (texts []string) {
		list, err := h.bot.Said(h.ctx, []string{chat}, since, until, free.turn)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list[chat] {
			texts = append(texts, e.Text)
			if e.Text == "delivered" {
				delivered.User.Locale = "" // the history does not tell
				if diff := cmp.Diff(delivered, e); diff != "" {
					t.Errorf("event (-received +told):\n%s", diff)
				}
			}
		}
		return texts
	}
	if diff := cmp.Diff([]string{"delivered", "lost"}, said(anna.Chat())); diff != "" {
		t.Errorf("of one customer (-want +got):\n%s", diff)
	}
	if got := said(boris.Chat()); len(got) != 250 || got[0] != "lost 0" || got[249] != "lost 249" {
		t.Errorf("got %d events of the other, want 250 in order", len(got))
	}
	calls := 0
	for _, c := range h.calls.Since(before) {
		if c.Method != sandbox.CallbackMethod { // VK goes on calling meanwhile
			calls++
		}
	}
	if calls != free.turns || calls != 5 {
		t.Errorf("%d calls with %d turns, want 5 each", calls, free.turns)
	}
}

// A chat that comes to the front of the list while it is read is not missed, and
// what shifts in a chat is not told twice.
func TestHistory_WhileSomethingIsSaid(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.faults.Add(fault.Fault{Method: sandbox.CallbackMethod, Kind: fault.Drop})
	since := time.Now().Add(-time.Minute)
	var all []*customer
	for range 250 {
		c := h.customer()
		c.Write("hello")
		all = append(all, c)
	}
	pages := 0
	chats, err := h.bot.Chats(h.ctx, since, func(context.Context) error {
		if pages++; pages == 2 {
			all[0].Write("again") // it was the last of all
		}
		return nil
	})
	if err != nil || len(chats) != 250 || pages != 3 {
		t.Errorf("got %d chats of 250 in %d calls, %v", len(chats), pages, err)
	}
	busy := all[1]
	for i := range 299 {
		busy.Write(fmt.Sprint(i))
	}
	pages = 0
	said, err := h.bot.Said(h.ctx, []string{busy.Chat()}, since, time.Now().Add(time.Minute), func(context.Context) error {
		if pages++; pages == 3 {
			busy.Write("more")
			busy.Write("and more")
		}
		return nil
	})
	if got := len(said[busy.Chat()]); err != nil || got != 300 {
		t.Errorf("got %d messages of 300, %v", got, err)
	}
	h.wantMany(all, since)
}

// wantMany: what was said in 250 chats is read with few calls.
func (h *harness) wantMany(all []*customer, since time.Time) {
	h.t.Helper()
	var chats []string
	for _, c := range all[2:] {
		chats = append(chats, c.Chat())
	}
	free := &freely{}
	said, err := h.bot.Said(h.ctx, chats, since, time.Now().Add(time.Minute), free.turn)
	if err != nil || free.turns != 10 {
		h.t.Fatalf("%d calls, %v, want 10", free.turns, err)
	}
	for _, chat := range chats {
		if events := said[chat]; len(events) != 1 || events[0].Address.Chat != chat || events[0].Text != "hello" {
			h.t.Errorf("chat %s: got %+v, want the one message", chat, events)
		}
	}
}

// Group chats are no customers, and of what one customer can write there is an end.
func TestHistory_Bounds(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.faults.Add(fault.Fault{Method: sandbox.CallbackMethod, Kind: fault.Drop})
	since, until := time.Now().Add(-time.Minute), time.Now().Add(time.Minute)
	c := h.customer()
	c.InGroup("hello")
	for i := range 1100 {
		c.Write(fmt.Sprint(i))
	}
	free := &freely{}
	chats, err := h.bot.Chats(h.ctx, since, free.turn)
	if _, ok := chats[c.Chat()]; err != nil || !ok || len(chats) != 1 {
		t.Errorf("got the chats %v, %v, want the customer's alone", chats, err)
	}
	all, err := h.bot.Said(h.ctx, []string{c.Chat()}, since, until, free.turn)
	said := all[c.Chat()]
	if err != nil || len(said) != 1000 || said[0].Text != "100" || said[999].Text != "1099" {
		t.Errorf("got %d messages, %v, want the newest 1000", len(said), err)
	}
}

// A chat that VK does not show costs only itself; a limit ends the reading.
func TestHistory_RefusedChat(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	c, hidden := h.customer(), h.customer()
	c.Write("hello")
	free, since, until := &freely{}, time.Now().Add(-time.Hour), time.Now().Add(time.Minute)
	chats := []string{hidden.Chat(), c.Chat()}
	h.faults.Add(fault.Fault{Method: "messages.getHistory", Kind: fault.Status, Status: 100, Times: 1})
	said, err := h.bot.Said(h.ctx, chats, since, until, free.turn)
	if _, shown := said[hidden.Chat()]; err != nil || shown || len(said[c.Chat()]) != 1 || free.turns != 2 {
		t.Errorf("got %v, %v in %d calls, want the one message", said, err, free.turns)
	}
	h.faults.Add(fault.Fault{Method: "messages.getHistory", Kind: fault.Status, Status: 6, Times: 1})
	_, err = h.bot.Said(h.ctx, chats, since, until, free.turn)
	kindAndCode(t, err, messenger.RateLimited, 6)
	said, err = h.bot.Said(h.ctx, chats, since, until, free.turn)
	if events, shown := said[hidden.Chat()]; err != nil || !shown || len(events) != 0 {
		t.Errorf("got %v, %v of a chat in which nothing was said", events, err)
	}
}

func TestHistory_FailureIsTemporary(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	c := h.customer()
	c.Write("hello")
	free, since := &freely{}, time.Now().Add(-time.Hour)
	h.faults.Add(fault.Fault{Method: "messages.getConversations", Kind: fault.HTMLBefore, Times: 1})
	_, err := h.bot.Chats(h.ctx, since, free.turn)
	kindAndCode(t, err, messenger.Temporary, 0)
	h.faults.Add(fault.Fault{Method: "execute", Kind: fault.HTMLBefore, Times: 1})
	_, err = h.bot.Said(h.ctx, []string{c.Chat()}, since, time.Now(), free.turn)
	kindAndCode(t, err, messenger.Temporary, 0)
	_, err = h.bot.Said(h.ctx, []string{"nobody"}, since, time.Now(), free.turn)
	kindAndCode(t, err, messenger.Invalid, 0)

	full := errors.New("no place")
	refuse := func(context.Context) error { return full }
	if _, err := h.bot.Chats(h.ctx, since, refuse); !errors.Is(err, full) {
		t.Errorf("got %v, want the limiter's error", err)
	}
	if _, err := h.bot.Said(h.ctx, []string{c.Chat()}, since, time.Now(), refuse); !errors.Is(err, full) {
		t.Errorf("got %v, want the limiter's error", err)
	}
}

func TestProfile(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.fake.Customer(sandbox.User{ID: 5, FirstName: "Анна", LastName: "К", ScreenName: "anna"})
	h.fake.Customer(sandbox.User{ID: 1<<40 + 6, FirstName: "Борис"})
	for id, want := range map[string]messenger.User{
		"5":             {ID: "5", Name: "Анна К", Username: "anna"},
		"1099511627782": {ID: "1099511627782", Name: "Борис"},
	} {
		got, err := h.bot.Profile(h.ctx, id)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("got error %v, profile (-want +got):\n%s", err, diff)
		}
	}
	_, err := h.bot.Profile(h.ctx, "77")
	kindAndCode(t, err, messenger.Invalid, 0)
	h.faults.Add(fault.Fault{Method: "users.get", Kind: fault.HTMLBefore, Times: 1})
	_, err = h.bot.Profile(h.ctx, "5")
	kindAndCode(t, err, messenger.Temporary, 0)
}

func TestPoll(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	ctx, cancel := context.WithCancel(h.ctx)
	events := make(chan messenger.Event, 100)
	handler, refused := webhook(h, events), false
	flaky := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !refused { // as while the database is away
			refused = true
			http.Error(w, "away", http.StatusServiceUnavailable)
			return
		}
		handler.ServeHTTP(w, r)
	})
	done := make(chan error, 1)
	go func() { done <- h.bot.Poll(ctx, h.judgeEvents(flaky)) }()
	c := h.customer()
	// A message before the first poll is not the poll's business.
	if err := h.calls.Wait(ctx, func(calls []fault.Call) bool {
		return len(calls) > 0 && calls[len(calls)-1].Method == "groups.getLongPollServer"
	}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []func(){func() {}, h.fake.ExpireLongPoll} {
		step()
		c.Write("hello")
		if e := <-events; e.Text != "hello" || e.Address.Chat != c.Chat() {
			t.Errorf("got %+v, want the message", e)
		}
	}
	r, err := h.bot.Send(h.ctx, messenger.Outgoing{
		Chat: c.Chat(), Part: messenger.Part{Text: "choose"}, Keyboard: messenger.Keyboard{{{Label: "Yes", Data: "yes"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	c.Press(r.MessageID, "yes")
	if e := <-events; e.Kind != messenger.EventPress || e.Press.Data != "yes" {
		t.Errorf("got %+v, want the press", e)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the poll to end with its context", err)
	}
}
