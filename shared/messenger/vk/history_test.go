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

// What VK did not deliver is found in the history, under the same keys.
func TestRecent_GivesWhatReceiveWouldHave(t *testing.T) {
	t.Parallel()
	now := &clock{t: time.Now()}
	h := newHarness(t, func(c *sandbox.Config) { c.Now = now.now })
	events := collect(h)
	anna, boris := h.customer(), h.customer()
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
	recent, err := h.bot.Recent(h.ctx, since)
	if err != nil {
		t.Fatal(err)
	}
	var fromAnna, fromBoris []string
	for _, e := range recent {
		if e.Address.Chat == anna.Chat() {
			fromAnna = append(fromAnna, e.Text)
		} else {
			fromBoris = append(fromBoris, e.Text)
		}
		if e.Text == "delivered" {
			delivered.User.Locale = "" // the history does not tell
			if diff := cmp.Diff(delivered, e); diff != "" {
				t.Errorf("event (-received +recent):\n%s", diff)
			}
		}
	}
	if diff := cmp.Diff([]string{"delivered", "lost"}, fromAnna); diff != "" {
		t.Errorf("of one customer (-want +got):\n%s", diff)
	}
	if len(fromBoris) != 250 || fromBoris[0] != "lost 0" || fromBoris[249] != "lost 249" {
		t.Errorf("got %d events of the other, want 250 in order", len(fromBoris))
	}
}

func TestRecent_FailureIsTemporary(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.customer().Write("hello")
	for _, method := range []string{"messages.getConversations", "messages.getHistory"} {
		h.faults.Add(fault.Fault{Method: method, Kind: fault.HTMLBefore, Times: 1})
		_, err := h.bot.Recent(h.ctx, time.Now().Add(-time.Hour))
		kindAndCode(t, err, messenger.Temporary, 0)
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
