package metric_test

import (
	"testing"
	"time"

	"supportbot/shared/analytics"
)

// Messages are by days of UTC, whatever the zone; the latest count of a day is right.
func TestMessages(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	row := func(day, messenger, direction, kind string, n int64) analytics.Messages {
		return analytics.Messages{Day: at(day), Messenger: messenger, Direction: direction, Kind: kind, Count: n}
	}
	d.must(d.db.InsertMessages(ctx, []analytics.Messages{
		row("2025-12-31", "vk", "in", "ticket.create", 100), row("2026-01-01", "vk", "in", "ticket.create", 2), row("2026-01-01", "telegram", "in", "ticket.comment", 3),
		row("2026-01-01", "telegram", "out", "deliver.answer", 5), row("2026-01-31", "vk", "out", "deliver.status", 7), row("2026-02-01", "vk", "in", "ticket.create", 100),
	}))
	d.must(d.db.InsertMessages(ctx, []analytics.Messages{row("2026-01-01", "vk", "in", "ticket.create", 1), row("2026-01-31", "vk", "out", "deliver.status", 8)}))
	for _, name := range []string{"UTC", "Asia/Kamchatka", "America/New_York"} {
		d.zone = zone(t, name)
		d.want("messages", january, "2026-01-01 in 5", "2026-01-01 out 5", "2026-01-31 out 8")
		d.want("messages", january.of("vk", ""), "2026-01-01 in 2", "2026-01-31 out 8")
	}
}

// A batch counts as it stands by the latest count.
func TestBroadcasts(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.zone = zone(t, "Europe/Moscow")
	batch := func(id int64, started string, change func(*analytics.Batch)) analytics.Batch {
		b := analytics.Batch{Broadcast: id, ID: 1, Kind: "news", Messenger: "telegram", CreatedAt: at("2026-01-02"), ReadAt: at("2026-02-01"), Size: 10}
		if started != "" {
			b.StartedAt = at(started)
		}
		change(&b)
		return b
	}
	done := func(b *analytics.Batch) { b.Sent, b.Blocked, b.Failed, b.Uncertain, b.Skipped = 5, 1, 1, 1, 2 }
	d.must(d.db.InsertBatches(ctx, []analytics.Batch{
		batch(1, "2026-01-01 21:00", done),                                                // the 2nd there
		batch(2, "2025-12-31 20:59", done),                                                // the year before there
		batch(3, "2026-01-09", func(b *analytics.Batch) { done(b); b.Kind = "message" }),  // to one
		batch(4, "2026-01-09", func(b *analytics.Batch) { done(b); b.Relation = "test" }), //
		batch(5, "2026-01-10", func(b *analytics.Batch) { b.Messenger, b.Relation = "vk", "correction"; b.Sent = 4 }),
		batch(6, "", func(b *analytics.Batch) { b.Skipped = 10 }),                                          // cancelled before it began
		batch(5, "", func(b *analytics.Batch) { b.Messenger = "vk"; b.ReadAt = b.ReadAt.Add(-time.Hour) }), // an older count
	}))
	d.want("broadcasts", january,
		"2026-01-02 blocked 1", "2026-01-02 failed 1", "2026-01-02 sent 5", "2026-01-02 skipped 12", "2026-01-02 uncertain 1",
		"2026-01-10 open 6", "2026-01-10 sent 4")
	d.want("broadcasts", january.of("vk", ""), "2026-01-10 open 6", "2026-01-10 sent 4")
}
