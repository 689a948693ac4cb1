package trigger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"supportbot/shared/obs"
	"supportbot/shared/ycf"
)

// Timer stands for a timer trigger. Other than in the cloud, whose timers know
// minutes, it may be fast, it also calls at once when it starts, and a call that
// takes longer than the period delays the next instead of running beside it.
type Timer struct {
	Name    string // for the log
	Every   time.Duration
	Payload string
	Timeout time.Duration // the function's time-out; 0: one minute
	Handle  func(ctx context.Context, ev *ycf.TimerEvent) error
	Log     *slog.Logger
	Ticks   <-chan time.Time // nil: the machine's clock
}

// Run calls the function until ctx ends, and returns when the call under way is
// over.
func (t *Timer) Run(ctx context.Context) {
	ctx = obs.With(ctx, slog.String("timer", t.Name))
	ticks := t.Ticks
	if ticks == nil {
		ticker := time.NewTicker(t.Every)
		defer ticker.Stop()
		ticks = ticker.C
	}
	for now := time.Now(); ; {
		if err := t.call(ctx, now); err != nil && ctx.Err() == nil {
			t.Log.WarnContext(ctx, "call failed", slog.Any(obs.Error, err))
		}
		select {
		case <-ctx.Done():
			return
		case now = <-ticks:
		}
	}
}

func (t *Timer) call(ctx context.Context, now time.Time) error {
	timeout := t.Timeout
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errTimeout)
	defer cancel()
	ev, err := timerEvent(t.Payload, now)
	if err != nil {
		return err
	}
	ctx = ycf.WithRequestID(ctx, ycf.NewRequestID())
	err = ycf.Guard(func() error { return t.Handle(ctx, ev) })
	if errors.Is(context.Cause(ctx), errTimeout) {
		return errTimeout
	}
	return err
}

// timerEvent goes through the trigger's JSON, as event does.
func timerEvent(payload string, now time.Time) (*ycf.TimerEvent, error) {
	data, err := json.Marshal(ycf.TimerEvent{Messages: []ycf.TimerMessage{{
		Event:   ycf.Metadata{ID: ycf.NewRequestID(), CreatedAt: now, CloudID: localID, FolderID: localID},
		Trigger: localID, Payload: payload,
	}}})
	if err != nil {
		return nil, fmt.Errorf("encode event: %w", err)
	}
	var ev ycf.TimerEvent
	if err := json.Unmarshal(data, &ev); err != nil {
		return nil, fmt.Errorf("decode event: %w", err)
	}
	return &ev, nil
}
