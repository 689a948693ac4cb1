package loader

import (
	"context"
	"fmt"
	"time"
)

const (
	countsMark = "analytics:counts"
	// recount is how far back counts are counted again: what was in a transaction or
	// uncertain then, is decided now.
	recount = 48 * time.Hour
)

// counts loads what Postgres knows and forgets: messages by day, which it keeps for a
// month, and broadcasts.
func (l *Loader) counts(ctx context.Context, now time.Time) error {
	mark, err := l.d.Records.Watermark(ctx, countsMark)
	if err != nil {
		return err
	}
	since := mark
	if !since.IsZero() {
		since = mark.Add(-recount)
	}
	messages, err := l.d.Records.CountMessages(ctx, since)
	if err == nil {
		err = l.d.Store.InsertMessages(ctx, messages)
	}
	if err != nil {
		return fmt.Errorf("load counts of messages: %w", err)
	}
	l.d.Hook("messages")
	batches, err := l.d.Records.CountBatches(ctx, since)
	if err == nil {
		err = l.d.Store.InsertBatches(ctx, batches)
	}
	if err != nil {
		return fmt.Errorf("load counts of broadcasts: %w", err)
	}
	l.d.Hook("batches")
	err = l.d.Records.RaiseWatermark(ctx, countsMark, now)
	l.d.Hook("counted")
	return err
}
