package vk_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"supportbot/shared/env"
	"supportbot/shared/messenger"
	"supportbot/shared/messenger/messengertest"
	"supportbot/shared/messenger/vk"
)

// answers are what VK may say to a call, and what in its stead.
var answers = []string{
	``, `null`, `{}`, `[]`, `{"response":null}`, `{"response":1}`, `{"response":[]}`, `{"response":[null]}`, `{"response":{}}`,
	`{"response":[{"peer_id":5,"message_id":7,"conversation_message_id":8}]}`,
	`{"response":[{"peer_id":5,"message_id":0,"error":{"code":901,"description":"canary"}}]}`,
	`{"response":[{"peer_id":"5","conversation_message_id":-8},{"peer_id":6,"error":{"code":-1}}]}`,
	`{"response":[{"peer_id":5,"conversation_message_id":9223372036854775808}]}`,
	`{"error":{"error_code":6,"error_msg":"canary"}}`, `{"error":{"error_code":911,"error_msg":"canary"}}`, `{"error":{"error_code":9}}`,
	`{"error":{"error_code":29}}`, `{"error":{"error_code":1e9,"error_msg":7}}`, `{"error":{}}`, `{"error":"canary"}`,
	`{"error":{"error_code":14,"captcha_sid":"1","captcha_img":"canary"}}`, `{"error":{"error_code":17,"redirect_uri":"canary"}}`,
	`{"response":[false],"execute_errors":[{"method":"messages.getHistory","error_code":6,"error_msg":"canary"}]}`,
	`{"response":{"count":1,"items":[{"date":1772625600,"peer_id":5,"from_id":5,"conversation_message_id":8,"text":"canary","attachments":[{"type":"doc","doc":{"id":3,"owner_id":5,"url":"https://x/","title":"a","access_key":"canary"}}]}]}}`,
	`{"response":{"items":[{"last_message":{"date":1772625600,"peer_id":5}},{"last_message":{"date":-1}},{"last_message":null},{}]}}`,
	`{"response":[{"items":[{"date":1772625600,"peer_id":6,"from_id":7,"conversation_message_id":8}]}]}`,
	`{"response":[{"items":[{"date":1772625600,"peer_id":5,"from_id":0,"conversation_message_id":8,"text":"canary"}]}]}`,
	`{"response":[{"id":5,"first_name":"canary","last_name":7,"screen_name":"id5"}]}`,
	`{"response":{"upload_url":"https://x/"}}`, `{"response":{"upload_url":":"}}`, `{"response":{"upload_url":"canary"}}`,
	`{"file":"canary"}`, `{"server":1,"photo":"[]","hash":"canary"}`, `{"server":"x","photo":"canary","hash":7}`, `{"error":"canary"}`,
	`{"response":{"type":"doc","doc":{"id":3,"owner_id":5}}}`, `<html>canary</html>`, "\xff\xfe", `{"response":[[[[`, `{"response":{"items":[{"fwd_messages":[{"fwd_messages":[{}]}]}]}}`,
}

// FuzzAnswer: whatever VK answers, first and then, no call panics, and each gives a
// value or an error of the port. Of what is not visible, none is Uncertain.
func FuzzAnswer(f *testing.F) {
	for i, a := range answers {
		f.Add(200, true, []byte(a), []byte(answers[(i+1)%len(answers)]))
		f.Add(200, true, []byte(`{"response":{"upload_url":"https://x/"}}`), []byte(a))
	}
	f.Add(502, false, []byte(`<html>canary</html>`), []byte(``))
	f.Add(302, false, []byte(``), []byte(``))
	f.Add(413, true, []byte(`{"response":{"upload_url":"https://x/"}}`), []byte(`{}`))
	f.Fuzz(func(t *testing.T, status int, isJSON bool, first, then []byte) {
		if status < 200 || status > 599 {
			status = 200
		}
		a := answering{t: t, status: status, bodies: [][]byte{first, then}, kind: "text/html; canary"}
		if isJSON {
			a.kind = "application/json; charset=utf-8"
		}
		a.visible()
		a.harmless()
		a.history()
	})
}

// answering makes calls that get given answers.
type answering struct {
	t      *testing.T
	status int
	kind   string
	bodies [][]byte
}

