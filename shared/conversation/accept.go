package conversation

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"supportbot/shared/dialog"
	"supportbot/shared/messenger"
)

// input is an event on its way, or on its second way (again).
type input struct {
	messenger.Event
	key    string // what makes it one; the event's own key unless it comes again
	again  bool
	missed bool   // it was not brought when it happened
	mark   string // without which nothing is done (dialog.Lookup)
}

func (s *Service) input(ev messenger.Event) input {
	ev = clean(ev, s.d.Now())
	return input{Event: ev, key: ev.Key}
}

func (in input) group() bool { return in.Kind == messenger.EventGroup }

// leaves: we may write to them no more.
func (in input) leaves() bool { return in.Kind == messenger.EventBlocked }

// Again handles an event that was put aside because Tracker could not be read
// (ticket.KindAgain), replies included. While Tracker is still away it returns an
// error and changes nothing. Repeating it is safe.
func (s *Service) Again(ctx context.Context, ev messenger.Event) error {
	a, err := s.handle(ctx, input{Event: ev, key: "again:" + ev.Key, again: true})
	if err != nil {
		return fmt.Errorf("handle event again: %w", err)
	}
	a.Finish(ctx)
	return nil
}

// handle handles an event until it is safe: when it returns without an error, what
// follows from the event will happen. The caller then answers the messenger and calls
// Finish. An error wraps ErrUnavailable: the event has to be delivered again.
func (s *Service) handle(ctx context.Context, in input) (*Accepted, error) {
	sender, ok := s.sender(in.Address)
	if !ok {
		return nil, fmt.Errorf("handle event: no sender for %s", bot(in.Address.Messenger, in.Address.Bot))
	}
	look := dialog.Lookup{Address: in.Address, Key: in.key, At: in.Time, Burst: s.d.Flood.Burst, Every: s.d.Flood.Every, Mark: in.mark}
	if in.again || in.missed || in.leaves() { // many at once are nobody's doing
		look.Burst = 0
	}
	snap, err := s.d.Store.Load(ctx, look)
	if err != nil {
		return nil, unavailable(err)
	}
	s.d.Hook(StageLoaded)
	t := &turn{s: s, in: in, sender: sender, token: newToken(), snap: snap}
	switch snap.Verdict {
	case dialog.Forgotten:
		return nil, dialog.ErrForgotten
	case dialog.Seen:
		return t.done(Repeated), nil
	case dialog.Banned:
		return t.done(Banned), nil
	case dialog.Flooding:
		return t.done(Flooding), nil
	case dialog.Warned:
		return t.warn(), nil
	case dialog.Repeated:
		return t.complete(ctx, Repeated)
	}
	return t.run(ctx)
}

// turn is one event being handled.
type turn struct {
	s       *Service
	in      input
	sender  Sender
	token   string
	snap    dialog.Snapshot
	profile *dialog.Profile
	isNew   bool            // profile was read just now and is not kept yet
	tickets *dialog.Tickets // read just now
	unread  error           // why they could not be
	asked   time.Time       // when the reply lease was asked for
}

func (t *turn) done(o Outcome) *Accepted { return &Accepted{turn: t, Outcome: o} }

// run handles the event on the state that is there, until it wins.
func (t *turn) run(ctx context.Context) (*Accepted, error) {
	if err := t.know(ctx); err != nil {
		return nil, err
	}
	if t.profile == nil && t.in.leaves() { // nobody knows them: there is nothing to be noted
		return t.complete(ctx, Ignored)
	}
	if t.profile != nil && t.profile.Person.Banned {
		return t.ban(ctx)
	}
	for range commitTries {
		state, result, err := t.step(ctx)
		if err != nil {
			return nil, err
		}
		w, err := t.write(state, result)
		if err != nil {
			return nil, err
		}
		if w == nil {
			return t.complete(ctx, Ignored)
		}
		t.asked = t.s.d.Now()
		snap, err := t.s.d.Store.Commit(ctx, *w)
		if err != nil {
			t.letGo(ctx, "") // it may have been written, and only the answer got lost
			return nil, unavailable(err)
		}
		switch snap.Verdict {
		case dialog.Committed:
			t.s.d.Hook(StageCommitted)
			snap.Tickets = t.snap.Tickets
			t.snap = snap
			if w.Entry == nil {
				return t.done(Handled), nil
			}
			return t.complete(ctx, Handled)
		case dialog.Forgotten:
			return nil, dialog.ErrForgotten
		case dialog.Seen:
			return t.done(Repeated), nil
		case dialog.Repeated:
			t.snap = snap
			return t.complete(ctx, Repeated)
		}
		t.snap = snap
		if p := snap.Profile; p != nil && !t.isNew {
			t.profile = p
		}
	}
	return nil, unavailable(errCrowded)
}

var errCrowded = errors.New("too many events of one conversation at once")

func unavailable(err error) error { return fmt.Errorf("%w: %w", ErrUnavailable, err) }

func newToken() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails on the systems that Go supports
	return hex.EncodeToString(b[:])
}
