package vk_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"supportbot/shared/env"
	"supportbot/shared/messenger/messengertest"
	"supportbot/shared/messenger/vk"
)

// lastCall is a transport whose calls end the poll: the one with that number, and all after it.
type lastCall struct {
	http.RoundTripper
	number, calls int
	end           func()
}

// RoundTrip implements http.RoundTripper.
func (l *lastCall) RoundTrip(r *http.Request) (*http.Response, error) {
	if l.calls++; l.calls >= l.number {
		l.end()
	}
	return l.RoundTripper.RoundTrip(r)
}

// FuzzPoll: whatever VK answers to a poll, each event in it is handed on as a call with the
// secret, and nothing else is.
func FuzzPoll(f *testing.F) {
	for _, answer := range []string{
		`{"ts":"2","updates":[{"type":"message_new","group_id":5,"event_id":"1","object":{}}]}`, `{"ts":2,"updates":[null]}`, `{"updates":[1,"a",[],{}]}`,
		`{"failed":1,"ts":7}`, `{"failed":2}`, `{"failed":3}`, `{"failed":-1}`, `{"updates":{}}`, `{"ts":{}}`, `{"updates":[{"secret":"other","type":1}]}`,
		``, `null`, `[]`, `<html>canary</html>`, "\xff", `{"updates":[{"a":`,
	} {
		f.Add([]byte(answer))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		ctx, end := context.WithCancel(context.Background())
		defer end()
		answers := &messengertest.Answers{Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}}, Bodies: [][]byte{
			[]byte(`{"response":1}`), []byte(`{"response":{"server":"https://lp.example/","key":"k","ts":"1"}}`), answer,
		}}
		bot, err := vk.New(vk.Config{
			Token: env.NewSecret(token), GroupID: "5", Secrets: []env.Secret{env.NewSecret("one")}, Confirmation: "abc",
			Client: &http.Client{Transport: &lastCall{RoundTripper: answers, number: len(answers.Bodies), end: end}},
		})
		if err != nil {
			t.Fatal(err)
		}
		handed := 0
		err = bot.Poll(ctx, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var event struct{ Secret string }
			if err := json.NewDecoder(r.Body).Decode(&event); err != nil || event.Secret != "one" {
				t.Errorf("handed on is %+v, %v", event, err)
			}
			handed++
			_, _ = io.WriteString(w, "ok")
		}))
		if ctx.Err() == nil {
			t.Fatalf("the poll ended by itself: %v", err)
		}
		var said struct{ Updates []map[string]json.RawMessage }
		if json.Unmarshal(answer, &said) == nil && handed > len(said.Updates) {
			t.Errorf("%d events of %d were handed on", handed, len(said.Updates))
		}
	})
}
