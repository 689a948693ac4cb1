package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"supportbot/shared/dialog"
	"supportbot/shared/messenger"
	"supportbot/shared/obs"
	"supportbot/shared/pace"
)

// sweep is one run through the chats in which something was said.
type sweep struct {
	*Missed
	since, until time.Time
	reached      time.Time // progress among the chats
	problems     []error   // one for each chat that could not be taken
	messages     int
	whole        bool // nothing is left over
}

// turn waits for a place behind everybody who has something to say.
func (s *sweep) turn(ctx context.Context) error { return s.Pace.Wait(ctx, s.self(), missedTurn) }

// self stands for the calls that concern no chat.
func (s *sweep) self() messenger.Address {
	return messenger.Address{Messenger: s.Messenger.Name(), Bot: s.Messenger.Bot()}
}

func (s *sweep) run(ctx context.Context) error {
	done, err := s.Store.Watermark(ctx, s.markDone())
	if err != nil {
		return err
	}
	last, err := s.Messenger.Chats(ctx, s.since, s.turn)
	if err != nil {
		return s.refused(ctx, fmt.Errorf("list chats: %w", err))
	}
	maps.DeleteFunc(last, func(_ string, at time.Time) bool { return at.Before(done) })
	chats := slices.SortedFunc(maps.Keys(last), func(a, b string) int {
		return cmp.Or(last[a].Compare(last[b]), cmp.Compare(a, b))
	})
	chats = chats[:min(len(chats), missedChats)]
	for some := range slices.Chunk(chats, missedGroup) {
		if ended, err := s.group(ctx, some, last); ended || err != nil {
			return errors.Join(append(s.problems, err)...)
		}
	}
	s.whole = len(s.problems) == 0 && len(chats) == len(last)
	return errors.Join(s.problems...)
}

// group takes what was said in some chats. ended: there is no time for more.
func (s *sweep) group(ctx context.Context, chats []string, last map[string]time.Time) (ended bool, err error) {
	if s.late(ctx) {
		return true, nil
	}
	said, err := s.Messenger.Said(ctx, chats, s.since, s.until, s.turn)
	if err != nil {
		return true, s.refused(ctx, fmt.Errorf("read chats: %w", err))
	}
	for _, chat := range chats {
		err := s.chat(ctx, said[chat])
		if s.late(ctx) {
			return true, nil
		}
		if errors.Is(err, dialog.ErrForgotten) { // what is left may have been handled
			s.Log.WarnContext(ctx, "memory is lost: messages are looked for later", slog.String(obs.Messenger, string(s.Messenger.Name())))
			return true, nil
		}
		if err != nil {
			s.problems = append(s.problems, err)
		}
		if len(s.problems) == missedTries {
			return true, nil
		}
		if len(s.problems) == 0 {
			s.reached = last[chat]
		}
	}
	return false, nil
}

// chat takes one chat's messages, up to the first that cannot be taken: what comes
// later has to wait for it.
func (s *sweep) chat(ctx context.Context, said []messenger.Event) error {
	for _, ev := range said {
		if s.late(ctx) {
			return nil
		}
		if err := s.Take(ctx, ev, s.markSince()); err != nil {
			return fmt.Errorf("take message: %w", err)
		}
		s.messages++
	}
	return nil
}

// late: the run is about to end.
func (s *sweep) late(ctx context.Context) bool {
	end, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && time.Until(end) < missedSpare
}

// refused: to be told to come later is no failure.
func (s *sweep) refused(ctx context.Context, err error) error {
	var long *pace.TooLong
	if errors.As(err, &long) {
		return nil
	}
	var e *messenger.Error
	if errors.As(err, &e) && e.Kind == messenger.RateLimited {
		s.Pace.Refused(ctx, s.self(), e.RetryAfter)
		s.Log.WarnContext(ctx, "messages are looked for later", slog.Any(obs.Error, err))
		return nil
	}
	return err
}

// note keeps how far the run has come.
func (s *sweep) note(ctx context.Context) error {
	if s.whole {
		return s.Store.RaiseWatermark(ctx, s.markSince(), s.until)
	}
	if s.reached.After(s.until) {
		s.reached = s.until
	}
	if s.reached.IsZero() {
		return nil
	}
	return s.Store.RaiseWatermark(ctx, s.markDone(), s.reached)
}
