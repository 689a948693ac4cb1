package conversation_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"supportbot/shared/conversation"
	"supportbot/shared/messenger"
)

// receiver reads what a test puts in.
type receiver struct {
	events []messenger.Event
	reply  messenger.Reply
	err    error
}

func (r receiver) Receive(*http.Request) ([]messenger.Event, messenger.Reply, error) {
	return r.events, r.reply, r.err
}

func call(h http.Handler) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/telegram", strings.NewReader("{}")))
	return w
}

func TestWebhook_Refusals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		err    error
		status int
		level  string
	}{
		{"forbidden", messenger.ErrForbidden, 403, "WARN"},
		{"too large", messenger.ErrTooLarge, 413, "WARN"},
		{"malformed", messenger.ErrMalformed, 200, "ERROR"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			r := receiver{reply: messenger.Reply{Status: tt.status, ContentType: "text/plain", Body: "x"}, err: fmt.Errorf("receive: %w", tt.err)}
			w := call(conversation.Webhook(r, b.service(nil)))
			if w.Code != tt.status || w.Body.String() != "x" || w.Header().Get("Content-Type") != "text/plain" {
				t.Errorf("got %d %q", w.Code, w.Body)
			}
			if log := b.log.String(); !strings.Contains(log, `"level":"`+tt.level+`"`) || strings.Count(log, "\n") != 1 {
				t.Errorf("log: %s", log)
			}
			if b.records.visits != 0 {
				t.Error("something was stored")
			}
		})
	}
}

func TestWebhook_AnswersThenReplies(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ok := messenger.Reply{Status: 200, ContentType: "text/plain", Body: "ok"}
	w := httptest.NewRecorder()
	flushed := false
	b.sender.before = func(messenger.Outgoing) { flushed = w.Flushed }
	ev := b.message("/menu")
	h := conversation.Webhook(receiver{events: []messenger.Event{ev}, reply: ok}, b.service(nil))
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/vk", strings.NewReader("{}")))
	if w.Code != 200 || w.Body.String() != "ok" {
		t.Errorf("got %d %q", w.Code, w.Body)
	}
	if !flushed {
		t.Error("the reply was sent before the answer")
	}
	b.wantTexts("menu")
	var line map[string]any
	if err := json.Unmarshal(b.log.Bytes(), &line); err != nil {
		t.Fatalf("want one line: %v in %s", err, b.log)
	}
	for key, want := range map[string]any{"correlation_id": ev.Key, "outcome": "handled", "kind": "message", "messenger": "telegram", "sent": 1.0} {
		if line[key] != want {
			t.Errorf("log: %s: got %v, want %v", key, line[key], want)
		}
	}
	if _, ok := line["duration_ms"]; !ok {
		t.Error("log: no duration")
	}
}

func TestWebhook_StoreAway(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.service(nil)
	b.records.set(errors.New("away"))
	ok := messenger.Reply{Status: 200, Body: "ok"}
	ev := b.message("/menu")
	w := call(conversation.Webhook(receiver{events: []messenger.Event{ev}, reply: ok}, s))
	if w.Code != 503 || w.Header().Get("Retry-After") != "5" {
		t.Errorf("got %d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
	}
	if log := b.log.String(); !strings.Contains(log, `"outcome":"unavailable"`) || !strings.Contains(log, ev.Key) {
		t.Errorf("log: %s", log)
	}
	vk := ev
	vk.Address.Messenger = messenger.VK // reads a date
	w = call(conversation.Webhook(receiver{events: []messenger.Event{vk}, reply: ok}, s))
	at, err := http.ParseTime(w.Header().Get("Retry-After"))
	if err != nil || at.Sub(b.clock()) < 4*time.Second {
		t.Errorf("Retry-After: got %q", w.Header().Get("Retry-After"))
	}
	b.records.set(nil)
	if w := call(conversation.Webhook(receiver{events: []messenger.Event{ev}, reply: ok}, s)); w.Code != 200 {
		t.Errorf("after its return: got %d", w.Code)
	}
	b.wantTexts("menu")
}

func TestWebhook_NoEvents(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w := call(conversation.Webhook(receiver{reply: messenger.Reply{Body: "confirmation-code"}}, b.service(nil)))
	if w.Code != 200 || w.Body.String() != "confirmation-code" {
		t.Errorf("got %d %q", w.Code, w.Body)
	}
}
