package obs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/obs"
)

// logged gives the one record that write writes, without its time.
func logged(t *testing.T, write func(log *slog.Logger)) map[string]any {
	t.Helper()
	var out bytes.Buffer
	write(obs.NewLogger(&out, "vk-webhook", slog.LevelInfo))
	var record map[string]any
	if err := json.Unmarshal(out.Bytes(), &record); err != nil {
		t.Fatalf("record %q: %v", out.String(), err)
	}
	if _, err := time.Parse(time.RFC3339Nano, record["time"].(string)); err != nil {
		t.Error(err)
	}
	delete(record, "time")
	return record
}

func TestLogger_AttributesOfTheContext(t *testing.T) {
	t.Parallel()
	root := context.Background()
	with := obs.With(obs.WithCorrelation(root, "telegram:77:1001"), slog.Int64(obs.Job, 7), slog.String(obs.Lane, "l"))
	base := func(more map[string]any) map[string]any {
		m := map[string]any{"level": "INFO", "msg": "m", "function": "vk-webhook"}
		for k, v := range more {
			m[k] = v
		}
		return m
	}
	tests := map[string]struct {
		write func(log *slog.Logger)
		want  map[string]any
	}{
		"plain": {func(log *slog.Logger) { log.InfoContext(root, "m") }, base(nil)},
		"context and call": {func(log *slog.Logger) { log.InfoContext(with, "m", slog.String(obs.Outcome, "sent")) },
			base(map[string]any{"correlation_id": "telegram:77:1001", "job": 7.0, "lane": "l", "outcome": "sent"})},
		"derived logger": {func(log *slog.Logger) { log.With("a", 1).InfoContext(with, "m") },
			base(map[string]any{"a": 1.0, "correlation_id": "telegram:77:1001", "job": 7.0, "lane": "l"})},
		"added later": {func(log *slog.Logger) { log.InfoContext(obs.With(with, slog.Int(obs.Attempt, 2)), "m") },
			base(map[string]any{"correlation_id": "telegram:77:1001", "job": 7.0, "lane": "l", "attempt": 2.0})},
		"group": {func(log *slog.Logger) { log.WithGroup("g").InfoContext(obs.WithCorrelation(root, "c"), "m", "a", 1) },
			base(map[string]any{"g": map[string]any{"a": 1.0, "correlation_id": "c"}})},
		"level as Cloud Logging reads it": {func(log *slog.Logger) { log.DebugContext(with, "no"); log.ErrorContext(root, "m") },
			base(map[string]any{"level": "ERROR"})},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, logged(t, tc.write)); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
		})
	}
}

// Two contexts made from one must not write into each other's attributes.
func TestWith_SiblingsAreApart(t *testing.T) {
	t.Parallel()
	// One attribute more than a full slice, so that the new slice has room.
	parent := obs.With(context.Background(), slog.Int("a", 1), slog.Int("b", 2), slog.Int("c", 3), slog.Int("d", 4))
	parent = obs.With(parent, slog.Int("e", 5))
	one, two := obs.With(parent, slog.String("who", "one")), obs.With(parent, slog.String("who", "two"))
	for want, ctx := range map[string]context.Context{"one": one, "two": two} {
		got := logged(t, func(log *slog.Logger) { log.InfoContext(ctx, "m") })
		if got["who"] != want {
			t.Errorf("who: got %v, want %s", got["who"], want)
		}
	}
}

func TestLogger_SideBySide(t *testing.T) {
	t.Parallel()
	log := obs.NewLogger(io.Discard, "f", slog.LevelInfo)
	ctx := obs.With(obs.WithCorrelation(context.Background(), "c"), slog.Int("a", 1))
	var all sync.WaitGroup
	for range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			log.InfoContext(obs.With(ctx, slog.Int("b", 2)), "m")
		}()
	}
	all.Wait()
}

func TestCorrelation(t *testing.T) {
	t.Parallel()
	root := context.Background()
	set := obs.WithCorrelation(root, "a")
	tests := map[string]struct {
		ctx  context.Context
		want string
	}{
		"unset":           {root, ""},
		"set":             {set, "a"},
		"empty keeps":     {obs.WithCorrelation(set, ""), "a"},
		"another":         {obs.WithCorrelation(set, "b"), "b"},
		"outlives cancel": {context.WithoutCancel(set), "a"},
	}
	for name, tc := range tests {
		if got := obs.Correlation(tc.ctx); got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}
