package conversation

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"supportbot/shared/dialog"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/obs"
	"supportbot/shared/person"
	"supportbot/shared/ticket"
)

// message is one reply as it goes out.
type message struct {
	out  messenger.Outgoing
	edit string // the message that it replaces
}

// replyKey names a reply for as long as anybody may try to send it: the job that
// takes over uses it too, so a messenger that can drop repetitions drops them.
func replyKey(entry string, n int) string { return "reply:" + entry + ":" + strconv.Itoa(n) }

// send sends an entry's replies in order. What cannot go out now becomes a job of
// the outbound lane, and so does all that comes after it.
func (a *Accepted) send(ctx context.Context, p dialog.Pending, deadline time.Time) error {
	e := p.Entry
	if p.Begun && len(e.Replies) > 0 {
		a.s.d.Log.WarnContext(ctx, "replies are sent once more after a crash: they may have come twice", slog.String("entry", e.Key))
	}
	var notices []job.New
	n := 0
	for _, r := range e.Replies {
		if r.Answer != nil {
			a.answer(ctx, e, *r.Answer)
			continue
		}
		for _, m := range a.render(ctx, e, r, deadline) {
			m.out.Key = replyKey(e.Key, n)
			n++
			if a.s.d.Now().Sub(a.asked) > dialog.LeaseTime-leaseMargin {
				return errLeaseOver
			}
			err := a.deliver(ctx, e, m, deadline)
			switch {
			case err == nil:
				a.Sent++
				a.s.d.Hook(StageReplied)
			case gone(err):
				return a.unreachable(ctx, e, err)
			case messenger.KindOf(err) == messenger.Invalid:
				a.s.d.Log.ErrorContext(ctx, "reply was refused", slog.Any(obs.Error, err), slog.String("entry", e.Key))
			default:
				a.behind = true
				uncertain := messenger.KindOf(err) == messenger.Uncertain && m.edit == ""
				notices = append(notices, notice(e, m.out, uncertain))
			}
		}
	}
	return a.queue(ctx, e, notices)
}

func gone(err error) bool {
	k := messenger.KindOf(err)
	return k == messenger.Blocked || k == messenger.Moved
}

// render makes the messages of a reply. Only a page reads anything for that.
func (a *Accepted) render(ctx context.Context, e dialog.Entry, r dialog.Reply, deadline time.Time) []message {
	text, keyboard := r.Text, r.Keyboard
	if r.Page != nil {
		text, keyboard = a.page(ctx, *r.Page, deadline)
	}
	parts := a.sender.Plain(text)
	var out []message
	for i, part := range parts {
		o := messenger.Outgoing{Chat: e.Address.Chat, Part: part, NoCallback: e.NoCallback}
		if i == len(parts)-1 {
			o.Keyboard = keyboard
		}
		m := message{out: o}
		if len(parts) == 1 {
			m.edit = r.Edit
		}
		out = append(out, m)
	}
	return out
}

// page renders a view on data as they are now.
func (a *Accepted) page(ctx context.Context, p dialog.Page, deadline time.Time) (string, messenger.Keyboard) {
	now := a.s.d.Now()
	wait := min(trackerWait, deadline.Sub(now)-trackerWait/2)
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	d := dialog.Data{Catalogue: a.s.d.Catalogue, Now: now, Zone: a.s.d.Zone, Tickets: a.snap.Tickets}
	if known, ok := a.access(ctx, p); ok {
		d.Access = known
		return dialog.Render(p, d)
	}
	if now.Sub(d.Tickets.At) >= ticketsFresh {
		if read, err := a.s.readTickets(ctx, a.in.Address, d.Tickets); err == nil {
			d.Tickets, a.read, a.snap.Tickets = read, &read, read
		}
	}
	if p.Kind == dialog.PageHistory && p.Owns(d.Tickets) {
		entries, err := a.s.d.Lister.History(ctx, a.in.Address, p.Ref)
		d.History, d.HistoryKnown = entries, err == nil
		if err != nil {
			a.s.d.Log.WarnContext(ctx, "history could not be read", obs.Error, err.Error())
		}
	}
	return dialog.Render(p, d)
}

