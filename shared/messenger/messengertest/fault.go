package messengertest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"supportbot/shared/messenger"
	"supportbot/shared/sandbox/fault"
)

// misbehaviours are the ways for a call to end without an answer: whether a visible
// call took effect is Uncertain for all of them.
var misbehaviours = []struct {
	kind   fault.Kind
	effect int // messages that the customer sees
}{
	{fault.HangBefore, 0}, {fault.HangAfter, 1}, {fault.CloseBefore, 0}, {fault.CloseAfter, 1},
	{fault.HTMLBefore, 0}, {fault.HTMLAfter, 1},
}

func faultScenarios() []scenario {
	scenarios := []scenario{
		{name: "refused connection", run: unreachable},
		{name: "over before it began", run: overBefore},
		{name: "internal error", run: internalError},
		{name: "a slow answer", run: slowAnswer},
		{name: "while a file is uploaded", run: uploadFault},
	}
	for _, m := range misbehaviours {
		scenarios = append(scenarios,
			scenario{name: "send " + string(m.kind), run: func(b *bench) { sendFault(b, m.kind, m.effect) }},
			scenario{name: "send file " + string(m.kind), run: func(b *bench) { sendFileFault(b, m.kind, m.effect) }},
			scenario{name: "edit " + string(m.kind), run: func(b *bench) { editFault(b, m.kind) }},
			scenario{name: "answer " + string(m.kind), run: func(b *bench) { answerFault(b, m.kind) }},
			scenario{name: "open " + string(m.kind), run: func(b *bench) { openFault(b, m.kind) }},
		)
	}
	return scenarios
}

