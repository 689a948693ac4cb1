package clickhouse_test

import (
	"math"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/go-cmp/cmp"

	"supportbot/shared/analytics"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/clickhouse/clickhousetest"
)

// judge is another client, of the native protocol and written by others: what it
// reads is what is in the tables.
func judge(t *testing.T, address string) driver.Conn {
	t.Helper()
	if os.Getenv("CLICKHOUSE_URL") != "" {
		t.Skip("skipped, nobody says where the server of CLICKHOUSE_URL speaks the native protocol")
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	opts, err := native.ParseDSN(backendtest.ClickHouse(t).NativeURL())
	if err != nil {
		t.Fatal(err)
	}
	opts.Auth.Database = strings.TrimPrefix(u.Path, "/")
	conn, err := native.Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// same compares a table with what was inserted, in the order of the rows' first
// columns.
func same[T any](t *testing.T, conn driver.Conn, table string, want ...T) {
	t.Helper()
	var got []T
	if err := conn.Select(ctx, &got, "SELECT * FROM "+table+" ORDER BY tuple(*)"); err != nil {
		t.Errorf("%s: %v", table, err)
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", table, diff)
	}
}

// Texts that are hard to carry.
var (
	long = strings.Repeat("длинный текст, ", 2000)
	raw  = "zero\x00, \xff\xfe, \t, \n, \\N, 'quoted' \"twice\""
)

func TestInsert_ReadByTheJudge(t *testing.T) {
	t.Parallel()
	db, address := clickhousetest.New(t)
	conn := judge(t, address)
	at := time.Date(2026, 1, 10, 12, 0, 0, 123_000_000, time.UTC)
	ptr := func(t time.Time) *time.Time { return &t }
	midnight := day(3).Truncate(24 * time.Hour)

	must(t, db.InsertTickets(ctx, []analytics.Ticket{
		{
			Issue: "i1", Version: math.MaxInt64, UpdatedAt: at, Key: "SUP-1", Queue: "SUP", CreatedAt: day(0), ResolvedAt: day(2), Type: "bug",
			Priority: "normal", Status: "closed", Phase: analytics.Done, Resolution: "fixed", Assignee: "112", Messenger: "vk",
			Category: "problem", Locale: "ru", Rating: 5, Deadline: midnight, SLAFailsAt: at,
		},
		{Issue: "i2", UpdatedAt: at, CreatedAt: at, Key: long, Queue: raw},
	}, at))
	type ticket struct {
		Issue      string     `ch:"issue"`
		Version    uint64     `ch:"version"`
		UpdatedAt  time.Time  `ch:"updated_at"`
		Key        string     `ch:"key"`
		Queue      string     `ch:"queue"`
		CreatedAt  time.Time  `ch:"created_at"`
		ResolvedAt *time.Time `ch:"resolved_at"`
		Type       string     `ch:"type"`
		Priority   string     `ch:"priority"`
		Status     string     `ch:"status"`
		Phase      string     `ch:"phase"`
		Resolution string     `ch:"resolution"`
		Assignee   string     `ch:"assignee"`
		Messenger  string     `ch:"messenger"`
		Category   string     `ch:"category"`
		Locale     string     `ch:"locale"`
		Rating     uint8      `ch:"rating"`
		Deadline   *time.Time `ch:"deadline"`
		SLAFailsAt *time.Time `ch:"sla_fails_at"`
		LoadedAt   time.Time  `ch:"loaded_at"`
	}
	same(t, conn, "tickets", ticket{
		Issue: "i1", Version: math.MaxInt64, UpdatedAt: at, Key: "SUP-1", Queue: "SUP", CreatedAt: day(0), ResolvedAt: ptr(day(2)), Type: "bug",
		Priority: "normal", Status: "closed", Phase: "done", Resolution: "fixed", Assignee: "112", Messenger: "vk", Category: "problem",
		Locale: "ru", Rating: 5, Deadline: &midnight, SLAFailsAt: &at, LoadedAt: at,
	}, ticket{Issue: "i2", UpdatedAt: at, CreatedAt: at, Key: long, Queue: raw, LoadedAt: at})

	must(t, db.InsertEvents(ctx, []analytics.Event{
		{
			Issue: "i1", ID: "a:status", Kind: analytics.Status, At: at, Actor: "1", Before: "open", After: "closed",
			BeforePhase: analytics.New, AfterPhase: analytics.Done, OpenedAt: day(0), Version: 3,
		},
		{Issue: "i2", ID: long, Kind: analytics.CommentInside, At: at, Actor: raw, OpenedAt: day(1), Version: -1, Deleted: true},
	}))
	type event struct {
		Issue       string    `ch:"issue"`
		ID          string    `ch:"id"`
		Kind        string    `ch:"kind"`
		At          time.Time `ch:"at"`
		Actor       string    `ch:"actor"`
		Before      string    `ch:"before"`
		After       string    `ch:"after"`
		BeforePhase string    `ch:"before_phase"`
		AfterPhase  string    `ch:"after_phase"`
		OpenedAt    time.Time `ch:"opened_at"`
		Version     uint64    `ch:"version"`
		Deleted     uint8     `ch:"deleted"`
	}
	same(t, conn, "ticket_events", event{
		Issue: "i1", ID: "a:status", Kind: "status", At: at, Actor: "1", Before: "open", After: "closed", BeforePhase: "new", AfterPhase: "done",
		OpenedAt: day(0), Version: 3,
	}, event{Issue: "i2", ID: long, Kind: "comment_inside", At: at, Actor: raw, OpenedAt: day(1), Deleted: 1})

	must(t, db.InsertAgents(ctx, []analytics.Agent{{ID: "112", Login: "anna", Name: "Анна", SeenAt: at}}))
	type agent struct {
		ID     string    `ch:"id"`
		Login  string    `ch:"login"`
		Name   string    `ch:"name"`
		SeenAt time.Time `ch:"seen_at"`
	}
	same(t, conn, "agents", agent{ID: "112", Login: "anna", Name: "Анна", SeenAt: at})

	must(t, db.InsertStatuses(ctx, []analytics.StatusName{{Key: "open", Name: "Открыт", Phase: analytics.New}}, at))
	type status struct {
		Key      string    `ch:"key"`
		Name     string    `ch:"name"`
		Phase    string    `ch:"phase"`
		LoadedAt time.Time `ch:"loaded_at"`
	}
	same(t, conn, "statuses", status{Key: "open", Name: "Открыт", Phase: "new", LoadedAt: at})

	must(t, db.InsertMessages(ctx, []analytics.Messages{{Day: midnight, Messenger: "vk", Direction: "in", Kind: "k", Count: 1 << 40}}))
	type messages struct {
		Day       time.Time `ch:"day"`
		Messenger string    `ch:"messenger"`
		Direction string    `ch:"direction"`
		Kind      string    `ch:"kind"`
		Messages  uint64    `ch:"messages"`
	}
	same(t, conn, "messages", messages{Day: midnight, Messenger: "vk", Direction: "in", Kind: "k", Messages: 1 << 40})

	read := at.Add(456 * time.Microsecond)
	must(t, db.InsertBatches(ctx, []analytics.Batch{
		{
			Broadcast: -1, ID: 2, Kind: "news", Relation: "test", Messenger: "vk", CreatedAt: day(0), StartedAt: day(1), DoneAt: day(2),
			Size: 15, Sent: 5, Blocked: 4, Failed: 3, Uncertain: 2, Skipped: 1, ReadAt: read,
		},
		{Broadcast: 1 << 40, ID: 3, CreatedAt: day(0), Size: math.MaxUint32 + 1, Sent: -1, ReadAt: read},
	}))
	type batch struct {
		Broadcast int64      `ch:"broadcast"`
		Batch     int64      `ch:"batch"`
		Kind      string     `ch:"kind"`
		Relation  string     `ch:"relation"`
		Messenger string     `ch:"messenger"`
		CreatedAt time.Time  `ch:"created_at"`
		StartedAt *time.Time `ch:"started_at"`
		DoneAt    *time.Time `ch:"done_at"`
		Size      uint32     `ch:"size"`
		Sent      uint32     `ch:"sent"`
		Blocked   uint32     `ch:"blocked"`
		Failed    uint32     `ch:"failed"`
		Uncertain uint32     `ch:"uncertain"`
		Skipped   uint32     `ch:"skipped"`
		ReadAt    time.Time  `ch:"read_at"`
	}
	same(t, conn, "broadcast_batches", batch{
		Broadcast: -1, Batch: 2, Kind: "news", Relation: "test", Messenger: "vk", CreatedAt: day(0), StartedAt: ptr(day(1)), DoneAt: ptr(day(2)),
		Size: 15, Sent: 5, Blocked: 4, Failed: 3, Uncertain: 2, Skipped: 1, ReadAt: read,
	}, batch{Broadcast: 1 << 40, Batch: 3, CreatedAt: day(0), Size: math.MaxUint32, ReadAt: read})
}