// answer stops the spinner of a pressed button; it is no loss when that fails.
func (a *Accepted) answer(ctx context.Context, e dialog.Entry, r dialog.Answer) {
	if a.s.d.Now().Sub(e.At) > answerLife {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, paceWait)
	defer cancel()
	if err := a.sender.Answer(ctx, r.Press, r.Text); err != nil {
		a.s.d.Log.WarnContext(ctx, "press was not answered", obs.Error, err.Error())
	}
}

var errLeaseOver = errors.New("the reply lease is about to end")

var errPaced = &messenger.Error{Kind: messenger.RateLimited, Err: errors.New("no place within the limits")}

// deliver edits the message that the reply replaces, or sends a new one where that
// one can no longer be edited.
func (a *Accepted) deliver(ctx context.Context, e dialog.Entry, m message, deadline time.Time) error {
	if m.edit != "" {
		m.out.Bare = true // what a reply replaces is a menu
		err := a.call(ctx, e.Address, deadline, func(ctx context.Context) error { return a.sender.Edit(ctx, m.edit, m.out) })
		if err == nil || messenger.KindOf(err) != messenger.Invalid {
			return err
		}
	}
	return a.call(ctx, e.Address, deadline, func(ctx context.Context) error {
		_, err := a.sender.Send(ctx, m.out)
		return err
	})
}

// call makes a call to a chat, and once more if the messenger asks to wait a moment:
// each in a place of its own, for which it waits a moment too.
func (a *Accepted) call(ctx context.Context, to messenger.Address, deadline time.Time, do func(context.Context) error) error {
	left := deadline.Sub(a.s.d.Now())
	if a.behind || left <= 0 {
		return errPaced
	}
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	if !a.place(ctx, to, paceWait) {
		return errPaced
	}
	err := do(ctx)
	wait, asked := a.refused(ctx, to, err)
	if !asked || wait > paceWait || !a.place(ctx, to, wait+paceWait) {
		return err
	}
	err = do(ctx)
	a.refused(ctx, to, err)
	return err
}

// refused lets all others know when a messenger asks to wait, and says for how long.
func (a *Accepted) refused(ctx context.Context, to messenger.Address, err error) (wait time.Duration, asked bool) {
	var e *messenger.Error
	if !errors.As(err, &e) || !e.Refused() {
		return 0, false
	}
	a.s.d.Pacer.Refused(ctx, to, e.RetryAfter)
	return e.RetryAfter, true
}

// place waits until a call to a chat may be made, if that is soon enough.
func (a *Accepted) place(ctx context.Context, to messenger.Address, most time.Duration) bool {
	if end, ok := ctx.Deadline(); ok {
		most = min(most, time.Until(end))
	}
	grant, err := a.s.d.Pacer.Reserve(ctx, to, most)
	return err == nil && grant.OK && sleep(ctx, grant.Wait) == nil
}

// unreachable notes that this customer cannot be written to until they write
// again. The kept copy of the person is dropped, so that their next event is
// recorded and says the contrary.
func (a *Accepted) unreachable(ctx context.Context, e dialog.Entry, cause error) error {
	a.s.d.Log.InfoContext(ctx, "customer cannot be written to", obs.Error, cause.Error())
	if e.Group || messenger.KindOf(cause) != messenger.Blocked {
		return nil
	}
	no := false
	if _, _, err := a.s.d.Records.Record(ctx, visitOf(e, person.Update{Reachable: &no}), nil); err != nil {
		return err
	}
	a.known, a.forget = nil, true
	return nil
}

// queue makes jobs of the replies that did not go out.
func (a *Accepted) queue(ctx context.Context, e dialog.Entry, notices []job.New) error {
	if len(notices) == 0 || e.Group {
		return nil
	}
	_, inserted, err := a.s.d.Records.Record(ctx, visitOf(e, person.Update{}), notices)
	if err != nil {
		return err
	}
	a.inserted = append(a.inserted, inserted...)
	a.Queued += len(notices)
	return nil
}

func notice(e dialog.Entry, o messenger.Outgoing, uncertain bool) job.New {
	return job.New{
		Queue:    ticket.QueueDeliveries,
		Kind:     ticket.KindNotice,
		Key:      o.Key,
		Lane:     job.Lane{Name: ticket.OutboundLane(e.Address)},
		Sequence: e.At.UnixMilli(),
		Payload: ticket.Notice{
			Address: e.Address, Part: o.Part, Keyboard: o.Keyboard, NoCallback: o.NoCallback, Uncertain: uncertain,
		},
		CorrelationID: e.Key,
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
