package messengertest

import (
	"strconv"
	"strings"

	"supportbot/shared/messenger"
)

func receiveScenarios() []scenario {
	return []scenario{
		{name: "a text", run: receivesText},
		{name: "a long text", run: receivesLongText},
		{name: "messages come in order", run: receivesInOrder},
		{name: "what was refused comes again", run: receivesAgain},
		{name: "the start button", run: func(b *bench) { receivesStart(b, "") }},
		{name: "a deep link", run: func(b *bench) { receivesStart(b, "canary-1_2") }},
		{name: "a command", run: receivesCommand},
		{name: "no commands", run: receivesNoCommand},
		{name: "an edit", run: receivesEdit},
		{name: "blocked and unblocked", run: receivesBlock},
		{name: "a group", run: receivesGroup},
	}
}

// Nasty is text that parsers stumble over.
const nasty = "canary <&_*[`~> 😀👩‍👩‍👧‍👦 \\n \"'{}%s</b>&amp;"

// from checks who an event is of.
func (b *bench) from(e messenger.Event, c Customer) {
	b.t.Helper()
	if e.Address.Chat != c.Chat() || e.User.ID != c.User() {
		b.t.Errorf("got chat %s and user %s, want %s and %s", e.Address.Chat, e.User.ID, c.Chat(), c.User())
	}
	if id, err := strconv.ParseInt(e.User.ID, 10, 64); err != nil || id <= 1<<40 {
		b.t.Errorf("got user id %s, want one above 2^40", e.User.ID)
	}
	if e.User.Name != "" && e.User.Name != c.Name() {
		b.t.Errorf("got name %q, want %q", e.User.Name, c.Name())
	}
}

func receivesText(b *bench) {
	in, c := b.connect(), b.Customer()
	id := c.Write(nasty)
	e := in.next(messenger.EventMessage)
	b.from(e, c)
	if e.Text != nasty || e.Markdown != "" || e.MessageID != id || e.Command != "" {
		b.t.Errorf("got %+v, want message %s with the text and nothing else", e, id)
	}
	address, err := messenger.ParseAddress(e.Address.String())
	if err != nil || address != e.Address {
		b.t.Errorf("address %s is read as %+v, %v", e.Address, address, err)
	}
}

func receivesLongText(b *bench) {
	in, c := b.connect(), b.Customer()
	long := strings.Repeat("<&_*[😀 ", 4096/8)
	long = strings.TrimSpace(long)
	c.Write(long)
	if got := in.next(messenger.EventMessage).Text; got != long {
		b.t.Errorf("got %d bytes, want all %d", len(got), len(long))
	}
}

func receivesInOrder(b *bench) {
	in, c := b.connect(), b.Customer()
	var last messenger.Event
	for i := range 5 {
		id := c.Write("canary " + strconv.Itoa(i))
		e := in.next(messenger.EventMessage)
		if e.MessageID != id || e.Sequence <= last.Sequence || e.Key == last.Key || e.Time.Before(last.Time) {
			b.t.Errorf("got %+v behind %+v, want a later one", e, last)
		}
		last = e
	}
}

// receivesAgain: while the platform cannot store, it answers 503.
func receivesAgain(b *bench) {
	in, c := b.connect(), b.Customer()
	c.Write("canary stored")
	in.next(messenger.EventMessage)
	in.away.Store(2)
	c.Write("canary refused")
	if e := in.next(messenger.EventMessage); e.Text != "canary refused" || in.away.Load() > 0 {
		b.t.Errorf("got %+v with %d refusals to come, want what was refused", e, in.away.Load())
	}
}

func receivesStart(b *bench, payload string) {
	in, c := b.connect(), b.Customer()
	c.Start(payload)
	e := in.next(messenger.EventMessage)
	b.from(e, c)
	if e.Command != "start" || e.Argument != payload {
		b.t.Errorf("got command %q with %q, want start with %q", e.Command, e.Argument, payload)
	}
}

func receivesCommand(b *bench) {
	in, c := b.connect(), b.Customer()
	c.Write("/Cancel  it canary ")
	if e := in.next(messenger.EventMessage); e.Command != "cancel" || e.Argument != "it canary" {
		b.t.Errorf("got command %q with %q, want cancel with %q", e.Command, e.Argument, "it canary")
	}
}

func receivesNoCommand(b *bench) {
	in, c := b.connect(), b.Customer()
	for _, words := range []string{"/usr/bin canary", "canary /help", "/", "/ help canary", "//help"} {
		c.Write(words)
		if e := in.next(messenger.EventMessage); e.Command != "" || e.Text != words {
			b.t.Errorf("%q: got command %q and text %q, want the text alone", words, e.Command, e.Text)
		}
	}
}

func receivesEdit(b *bench) {
	in, c := b.connect(), b.Customer()
	id := c.Write("canary before")
	first := in.next(messenger.EventMessage)
	keys := map[string]bool{first.Key: true}
	for _, words := range []string{"canary after", "canary after all"} {
		c.Edit(id, words)
		e := in.next(messenger.EventEdit)
		b.from(e, c)
		if e.Text != words || e.MessageID != id || keys[e.Key] {
			b.t.Errorf("got %+v, want message %s with the new text and a new key", e, id)
		}
		keys[e.Key] = true
	}
}

func receivesBlock(b *bench) {
	in, c := b.connect(), b.Customer()
	c.Block()
	b.from(in.next(messenger.EventBlocked), c)
	c.Unblock()
	b.from(in.next(messenger.EventUnblocked), c)
}

// receivesGroup: who spoke and where, but nothing of what was said.
func receivesGroup(b *bench) {
	in, c := b.connect(), b.Customer()
	c.InGroup("canary")
	e := in.next(messenger.EventGroup)
	if e.User.ID != c.User() || e.Address.Chat == c.Chat() || !e.Empty() || e.Command != "" {
		b.t.Errorf("got %+v, want an empty event of %s in another chat", e, c.User())
	}
}
