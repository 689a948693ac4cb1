package telegram_test

import (
	"context"
	"net/http"
	"testing"

	"supportbot/shared/env"
	"supportbot/shared/messenger/messengertest"
	"supportbot/shared/messenger/telegram"
)

// secondCall is a transport whose second call ends the poll.
type secondCall struct {
	http.RoundTripper
	calls int
	end   func()
}

// RoundTrip implements http.RoundTripper.
func (s *secondCall) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.calls++; s.calls == 2 {
		s.end()
	}
	return s.RoundTripper.RoundTrip(r)
}

// FuzzPoll: whatever Telegram answers to a poll, each update is handed on to the handler,
// which can read it or not, and the poll goes on or ends with an error of the port.
func FuzzPoll(f *testing.F) {
	for _, answer := range answers {
		f.Add([]byte(answer))
	}
	for _, answer := range []string{
		`{"ok":true,"result":[{"update_id":7,"message":{"message_id":1,"date":1,"chat":{"id":5,"type":"private"},"from":{"id":5,"first_name":"canary"},"text":"canary"}}]}`,
		`{"ok":true,"result":[null,1,"canary",[],{}]}`, `{"ok":true,"result":[{"update_id":9223372036854775807},{"update_id":-1},{"update_id":"7"}]}`, `{"ok":true,"result":{}}`,
	} {
		f.Add([]byte(answer))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		ctx, end := context.WithCancel(context.Background())
		defer end()
		said := &messengertest.Answers{Status: http.StatusOK, Header: http.Header{}, Bodies: [][]byte{answer}}
		bot, err := telegram.New(telegram.Config{
			Token: env.NewSecret("77:secret"), Secrets: []env.Secret{env.NewSecret("one")}, Client: &http.Client{Transport: &secondCall{RoundTripper: said, end: end}},
		})
		if err != nil {
			t.Fatal(err)
		}
		err = bot.Poll(ctx, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, reply, err := bot.Receive(r); err != nil && reply.Status != http.StatusOK {
				t.Errorf("an update of a poll is answered %d: %v", reply.Status, err)
			}
			w.WriteHeader(http.StatusOK)
		}))
		if ctx.Err() == nil {
			messengertest.Known(t, "poll", err, messengertest.Harmless()...)
		}
	})
}
