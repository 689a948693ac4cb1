package reconcile

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"supportbot/shared/messenger"
	"supportbot/shared/obs"
)

// History is a messenger that tells what was said when it is asked. Those that
// repeat an event until it is taken need not be asked (Telegram); VK calls a server
// that fails no more.
type History interface {
	Name() messenger.Name
	Bot() string
	// Chats gives the chats in which something was said at since or later, with the
	// time of the last message. turn is called before each call to the messenger and
	// waits until it may be made; its error is passed on.
	Chats(ctx context.Context, since time.Time, turn func(context.Context) error) (map[string]time.Time, error)
	// Said gives what the customers said in some chats from since on and before
	// until, in order, under the keys that the messenger's calls would have. A chat
	// that cannot be read is left out.
	Said(ctx context.Context, chats []string, since, until time.Time, turn func(context.Context) error) (map[string][]messenger.Event, error)
}

// Missed is the duty that takes what a messenger did not bring. Every message is
// looked at half a minute after it was written, when the messenger would have
// brought it and its lists have caught up; what was taken already is known by its
// key. A run goes through the chats that have been silent longest first and does
// as much as it can; the next one goes on.
type Missed struct {
	Messenger History
	// Take handles an event as the webhook does (conversation.Service.Missed). Where the
	// mark is gone from Memory it does nothing and returns dialog.ErrForgotten.
	Take func(ctx context.Context, ev messenger.Event, mark string) error
	// Store keeps the watermarks, and has the clock by which they are: that of a
	// process which is ahead would let it pass over what is yet to be said.
	Store interface {
		Now(ctx context.Context) (time.Time, error)
		Watermark(ctx context.Context, name string) (time.Time, error)
		RaiseWatermark(ctx context.Context, name string, at time.Time) error
	}
	// Memory is the store that knows which events were taken.
	Memory interface {
		Marked(ctx context.Context, name string) (bool, error)
		Mark(ctx context.Context, name string) error
	}
	Pace interface {
		Wait(ctx context.Context, to messenger.Address, most time.Duration) error
		Refused(ctx context.Context, to messenger.Address, wait time.Duration)
	}
	Log *slog.Logger
}

const (
	missedLag   = 30 * time.Second // how old a message has to be
	missedEvery = 30 * time.Second // between two looks when nothing is left over
	missedFirst = 2 * time.Minute  // what the first run ever looks back
	missedReach = 47 * time.Hour   // keys of taken events are kept for 48
	missedChats = 1000             // in one run
	missedGroup = 25               // chats that are read together
	missedSpare = 10 * time.Second // nothing is begun this close to the run's end
	missedTries = 3                // chats that fail before a run gives up
	missedTurn  = 2 * time.Second  // how long a call waits for its turn

	// missedBlind is how long after the last run the memory may have been lost
	// without anybody seeing it: the timer's interval, and some. Not beyond the run that sees it.
	missedBlind = 2 * time.Minute
)

// The watermarks: all before since is taken; in chats whose last message is older
// than done there is nothing left; the memory was whole at known.
func (m *Missed) markSince() string {
	return "missed:" + string(m.Messenger.Name()) + ":" + m.Messenger.Bot()
}
func (m *Missed) markDone() string  { return m.markSince() + ":done" }
func (m *Missed) markKnown() string { return m.markSince() + ":known" }

// Run takes what was missed and gives how many messages it handed on, those
// included that turned out to be taken already.
func (m *Missed) Run(ctx context.Context) (messages int, err error) {
	now, err := m.Store.Now(ctx)
	if err != nil {
		return 0, err
	}
	until := now.UTC().Add(-missedLag).Truncate(time.Second)
	since, err := m.begin(ctx, until)
	if err != nil || until.Sub(since) < missedEvery {
		return 0, err
	}
	if since, err = m.remembered(ctx, since, now); err != nil || !since.Before(until) {
		return 0, err
	}
	s := &sweep{Missed: m, since: since, until: until}
	err = s.run(ctx)
	err = errors.Join(err, s.note(context.WithoutCancel(ctx)))
	return s.messages, err
}

// begin gives the time from which on there is something to be looked at.
func (m *Missed) begin(ctx context.Context, until time.Time) (time.Time, error) {
	since, err := m.Store.Watermark(ctx, m.markSince())
	if err != nil {
		return since, err
	}
	if since.IsZero() {
		since = until.Add(-missedFirst)
		return since, errors.Join(m.Memory.Mark(ctx, m.markSince()), m.Store.RaiseWatermark(ctx, m.markSince(), since))
	}
	if reach := until.Add(-missedReach); since.Before(reach) {
		m.Log.ErrorContext(ctx, "messages are too old to be looked for",
			slog.String(obs.Messenger, string(m.Messenger.Name())), slog.Time("from", since), slog.Time("to", reach))
		return reach, m.Store.RaiseWatermark(ctx, m.markSince(), reach)
	}
	return since, nil
}

// remembered leaves out what was most probably taken, if the memory of it is lost:
// to handle it once more would do more harm than to miss what the messenger failed
// to bring in the very minute in which the memory was lost too.
func (m *Missed) remembered(ctx context.Context, since, now time.Time) (time.Time, error) {
	whole, err := m.Memory.Marked(ctx, m.markSince())
	if err != nil {
		return since, err
	}
	if !whole {
		known, err := m.Store.Watermark(ctx, m.markKnown())
		if err != nil {
			return since, err
		}
		after := known.Add(missedBlind)
		if seen := now.Add(missedLag); after.After(seen) { // from now on the memory is whole; clocks differ a little
			after = seen
		}
		if after.After(since) {
			m.Log.WarnContext(ctx, "nobody knows what was taken: messages are not looked for",
				slog.String(obs.Messenger, string(m.Messenger.Name())), slog.Time("from", since), slog.Time("to", after))
			since = after
		}
		if err := m.Store.RaiseWatermark(ctx, m.markSince(), since); err != nil {
			return since, err
		}
		if err := m.Memory.Mark(ctx, m.markSince()); err != nil {
			return since, err
		}
	}
	return since, m.Store.RaiseWatermark(ctx, m.markKnown(), now)
}
