package conversation_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"supportbot/shared/conversation"
	"supportbot/shared/redisdb"
	"supportbot/shared/ticket"
)

// TestTickets_ReadByAnotherMeanwhile: an event for which Tracker could not be read goes by
// the list that another one has brought since, and puts nothing in its place.
func TestTickets_ReadByAnotherMeanwhile(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.do(b.service(nil), b.message("/menu"))
	open := ticket.Summary{Ref: ticket.Ref{Draft: "abc"}, Key: "SUP-1", Phase: ticket.PhaseOpen}
	first := true
	s := b.service(func(at conversation.Stage) {
		if at != conversation.StageLoaded || !first {
			return
		}
		first = false
		b.lister.set(nil, open)
		b.do(b.service(nil), b.message("first"))
		b.lister.set(errors.New("503"))
	})
	b.do(s, b.message("second"))
	if got, want := b.records.kinds(), []string{ticket.KindComment, ticket.KindComment}; !slices.Equal(got, want) {
		t.Errorf("jobs: got %v, want %v", got, want)
	}
	if kept := b.snapshot().Tickets; !kept.Known || len(kept.List) != 1 {
		t.Errorf("kept are %+v, want what was read", kept)
	}
	b.wantNothingPending()
}

// TestTickets_DroppedMeanwhile: what was known when an event came again is no longer, so
// it comes again.
func TestTickets_DroppedMeanwhile(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.lister.set(nil)
	b.do(b.service(nil), b.message("/tickets"))
	b.lister.set(errors.New("503"))
	ev := b.message("text")
	first := true
	s := b.service(func(at conversation.Stage) {
		if at != conversation.StageLoaded || !first {
			return
		}
		first = false
		b.do(b.service(nil), b.message("/menu"))
		if err := redisdb.NewTickets(b.client).Drop(context.Background(), b.a); err != nil {
			t.Error(err)
		}
	})
	b.wait(time.Hour)
	if err := s.Again(context.Background(), ev); err == nil {
		t.Error("it was handled by a list that nobody knows")
	}
}
