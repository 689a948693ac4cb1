package messengertest

import "supportbot/shared/messenger"

func pressScenarios() []scenario {
	return []scenario{
		{name: "answered with a text", run: func(b *bench) { answersPress(b, "canary <&> 😀") }},
		{name: "answered without", run: func(b *bench) { answersPress(b, "") }},
		{name: "pressed twice", run: pressesTwice},
		{name: "too late", needs: func(f Features) bool { return f.StalePress }, run: answersLate},
		{name: "nothing to answer", run: answersNothing},
	}
}

// press sends a message with a button and presses it.
func (b *bench) press(in *inbox, c Customer) (messenger.Press, <-chan string) {
	b.t.Helper()
	o := text(c, "canary?")
	o.Keyboard = messenger.Keyboard{{{Label: "Yes", Data: "yes:1"}, {Label: "No", Data: "no:1"}}}
	sent := b.send(c, o)
	answer := c.Press(sent.ID, "no:1")
	e := in.next(messenger.EventPress)
	b.from(e, c)
	if e.Press == nil || e.Press.Data != "no:1" || e.Press.MessageID != sent.ID || e.Press.Chat != c.Chat() || e.Press.User != c.User() || !e.Empty() {
		b.t.Fatalf("got %+v with %+v, want no:1 below message %s", e, e.Press, sent.ID)
	}
	return *e.Press, answer
}

func answersPress(b *bench, words string) {
	in, c := b.connect(), b.Customer()
	press, answer := b.press(in, c)
	b.must(b.bot.Answer(b.ctx, press, words))
	select {
	case got := <-answer:
		if got != words {
			b.t.Errorf("got %q, want %q", got, words)
		}
	case <-b.ctx.Done():
		b.t.Error("the button still spins")
	}
}

// pressesTwice: each press is an event of its own; to answer one twice is no error.
func pressesTwice(b *bench) {
	in, c := b.connect(), b.Customer()
	first, _ := b.press(in, c)
	second, _ := b.press(in, c)
	if first.ID == second.ID {
		b.t.Errorf("both presses have the id %q", first.ID)
	}
	for _, p := range []messenger.Press{second, first, first} {
		b.must(b.bot.Answer(b.ctx, p, "canary"))
	}
}

func answersLate(b *bench) {
	c := b.Customer()
	o := text(c, "canary?")
	o.Keyboard = messenger.Keyboard{{{Label: "Yes", Data: "yes:1"}}}
	b.must(b.bot.Answer(b.ctx, c.PressLate(b.send(c, o).ID, "yes:1"), "canary"))
}

func answersNothing(b *bench) {
	c := b.Customer()
	b.must(b.Unreachable().Answer(b.ctx, messenger.Press{Chat: c.Chat(), User: c.User(), Data: "yes:1"}, "canary"))
}
