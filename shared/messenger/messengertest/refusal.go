package messengertest

import (
	"time"

	"supportbot/shared/messenger"
)

func refusalScenarios() []scenario {
	return []scenario{
		{name: "too many calls", run: limited},
		{name: "blocked", run: blocked},
		{name: "deactivated", needs: func(f Features) bool { return f.Deactivation }, run: deactivated},
		{name: "nobody", run: nobody},
		{name: "moved", needs: func(f Features) bool { return f.Moves }, run: moved},
	}
}

// limited: nothing happened, and the next try goes through.
func limited(b *bench) {
	c := b.Customer()
	id := b.send(c, text(c, "canary first")).ID
	f, _ := file("canary.txt", "text/plain", []byte("canary"))
	const wait = 7 * time.Second
	for op, try := range map[Op]func() error{
		Send: func() error { return b.trySend(text(c, "canary second")) },
		SendFile: func() error {
			return b.trySend(messenger.Outgoing{Chat: c.Chat(), File: f, Key: "k"})
		},
		Edit: func() error { return b.bot.Edit(b.ctx, id, text(c, "canary third")) },
	} {
		before := c.Seen()
		b.Limit(op, wait)
		e := b.refused(try(), messenger.RateLimited)
		if e.RetryAfter <= 0 || b.Features().NamesWait && e.RetryAfter != wait {
			b.t.Errorf("%s: got wait %s, want %s", op, e.RetryAfter, wait)
		}
		if after := c.Seen(); len(after) != len(before) || after[0].Text != before[0].Text {
			b.t.Errorf("%s: the customer sees %+v, want what was there before", op, after)
		}
		b.must(try())
	}
}

func (b *bench) trySend(o messenger.Outgoing) error {
	_, err := b.bot.Send(b.ctx, o)
	return err
}

func blocked(b *bench) {
	c := b.Customer()
	c.Block()
	f, open := file("canary.txt", "text/plain", []byte("canary"))
	b.refused(b.trySend(text(c, "canary")), messenger.Blocked)
	b.refused(b.trySend(messenger.Outgoing{Chat: c.Chat(), File: f, Key: "k"}), messenger.Blocked)
	if n := open.Load(); n != 0 {
		b.t.Errorf("%d files are still open", n)
	}
	b.sees(c, 0)
	c.Unblock()
	b.send(c, text(c, "canary again"))
}

func deactivated(b *bench) {
	c := b.Customer()
	c.Deactivate()
	b.refused(b.trySend(text(c, "canary")), messenger.Blocked)
}

func nobody(b *bench) {
	o := messenger.Outgoing{Chat: b.Nobody(), Part: messenger.Part{Text: "canary"}, Key: "k"}
	b.refused(b.trySend(o), messenger.Blocked)
}

func moved(b *bench) {
	from, to := b.Moved()
	o := messenger.Outgoing{Chat: from, Part: messenger.Part{Text: "canary"}, Key: "k"}
	if e := b.refused(b.trySend(o), messenger.Moved); e.NewChat != to {
		b.t.Errorf("got new chat %q, want %q", e.NewChat, to)
	}
	o.Chat = to
	b.must(b.trySend(o))
}