// broken runs a call under a fault. One that hangs is given up as soon as the
// server has it.
func (b *bench) broken(op Op, kind fault.Kind, call func(context.Context) error) error {
	b.t.Helper()
	id := b.Faults().Add(fault.Fault{Method: b.Method(op), Kind: kind, Status: http.StatusInternalServerError, Times: 1})
	met := b.Faults().Met(id)
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	if kind == fault.HangBefore || kind == fault.HangAfter {
		go func() {
			select {
			case <-met:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	err := call(ctx)
	select {
	case <-met:
	default:
		b.t.Errorf("the call did not meet the fault at %s", b.Method(op))
	}
	return err
}

// becomes waits until the customer sees so many messages: a call that was given
// up may take effect a moment later.
func (b *bench) becomes(c Customer, want int) {
	b.t.Helper()
	if err := c.Wait(b.ctx, func(seen []Seen) bool { return len(seen) == want }); err != nil {
		b.t.Errorf("the customer sees %d messages, want %d", len(c.Seen()), want)
	}
}

func sendFault(b *bench, kind fault.Kind, effect int) {
	c := b.Customer()
	err := b.broken(Send, kind, func(ctx context.Context) error {
		_, err := b.bot.Send(ctx, text(c, "canary"))
		return err
	})
	b.refused(err, messenger.Uncertain)
	b.becomes(c, effect)
	if b.bot.Limits().Idempotent { // with the same key, trying again does no harm
		b.send(c, text(c, "canary"))
		b.sees(c, 1)
	}
}

func sendFileFault(b *bench, kind fault.Kind, effect int) {
	c := b.Customer()
	f, open := file("canary.txt", "text/plain", []byte("canary"))
	err := b.broken(SendFile, kind, func(ctx context.Context) error {
		_, err := b.bot.Send(ctx, messenger.Outgoing{Chat: c.Chat(), File: f, Key: "k"})
		return err
	})
	b.refused(err, messenger.Uncertain)
	b.becomes(c, effect)
	if n := open.Load(); n != 0 {
		b.t.Errorf("%d files are still open", n)
	}
}

func editFault(b *bench, kind fault.Kind) {
	c := b.Customer()
	id := b.send(c, text(c, "canary")).ID
	err := b.broken(Edit, kind, func(ctx context.Context) error { return b.bot.Edit(ctx, id, text(c, "canary after")) })
	b.refused(err, messenger.Uncertain)
}

func answerFault(b *bench, kind fault.Kind) {
	in, c := b.connect(), b.Customer()
	press, _ := b.press(in, c)
	err := b.broken(Answer, kind, func(ctx context.Context) error { return b.bot.Answer(ctx, press, "canary") })
	b.refused(err, messenger.Uncertain)
}

// openFault: a download changes nothing, so it may always be tried again.
func openFault(b *bench, kind fault.Kind) {
	in, c := b.connect(), b.Customer()
	c.Send(picked(messenger.Document, 1), "")
	a := in.next(messenger.EventMessage).Attachments[0]
	err := b.broken(Open, kind, func(ctx context.Context) error {
		r, err := b.bot.Open(ctx, a)
		if err != nil {
			return err
		}
		defer func() { _ = r.Close() }()
		_, err = io.Copy(io.Discard, r)
		return err
	})
	b.refused(err, messenger.Temporary)
	b.content(a)
}

// uploadFault: where the bytes travel in a call of their own, nobody sees it.
func uploadFault(b *bench) {
	if b.Method(Upload) == b.Method(SendFile) {
		b.t.Skip("does not apply: a file travels with its message")
	}
	c := b.Customer()
	f, open := file("canary.txt", "text/plain", []byte("canary"))
	for _, m := range misbehaviours {
		err := b.broken(Upload, m.kind, func(ctx context.Context) error {
			_, err := b.bot.Send(ctx, messenger.Outgoing{Chat: c.Chat(), File: f, Key: "k"})
			return err
		})
		b.refused(err, messenger.Temporary)
	}
	b.sees(c, 0)
	if n := open.Load(); n != 0 {
		b.t.Errorf("%d files are still open", n)
	}
}

// unreachable: nothing can have happened.
func unreachable(b *bench) {
	c, away := b.Customer(), b.Unreachable()
	f, open := file("canary.txt", "text/plain", []byte("canary"))
	_, err := away.Send(b.ctx, text(c, "canary"))
	b.refused(err, messenger.Temporary)
	_, err = away.Send(b.ctx, messenger.Outgoing{Chat: c.Chat(), File: f, Key: "k"})
	b.refused(err, messenger.Temporary)
	b.refused(away.Edit(b.ctx, "1", text(c, "canary")), messenger.Temporary)
	b.refused(away.Answer(b.ctx, messenger.Press{ID: "1", Chat: c.Chat(), User: c.User()}, ""), messenger.Temporary)
	if n := open.Load(); n != 0 {
		b.t.Errorf("%d files are still open", n)
	}
}

func overBefore(b *bench) {
	c := b.Customer()
	ctx, cancel := context.WithCancel(b.ctx)
	cancel()
	f, open := file("canary.txt", "text/plain", []byte("canary"))
	_, sent := b.bot.Send(ctx, text(c, "canary"))
	_, uploaded := b.bot.Send(ctx, messenger.Outgoing{Chat: c.Chat(), File: f, Key: "k"})
	edited := b.bot.Edit(ctx, "1", text(c, "canary"))
	answered := b.bot.Answer(ctx, messenger.Press{ID: "1", Chat: c.Chat(), User: c.User()}, "")
	for _, err := range []error{sent, uploaded, edited, answered} {
		if b.refused(err, messenger.Temporary); !errors.Is(err, context.Canceled) {
			b.t.Errorf("got %v, want it to tell of the context", err)
		}
	}
	b.sees(c, 0)
	if n := open.Load(); n != 0 {
		b.t.Errorf("%d files are still open", n)
	}
}

func internalError(b *bench) {
	c := b.Customer()
	err := b.broken(Send, fault.Status, func(ctx context.Context) error {
		_, err := b.bot.Send(ctx, text(c, "canary"))
		return err
	})
	b.refused(err, messenger.Uncertain, messenger.Temporary)
}

func slowAnswer(b *bench) {
	c := b.Customer()
	b.Faults().Add(fault.Fault{Method: b.Method(Send), Kind: fault.Delay, Wait: 50 * time.Millisecond, Times: 1})
	b.send(c, text(c, "canary"))
}
