package messengertest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"supportbot/shared/messenger"
)

// Run runs the suite. setup gives a new harness each time, for the given test
// only; what it starts ends with the test.
//
// Whatever a customer writes in the suite, is called or sends, holds the word
// "canary"; so do the secrets, at best. None of it may be in an error or a log.
func Run(t *testing.T, setup func(t *testing.T) Harness) {
	t.Helper()
	for _, group := range []struct {
		name  string
		cases []scenario
	}{
		{"Webhook", webhookScenarios()},
		{"Receive", receiveScenarios()},
		{"Content", contentScenarios()},
		{"Send", sendScenarios()},
		{"File", fileScenarios()},
		{"Edit", editScenarios()},
		{"Press", pressScenarios()},
		{"Refusal", refusalScenarios()},
		{"Fault", faultScenarios()},
	} {
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			for _, s := range group.cases {
				t.Run(s.name, func(t *testing.T) {
					t.Parallel()
					b := newBench(t, setup(t))
					if s.needs != nil && !s.needs(b.Features()) {
						t.Skip("does not apply: this messenger has no such thing")
					}
					s.run(b)
				})
			}
		})
	}
}

// scenario is one test of the suite; needs says which messengers it is for, nil
// means all.
type scenario struct {
	name  string
	needs func(Features) bool
	run   func(b *bench)
}

// patience bounds every wait of the suite.
const patience = time.Minute

// bench is a harness inside one test.
type bench struct {
	Harness
	t   *testing.T
	ctx context.Context // ends with the test
	bot messenger.Adapter
}

func newBench(t *testing.T, h Harness) *bench {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	b := &bench{Harness: h, t: t, ctx: ctx, bot: h.Adapter()}
	t.Cleanup(func() { b.clean("log", h.Logged()) })
	return b
}

// clean fails the test if text holds what nobody may see.
func (b *bench) clean(what, text string) {
	b.t.Helper()
	for _, secret := range append(b.Secrets(), "canary", "Canary", "канарейка") {
		if strings.Contains(text, secret) {
			b.t.Errorf("%s holds %q: %s", what, secret, text)
		}
	}
}

// connect makes the fake deliver to the adapter and gives what arrives.
func (b *bench) connect() *inbox {
	in := &inbox{b: b, events: make(chan messenger.Event, 1000)}
	b.Connect(in)
	return in
}

// inbox is the webhook that a function makes of an adapter.
type inbox struct {
	b      *bench
	events chan messenger.Event
	away   atomic.Int32 // calls to answer with 503
}

// ServeHTTP implements http.Handler.
func (in *inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if in.away.Add(-1) >= 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	events, reply, err := in.b.bot.Receive(r)
	if err != nil {
		in.b.t.Errorf("receive: %v", err)
	}
	for _, e := range events {
		in.events <- e
	}
	if reply.ContentType != "" {
		w.Header().Set("Content-Type", reply.ContentType)
	}
	w.WriteHeader(reply.Status)
	_, _ = io.WriteString(w, reply.Body)
}

// next waits for an event of the wanted kind.
func (in *inbox) next(kind messenger.Kind) messenger.Event {
	in.b.t.Helper()
	select {
	case e := <-in.events:
		if e.Kind != kind {
			in.b.t.Fatalf("got an event of kind %q, want %q: %+v", e.Kind, kind, e)
		}
		in.b.wellFormed(e)
		return e
	case <-in.b.ctx.Done():
		in.b.t.Fatalf("no event of kind %q arrived", kind)
	}
	return messenger.Event{}
}

// wellFormed checks what holds for every event.
func (b *bench) wellFormed(e messenger.Event) {
	b.t.Helper()
	if want := string(b.bot.Name()) + ":" + b.bot.Bot() + ":"; !strings.HasPrefix(e.Key, want) || e.Key == want {
		b.t.Errorf("got key %q, want one that begins with %q", e.Key, want)
	}
	if e.Address.Messenger != b.bot.Name() || e.Address.Bot != b.bot.Bot() || e.Address.Chat == "" || e.User.ID == "" {
		b.t.Errorf("got address %q and user %q, want both whole", e.Address, e.User.ID)
	}
	if age := time.Since(e.Time); age < -time.Minute || age > time.Hour {
		b.t.Errorf("got time %s, want about now", e.Time)
	}
	for _, a := range append(e.Attachments, quoted(e)...) {
		if a.Kind == "" || a.Ref == "" || a.Name == "" {
			b.t.Errorf("got a half attachment %+v", a)
		}
	}
}

func quoted(e messenger.Event) (all []messenger.Attachment) {
	for _, q := range e.Quotes {
		all = append(all, q.Attachments...)
	}
	return all
}

// refused checks the kind of an error, and that nothing secret is in it.
func (b *bench) refused(err error, kinds ...messenger.ErrorKind) *messenger.Error {
	b.t.Helper()
	var e *messenger.Error
	if !errors.As(err, &e) {
		b.t.Fatalf("got %v, want an error of kind %v", err, kinds)
	}
	b.clean("error", err.Error())
	for _, kind := range kinds {
		if e.Kind == kind {
			return e
		}
	}
	b.t.Errorf("got %v, want an error of kind %v", err, kinds)
	return e
}

// must fails the test at once if err is one.
func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// text is a message of plain text.
func text(c Customer, words string) messenger.Outgoing {
	return messenger.Outgoing{Chat: c.Chat(), Part: messenger.Part{Text: words}, Key: "canary:" + words}
}

// send sends and gives what the customer sees of it.
func (b *bench) send(c Customer, o messenger.Outgoing) Seen {
	b.t.Helper()
	receipt, err := b.bot.Send(b.ctx, o)
	b.must(err)
	seen := c.Seen()
	if len(seen) == 0 || seen[len(seen)-1].ID != receipt.MessageID {
		b.t.Fatalf("got message %q, but the customer sees %+v", receipt.MessageID, seen)
	}
	return seen[len(seen)-1]
}

// sees checks how many messages the customer has.
func (b *bench) sees(c Customer, want int) {
	b.t.Helper()
	if got := len(c.Seen()); got != want {
		b.t.Errorf("the customer sees %d messages, want %d", got, want)
	}
}
