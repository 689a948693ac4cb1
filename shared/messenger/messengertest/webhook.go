package messengertest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"supportbot/shared/messenger"
)

func webhookScenarios() []scenario {
	return []scenario{
		{name: "both secrets are right", run: bothSecrets},
		{name: "a wrong secret", run: func(b *bench) { forged(b, Wrong) }},
		{name: "no secret", run: func(b *bench) { forged(b, None) }},
		{name: "no secret is configured", run: unsecured},
		{name: "only POST", run: onlyPost},
		{name: "too large", run: tooLarge},
		{name: "malformed", run: malformed},
		{name: "cut anywhere", run: cutAnywhere},
		{name: "unknown", run: unknown},
		{name: "a repetition has the same key", run: repetition},
		{name: "many at once", run: manyAtOnce},
	}
}

func bothSecrets(b *bench) {
	c := b.Customer()
	for _, secret := range []Secret{Right, Second} {
		events, reply, err := b.bot.Receive(b.Call(b.Message(c, "canary", secret), secret))
		if err != nil || reply.Status != http.StatusOK || len(events) != 1 || events[0].Text != "canary" {
			b.t.Errorf("secret %d: got %+v, %+v, %v, want the message", secret, events, reply, err)
		}
	}
}

func forged(b *bench, secret Secret) {
	events, reply, err := b.bot.Receive(b.Call(b.Message(b.Customer(), "canary", secret), secret))
	b.notReceived(events, err, messenger.ErrForbidden)
	if reply.Status != http.StatusForbidden && reply.Status != http.StatusUnauthorized {
		b.t.Errorf("got status %d, want 401 or 403", reply.Status)
	}
}

// notReceived checks that a call gave an error and nothing else.
func (b *bench) notReceived(events []messenger.Event, err, want error) {
	b.t.Helper()
	if len(events) != 0 || !errors.Is(err, want) {
		b.t.Errorf("got %d events, %v, want none and %v", len(events), err, want)
	}
	if err != nil {
		b.clean("error", err.Error())
	}
}

// unsecured: an adapter that knows no secret must not let everybody in.
func unsecured(b *bench) {
	bot, err := b.Unsecured()
	if err != nil {
		b.clean("error", err.Error())
		return
	}
	for _, secret := range []Secret{Right, Second, Wrong, None} {
		events, _, err := bot.Receive(b.Call(b.Message(b.Customer(), "canary", secret), secret))
		b.notReceived(events, err, messenger.ErrForbidden)
	}
}

func onlyPost(b *bench) {
	r := b.Call(b.Message(b.Customer(), "canary", Right), Right)
	r.Method = http.MethodGet
	events, reply, err := b.bot.Receive(r)
	if len(events) != 0 || err == nil || reply.Status != http.StatusMethodNotAllowed {
		b.t.Errorf("got %d events, status %d, %v, want 405", len(events), reply.Status, err)
	}
}

func tooLarge(b *bench) {
	body := b.Message(b.Customer(), strings.Repeat("canary", 1<<18), Right)
	events, reply, err := b.bot.Receive(b.Call(body, Right))
	b.notReceived(events, err, messenger.ErrTooLarge)
	if reply.Status != http.StatusRequestEntityTooLarge {
		b.t.Errorf("got status %d, want 413", reply.Status)
	}
}

// malformed: no repetition would mend it, so the messenger must not repeat it.
func malformed(b *bench) {
	body := b.Message(b.Customer(), "canary", Right)
	for _, cut := range [][]byte{nil, body[:len(body)/2], []byte("canary"), append([]byte("\xef\xbb\xbf"), body...)} {
		events, reply, err := b.bot.Receive(b.Call(cut, Right))
		b.notReceived(events, err, messenger.ErrMalformed)
		if reply.Status != http.StatusOK {
			b.t.Errorf("%q: got status %d, want 200", cut, reply.Status)
		}
	}
}

// cutAnywhere: the beginning of a body is no body, and a hole in one does not
// stop the process, whatever becomes of it.
func cutAnywhere(b *bench) {
	body := b.Message(b.Customer(), "canary", Right)
	for n := range body {
		events, _, err := b.bot.Receive(b.Call(body[:n], Right))
		b.notReceived(events, err, messenger.ErrMalformed)
		_, _, _ = b.bot.Receive(b.Call(slices.Concat(body[:n], body[n+1:]), Right))
	}
}

// unknown: JSON that means nothing is refused or accepted, and gives nothing.
func unknown(b *bench) {
	for _, body := range []string{`{}`, `[]`, `null`, `"canary"`, `1e400`, `{"canary":{"canary":[1]}}`, strings.Repeat("[", 100_000)} {
		events, reply, err := b.bot.Receive(b.Call([]byte(body), Right))
		if len(events) != 0 || reply.Status < 200 || reply.Status >= 500 {
			b.t.Errorf("%.50s: got %d events, status %d", body, len(events), reply.Status)
		}
		if err != nil {
			b.clean("error", err.Error())
		}
	}
}

func repetition(b *bench) {
	c := b.Customer()
	first, second := b.Message(c, "canary", Right), b.Message(c, "canary", Right)
	var keys []string
	for _, body := range [][]byte{first, first, second} {
		events, _, err := b.bot.Receive(b.Call(body, Right))
		b.must(err)
		keys = append(keys, events[0].Key)
	}
	if keys[0] != keys[1] || keys[0] == keys[2] {
		b.t.Errorf("got keys %q, want the first two alike and the third another", keys)
	}
}

func manyAtOnce(b *bench) {
	var group sync.WaitGroup
	for i := range 20 {
		c := b.Customer()
		words := fmt.Sprint("canary ", i)
		body := b.Message(c, words, Right)
		group.Add(1)
		go func() {
			defer group.Done()
			events, _, err := b.bot.Receive(b.Call(body, Right))
			if err != nil || len(events) != 1 || events[0].Text != words || events[0].User.ID != c.User() {
				b.t.Errorf("got %+v, %v, want the message of %s", events, err, c.User())
			}
		}()
	}
	group.Wait()
}
