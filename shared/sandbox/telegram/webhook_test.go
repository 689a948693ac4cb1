package telegram_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"supportbot/shared/sandbox/telegram"
)

// The answer of a webhook may name one method; nobody hears of its result.
func TestWebhook_MethodInReply(t *testing.T) {
	t.Parallel()
	b := setup(t)
	h := b.connected()
	c := b.started()
	reply := func(contentType, body string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", contentType)
			_, _ = io.WriteString(w, body)
		}
	}
	h.answer(
		reply("application/json", `{"method":"sendMessage","chat_id":`+id(c)+`,"text":"in JSON"}`),
		reply("application/x-www-form-urlencoded", "method=sendMessage&chat_id="+id(c)+"&text=in+a+form"),
		reply("application/json", `{"method":"deleteWebhook"}`),
		reply("text/plain", "ok"),
	)
	for range 4 {
		c.Write("x")
	}
	b.empty()
	if got := seen(b, c); !strings.Contains(got, "in JSON") || !strings.Contains(got, "in a form") {
		t.Errorf("got %s", got)
	}
	var info struct{ URL string }
	if b.result("getWebhookInfo", nil, &info); info.URL == "" {
		t.Error("a webhook's answer has deleted the webhook")
	}
}

func TestWebhook_GoneForADay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	h := b.connected()
	for range 4 {
		h.answer(status(http.StatusGone))
	}
	b.started().Write("x")
	b.calledTimes(2)
	b.clock.move(22 * time.Hour)
	b.Kick()
	b.calledTimes(3)
	var info struct{ URL string }
	if b.result("getWebhookInfo", nil, &info); info.URL == "" {
		t.Fatal("the webhook was deleted after 22 h")
	}
	b.clock.move(time.Hour)
	b.Retry()
	b.calledTimes(4)
	b.polls()
}

// polls waits until getUpdates is allowed.
func (b *bundle) polls() {
	b.t.Helper()
	for b.ctx.Err() == nil {
		if b.call("getUpdates", nil).OK {
			return
		}
	}
	b.t.Fatal("the webhook is still there")
}

func TestWebhook_Settings(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.started()
	h, address := b.listen()
	set := func(params fields) answer {
		b.clock.move(time.Second)
		params["url"] = address
		return b.call("setWebhook", params)
	}
	c.Write("dropped")
	if a := set(fields{"drop_pending_updates": true, "allowed_updates": []string{"edited_message"}, "secret_token": "a-b_C9", "max_connections": 7}); !a.OK {
		t.Fatalf("got %+v", a)
	}
	if a := b.call("setWebhook", fields{"url": address}); a.Code != 429 || a.Parameters.RetryAfter != 1 {
		t.Errorf("got %+v for two calls within a second", a)
	}
	m := c.Write("not wanted")
	if err := c.Edit(m, telegram.Content{Text: "wanted"}); err != nil {
		t.Fatal(err)
	}
	if got := b.take(h); got.text() != "edit wanted" || got.secret != "a-b_C9" {
		t.Errorf("got %q with secret %q", got.text(), got.secret)
	}
	var info struct {
		Connections int      `json:"max_connections"`
		Allowed     []string `json:"allowed_updates"`
	}
	b.result("getWebhookInfo", nil, &info)
	if info.Connections != 7 || !slices.Equal(info.Allowed, []string{"edited_message"}) {
		t.Errorf("got %+v", info)
	}
	if a := b.call("getUpdates", nil); a.Code != 409 {
		t.Errorf("got %+v, want 409 while a webhook is set", a)
	}
	// Without the list the old one stays; an empty one means the usual kinds.
	set(fields{})
	c.Write("still not wanted")
	set(fields{"allowed_updates": []string{}})
	c.Write("wanted again")
	if got := b.take(h); got.text() != "wanted again" || got.secret != "" {
		t.Errorf("got %q with secret %q", got.text(), got.secret)
	}
	b.result("deleteWebhook", nil, new(bool))
	c.Write("for getUpdates")
	if got := texts(b.updates(nil)); !slices.Equal(got, []string{"for getUpdates"}) {
		t.Errorf("got %v", got)
	}
}

// While a webhook fails for more than ten seconds it gets one call at a time.
func TestWebhook_OneConnectionWhileFailing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var inside atomic.Int32
	var crowded atomic.Bool
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if inside.Add(1) > 1 {
			crowded.Store(true)
		}
		<-release
		inside.Add(-1)
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(server.Close)
	b.Connect(server.URL, "")
	b.clock.move(11 * time.Second)
	b.started().Write("x")
	release <- struct{}{} // fails
	b.calledTimes(1)
	for range 5 {
		b.started().Write("x")
	}
	for n := range 11 { // each update twice
		release <- struct{}{}
		b.calledTimes(n + 2)
	}
	if crowded.Load() {
		t.Error("got several calls at the same time, want one")
	}
}

// A new webhook does not wait for what the old one was waiting for.
func TestWebhook_NewOneStartsAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	old := b.connected()
	old.answer(status(500), status(500))
	b.started().Write("x")
	b.calledTimes(2)
	h, address := b.listen()
	b.Connect(address, "")
	if got := b.take(h).text(); got != "x" {
		t.Errorf("got %q", got)
	}
}
