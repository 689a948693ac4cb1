package ycf_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"supportbot/shared/obs"
	"supportbot/shared/ycf"
)

func batch(ids ...string) *ycf.QueueEvent {
	ev := &ycf.QueueEvent{}
	for _, id := range ids {
		ev.Messages = append(ev.Messages, ycf.QueueMessage{ID: id})
	}
	return ev
}

// Each message waits until all have begun: one after the other would hang.
func TestMessages_SideBySide(t *testing.T) {
	t.Parallel()
	var begun sync.WaitGroup
	begun.Add(3)
	err := ycf.Messages(context.Background(), batch("a", "b", "c"), func(context.Context, *ycf.QueueMessage) error {
		begun.Done()
		begun.Wait()
		return nil
	})
	if err != nil {
		t.Errorf("Messages: %v", err)
	}
}

func TestMessages_OneFailsNeighboursAreDone(t *testing.T) {
	t.Parallel()
	away := errors.New("store away")
	var mu sync.Mutex
	done := map[string]bool{}
	err := ycf.Messages(context.Background(), batch("good", "away", "index", "value", "late"),
		func(_ context.Context, m *ycf.QueueMessage) error {
			switch m.ID {
			case "away":
				return away
			case "index":
				_ = []int{}[len(m.ID)]
			case "value":
				panic("a customer's words")
			}
			mu.Lock()
			defer mu.Unlock()
			done[m.ID] = true
			return nil
		})
	if !done["good"] || !done["late"] || len(done) != 2 {
		t.Errorf("done: got %v, want good and late", done)
	}
	if !errors.Is(err, away) {
		t.Errorf("error: got %v, want also %v", err, away)
	}
	for _, want := range []string{`message "away"`, `message "index"`, "index out of range", "messages_test.go:"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error: got %v, want it to contain %q", err, want)
		}
	}
	if strings.Contains(err.Error(), "customer") {
		t.Errorf("error tells what a panic carried: %v", err)
	}
}

func TestMessages_Empty(t *testing.T) {
	t.Parallel()
	each := func(context.Context, *ycf.QueueMessage) error { return errors.New("called") }
	for _, ev := range []*ycf.QueueEvent{nil, {}} {
		if err := ycf.Messages(context.Background(), ev, each); err != nil {
			t.Errorf("Messages(%v): %v", ev, err)
		}
	}
}

func TestMessages_LogsCarryTheMessage(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := obs.NewLogger(&out, "f", slog.LevelInfo)
	_ = ycf.Messages(context.Background(), batch("m-1"), func(ctx context.Context, _ *ycf.QueueMessage) error {
		log.InfoContext(ctx, "seen")
		return nil
	})
	if got, want := out.String(), `"message_id":"m-1"`; !strings.Contains(got, want) {
		t.Errorf("log: got %s, want it to contain %s", got, want)
	}
}
