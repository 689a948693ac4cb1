package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"supportbot/functions/local/operate"
)

// TestReproduce_WhichEvent: make gives an empty name where EVENT is not set.
func TestReproduce_WhichEvent(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {""}, {"", "ticket-worker"}, {"a", "b", "c"}} {
		err := reproduceEvent(context.Background(), args)
		if !errors.Is(err, operate.ErrUsage) || !strings.Contains(err.Error(), "EVENT=file.json") {
			t.Errorf("%q: got %v, want it to say how the event is named", args, err)
		}
	}
}