func (a answering) bot() *vk.Bot {
	a.t.Helper()
	answers := &messengertest.Answers{Status: a.status, Header: http.Header{"Content-Type": {a.kind}}, Bodies: a.bodies}
	bot, err := vk.New(vk.Config{
		Token: env.NewSecret(token), GroupID: "5", Secrets: []env.Secret{env.NewSecret("one")}, Confirmation: "abc", Client: answers.Client(),
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return bot
}

func (a answering) visible() {
	a.t.Helper()
	ctx := context.Background()
	o := messenger.Outgoing{
		Chat: "5", Part: messenger.Part{Text: "hello"}, Key: "k", Keyboard: messenger.Keyboard{{{Label: "a", Data: "b"}}},
	}
	r, err := a.bot().Send(ctx, o)
	messengertest.Numbered(a.t, "send", r, err)
	for _, name := range []string{"a.txt", "a.png"} {
		withFile := o
		withFile.File = file(name, "", []byte("hello"))
		r, err = a.bot().Send(ctx, withFile)
		messengertest.Numbered(a.t, "send "+name, r, err)
	}
	all, err := a.bot().SendMany(ctx, []string{"5", "6"}, o)
	messengertest.Known(a.t, "send to many", err, messengertest.Visible()...)
	if err == nil && len(all) != 2 {
		a.t.Errorf("%d outcomes for two chats", len(all))
	}
	for _, one := range all {
		messengertest.Numbered(a.t, "one of many", one.Receipt, one.Err)
	}
	messengertest.Known(a.t, "edit", a.bot().Edit(ctx, "7", o), messengertest.Visible()...)
	messengertest.Known(a.t, "answer", a.bot().Answer(ctx, messenger.Press{ID: "1", Chat: "5", User: "5"}, "x"), messengertest.Visible()...)
}

func (a answering) harmless() {
	a.t.Helper()
	ctx := context.Background()
	u, err := a.bot().Profile(ctx, "5")
	messengertest.Known(a.t, "profile", err, messengertest.Harmless()...)
	if err == nil && u.ID != "5" {
		a.t.Errorf("the profile is of %q", u.ID)
	}
	var group map[string]any
	messengertest.Known(a.t, "manage", a.bot().Manage(ctx, "groups.getById", map[string]any{}, &group), messengertest.Harmless()...)
	content, err := a.bot().Open(ctx, messenger.Attachment{Kind: messenger.Document, Ref: "https://x/", Name: "a.txt"})
	messengertest.Known(a.t, "open", err, messengertest.Harmless()...)
	if err == nil {
		_, err = io.Copy(io.Discard, content)
		messengertest.Known(a.t, "read", errors.Join(err, content.Close()), messengertest.Harmless()...)
	}
}

// history reads until somebody stops it: nothing says that VK ends.
func (a answering) history() {
	a.t.Helper()
	ctx, enough := context.Background(), &messenger.Error{Kind: messenger.RateLimited, RetryAfter: time.Second, Err: errors.New("enough")}
	few := func() func(context.Context) error {
		turns := 0
		return func(context.Context) error {
			if turns++; turns > 8 {
				return enough
			}
			return nil
		}
	}
	chats, err := a.bot().Chats(ctx, time.Unix(1, 0), few())
	messengertest.Known(a.t, "chats", err, messengertest.Harmless()...)
	for chat, at := range chats {
		if n, bad := strconv.ParseInt(chat, 10, 64); bad != nil || n <= 0 || at.Before(time.Unix(1, 0)) {
			a.t.Errorf("chat %q at %s", chat, at)
		}
	}
	said, err := a.bot().Said(ctx, []string{"5", "6"}, time.Unix(1, 0), time.Now(), few())
	messengertest.Known(a.t, "history", err, messengertest.Harmless()...)
	for chat, events := range said {
		for _, e := range events {
			a.event(chat, e)
		}
	}
}

func (a answering) event(chat string, e messenger.Event) {
	a.t.Helper()
	if e.Address.Chat != chat || e.User.ID == "" || strings.HasPrefix(e.User.ID, "-") || e.User.ID == "0" || e.Sequence <= 0 || e.Key == "" {
		a.t.Errorf("in chat %s: %+v", chat, e)
	}
	if e.Time.Before(time.Unix(1, 0)) || e.Time.After(time.Now()) {
		a.t.Errorf("in chat %s: said at %s", chat, e.Time)
	}
	for _, f := range e.Attachments {
		if f.Ref == "" || f.Name == "" || f.Kind == "" {
			a.t.Errorf("in chat %s: half an attachment %+v", chat, f)
		}
	}
}
