package telegram_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"testing"

	"supportbot/shared/env"
	"supportbot/shared/messenger"
	"supportbot/shared/messenger/messengertest"
	"supportbot/shared/messenger/telegram"
)

// answers are what Telegram may say to a call, and what in its stead.
var answers = []string{
	``, `null`, `{}`, `[]`, `{"ok":true}`, `{"ok":true,"result":null}`, `{"ok":true,"result":true}`, `{"ok":true,"result":[]}`,
	`{"ok":true,"result":{"message_id":7,"date":1,"chat":{"id":5,"type":"private"},"text":"canary"}}`,
	`{"ok":true,"result":{"message_id":-7}}`, `{"ok":true,"result":{"message_id":"canary"}}`, `{"ok":true,"result":{"message_id":1e400}}`,
	`{"ok":false}`, `{"ok":false,"error_code":429,"description":"canary","parameters":{"retry_after":7}}`,
	`{"ok":false,"error_code":429,"parameters":{"retry_after":99999999999}}`, `{"ok":false,"error_code":429,"parameters":{"retry_after":-7}}`,
	`{"ok":false,"error_code":400,"description":"canary","parameters":{"migrate_to_chat_id":-1001234567890123}}`,
	`{"ok":false,"error_code":400,"description":"Bad Request: can't parse entities: canary"}`,
	`{"ok":false,"error_code":400,"description":"Bad Request: PHOTO_INVALID_DIMENSIONS canary"}`,
	`{"ok":false,"error_code":400,"description":"Bad Request: there is no text in the message to edit"}`,
	`{"ok":false,"error_code":400,"description":"Bad Request: message is not modified: canary"}`,
	`{"ok":false,"error_code":403,"description":"Forbidden: bot was blocked by canary"}`, `{"ok":false,"error_code":401}`, `{"ok":false,"error_code":409}`,
	`{"ok":false,"error_code":500}`, `{"ok":false,"error_code":-1,"description":7}`, `{"ok":false,"error_code":"canary"}`, `{"ok":"canary"}`,
	`{"ok":true,"result":{"file_id":"a","file_size":7,"file_path":"documents/a.txt"}}`, `{"ok":true,"result":{"file_path":"../../%zz\u0000canary"}}`,
	`{"ok":true,"result":{"file_path":"a","file_size":99999999999}}`, `<html>canary</html>`, "\xff\xfe", `{"ok":true,"result":[[[[`,
}

// FuzzAnswer: whatever Telegram answers, first and then, no call panics, and each gives
// a value or an error of the port. Of what is not visible, none is Uncertain.
func FuzzAnswer(f *testing.F) {
	for i, a := range answers {
		for _, status := range []int{200, 400, 429} {
			f.Add(status, "", []byte(a), []byte(answers[(i+1)%len(answers)]))
		}
	}
	f.Add(429, "canary", []byte(`<html>`), []byte(``))
	f.Add(429, "99999999999", []byte(`<html>`), []byte(``))
	f.Add(413, "", []byte(``), []byte(``))
	f.Add(302, "", []byte(``), []byte(``))
	f.Add(502, "7", []byte(`<html>canary</html>`), []byte(`{"ok":true,"result":true}`))
	f.Fuzz(func(t *testing.T, status int, wait string, first, then []byte) {
		if status < 200 || status > 599 {
			status = 200
		}
		a := replying{t: t, status: status, wait: wait, bodies: [][]byte{first, then}}
		a.visible()
		a.harmless()
	})
}

// replying makes calls that get given answers.
type replying struct {
	t      *testing.T
	status int
	wait   string // Retry-After
	bodies [][]byte
}

func (a replying) bot() *telegram.Bot {
	a.t.Helper()
	answers := &messengertest.Answers{Status: a.status, Header: http.Header{"Retry-After": {a.wait}}, Bodies: a.bodies}
	bot, err := telegram.New(telegram.Config{Token: env.NewSecret("77:secret"), Client: answers.Client()})
	if err != nil {
		a.t.Fatal(err)
	}
	return bot
}

func (a replying) visible() {
	a.t.Helper()
	ctx := context.Background()
	o := messenger.Outgoing{
		Chat: "5", Part: messenger.Part{Text: "<b>hello</b>", HTML: true, Plain: "hello"}, Keyboard: messenger.Keyboard{{{Label: "a", Data: "b"}}},
	}
	r, err := a.bot().Send(ctx, o)
	messengertest.Numbered(a.t, "send", r, err)
	for _, name := range []string{"a.txt", "a.png"} {
		withFile := o
		withFile.File = &messenger.File{Name: name, Size: 5, Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader([]byte("hello"))), nil
		}}
		r, err = a.bot().Send(ctx, withFile)
		messengertest.Numbered(a.t, "send "+name, r, err)
	}
	messengertest.Known(a.t, "edit", a.bot().Edit(ctx, "7", o), messengertest.Visible()...)
	messengertest.Known(a.t, "answer", a.bot().Answer(ctx, messenger.Press{ID: "1", Chat: "5", User: "5"}, "x"), messengertest.Visible()...)
}

func (a replying) harmless() {
	a.t.Helper()
	ctx := context.Background()
	messengertest.Known(a.t, "probe", a.bot().Probe(ctx, "5"), messengertest.Harmless()...)
	content, err := a.bot().Open(ctx, messenger.Attachment{Kind: messenger.Document, Ref: "id", Name: "a.txt"})
	messengertest.Known(a.t, "open", err, messengertest.Harmless()...)
	if err == nil {
		_, err = io.Copy(io.Discard, content)
		messengertest.Known(a.t, "read", errors.Join(err, content.Close()), messengertest.Harmless()...)
	}
	// What it says of a bot's own settings is shown.
	var e *messenger.Error
	if err := a.bot().Manage(ctx, "getWebhookInfo", nil, &map[string]any{}); err != nil && (!errors.As(err, &e) || e.Kind == messenger.Uncertain) {
		a.t.Errorf("manage: got %v", err)
	}
}
