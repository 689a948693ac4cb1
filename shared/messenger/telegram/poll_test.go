package telegram_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"supportbot/shared/messenger"
	"supportbot/shared/sandbox/fault"
)

// polled runs Poll until the test ends; calls to the webhook arrive at the channel,
// which answers them.
func polled(h *harness) (<-chan string, chan<- int, <-chan error) {
	ctx, cancel := context.WithCancel(h.ctx)
	texts, answers, ended := make(chan string), make(chan int), make(chan error, 1)
	go func() {
		ended <- h.bot.Poll(ctx, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			events, reply, err := h.bot.Receive(r)
			if err != nil || len(events) != 1 {
				h.t.Errorf("got %d events, %v, want one", len(events), err)
				w.WriteHeader(reply.Status)
				return
			}
			select {
			case texts <- events[0].Text:
				w.WriteHeader(<-answers)
			case <-ctx.Done():
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		}))
	}()
	h.t.Cleanup(cancel)
	return texts, answers, ended
}

func TestPoll_RepeatsUntilAccepted(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	c := h.customer()
	c.Write("one")
	c.Write("two")
	texts, answers, _ := polled(h)
	for _, step := range []struct {
		text   string
		answer int
	}{{"one", 503}, {"one", 200}, {"two", 503}, {"two", 204}, {"three", 200}} {
		if step.text == "three" {
			c.Write("three") // while the poll is open
		}
		if got := <-texts; got != step.text {
			t.Fatalf("got %q, want %q", got, step.text)
		}
		answers <- step.answer
	}
}

// What was not accepted comes again to the next process.
func TestPoll_LosesNothingWhenItEnds(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.customer().Write("one")
	ctx, cancel := context.WithCancel(h.ctx)
	err := h.bot.Poll(ctx, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		cancel()
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
	texts, answers, _ := polled(h)
	if got := <-texts; got != "one" {
		t.Errorf("got %q, want it again", got)
	}
	answers <- http.StatusOK
}

func TestPoll_GoesOnAfterTrouble(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	c := h.customer()
	c.Write("one")
	texts, answers, _ := polled(h)
	<-texts
	h.faults.Add(fault.Fault{Method: "getUpdates", Kind: fault.HTMLBefore, Times: 1})
	answers <- http.StatusOK
	c.Write("two")
	if got := <-texts; got != "two" {
		t.Errorf("got %q, want %q", got, "two")
	}
	answers <- http.StatusOK
	if !strings.Contains(h.Logged(), "gives no updates") || strings.Contains(h.Logged(), "canary-token") {
		t.Errorf("got log %q, want the trouble without the token", h.Logged())
	}
}

// A webhook may be that of the real installation: nobody removes it by an accident.
func TestPoll_LeavesAWebhookAlone(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.Connect(http.NotFoundHandler())
	err := h.bot.Poll(h.ctx, http.NotFoundHandler())
	kindAndCode(t, err, messenger.Temporary, http.StatusConflict)
	if !strings.Contains(err.Error(), "webhook") {
		t.Errorf("got %v, want it to name the webhook", err)
	}
	if err := h.bot.Unregister(h.ctx); err != nil {
		t.Fatal(err)
	}
	h.customer().Write("one")
	texts, answers, _ := polled(h)
	if got := <-texts; got != "one" {
		t.Errorf("got %q, want %q", got, "one")
	}
	answers <- http.StatusOK
}

func TestPoll_EndsWithAWrongToken(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.faults.Add(fault.Fault{Method: "getUpdates", Kind: fault.Status, Status: http.StatusUnauthorized})
	_, _, ended := polled(h)
	kindAndCode(t, <-ended, messenger.Temporary, http.StatusUnauthorized)
}

func TestRegister(t *testing.T) {
	t.Parallel()
	if err := newHarness(t).bot.Register(context.Background(), "https://example.org/telegram"); err != nil {
		t.Fatal(err)
	}
	err := newHarness(t).bot.Register(context.Background(), "http://example.org/telegram") // not HTTPS
	kindAndCode(t, err, messenger.Invalid, http.StatusBadRequest)
}
