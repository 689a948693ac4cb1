package clickhouse_test

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"supportbot/migrations"
	"supportbot/shared/analytics"
	"supportbot/shared/backend"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/clickhouse"
	"supportbot/shared/clickhouse/clickhousetest"
)

func TestMain(m *testing.M) {
	backend.ServeClickHouse()
	goleak.VerifyTestMain(m, backendtest.Goroutines()...)
}

var ctx = context.Background()

func day(n int) time.Time { return time.Date(2026, 1, 1+n, 12, 0, 0, 0, time.UTC) }

func TestMigrate_TwiceAndAtTheSameTime(t *testing.T) {
	t.Parallel()
	address := clickhousetest.Empty(t)
	var all sync.WaitGroup
	for range 3 {
		db := clickhousetest.Open(t, address)
		all.Add(1)
		go func() {
			defer all.Done()
			if err := db.Migrate(ctx); err != nil {
				t.Error(err)
			}
		}()
	}
	all.Wait()
	db := clickhousetest.Open(t, address)
	if err := db.Migrate(ctx); err != nil {
		t.Errorf("once more: %v", err)
	}
	files, err := fs.Glob(migrations.ClickHouse, "clickhouse/*.sql")
	got := clickhousetest.Rows(t, db, "SELECT DISTINCT version FROM migrations")
	if err != nil || len(got) != len(files) {
		t.Errorf("applied %v of %d files, %v", got, len(files), err)
	}
}

// A release that meets the schema of a later one leaves it alone.
func TestMigrate_NeverBackwards(t *testing.T) {
	t.Parallel()
	db, _ := clickhousetest.New(t)
	must(t, db.Exec(ctx, "INSERT INTO migrations (version) VALUES (90000)"))
	if err := db.Migrate(ctx); err == nil || !strings.Contains(err.Error(), "later release") {
		t.Errorf("got %v, want a schema of a later release", err)
	}
}

// A migration that broke off after any statement goes on.
func TestMigrate_BrokenOff(t *testing.T) {
	t.Parallel()
	files, _ := fs.Glob(migrations.ClickHouse, "clickhouse/*.sql")
	var all []string // of the files so far
	for _, name := range files {
		text, err := migrations.ClickHouse.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, clickhouse.Statements(string(text))...)
		db := clickhousetest.Open(t, clickhousetest.Empty(t))
		for _, s := range all[:len(all)-1] {
			if err := db.Exec(ctx, clickhouse.Render(s, "")); err != nil {
				t.Fatal(err)
			}
			if err := db.Exec(ctx, clickhouse.Render(s, "")); err != nil {
				t.Errorf("twice: %v: %s", err, s)
			}
		}
		if err := db.Migrate(ctx); err != nil {
			t.Error(err)
		}
	}
}

// Marks of before there was a time of the load in them still hold, but for tickets that
// were loaded again.
func TestMigrate_KeepsMarks(t *testing.T) {
	t.Parallel()
	db, _ := clickhousetest.New(t)
	for issue, loaded := range map[string]int{"gone": 1, "shown again": 5, "there": 1} {
		must(t, db.InsertTickets(ctx, []analytics.Ticket{ticket(issue, 1)}, day(loaded)))
	}
	must(t, db.Exec(ctx, `INSERT INTO tickets_gone (issue, version, updated_at, noticed_at)
		SELECT issue, version, updated_at, toDateTime64('2026-01-04 12:00:00', 3, 'UTC') FROM tickets_now WHERE issue != 'there'`))
	must(t, db.Exec(ctx, "DELETE FROM migrations WHERE version = 5"))
	must(t, db.Migrate(ctx))
	if diff := cmp.Diff([]string{"('shown again')", "('there')"}, clickhousetest.Rows(t, db, "SELECT issue FROM tickets_latest ORDER BY issue")); diff != "" {
		t.Errorf("there are (-want +got):\n%s", diff)
	}
}

func TestFiles_AreNumberedWithoutGaps(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(migrations.ClickHouse, "clickhouse/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for i, f := range files {
		if want := fmt.Sprintf("clickhouse/%05d_", i+1); !strings.HasPrefix(f, want) {
			t.Errorf("file %s, want it to begin with %s", f, want)
		}
	}
}

// Every table and column says what it holds, and none is named like a customer's data.
func TestSchema_Comments(t *testing.T) {
	t.Parallel()
	db, _ := clickhousetest.New(t)
	for _, q := range []string{
		"SELECT name FROM system.tables WHERE database = currentDatabase() AND comment = ''",
		"SELECT table, name FROM system.columns WHERE database = currentDatabase() AND comment = '' AND table NOT LIKE '%latest'",
		"SELECT table, name FROM system.columns WHERE database = currentDatabase() AND match(name, 'chat|user|phone|nick|text|summary|remark')",
		"SELECT name, engine FROM system.tables WHERE database = currentDatabase() AND engine NOT IN ('ReplacingMergeTree', 'View')",
	} {
		if got := clickhousetest.Rows(t, db, q); len(got) > 0 {
			t.Errorf("%s: %v", q, got)
		}
	}
}

// On a cluster tables are made on all hosts, and replicated.
func TestRender_Cluster(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t, clickhousetest.Empty(t))
	files, _ := fs.Glob(migrations.ClickHouse, "clickhouse/*.sql")
	for _, name := range files {
		text, _ := migrations.ClickHouse.ReadFile(name)
		for _, s := range clickhouse.Statements(string(text)) {
			if got := clickhouse.Render(s, ""); strings.ContainsAny(got, "{}") || strings.Contains(got, "CLUSTER") {
				t.Errorf("on a single host: %s", got)
			}
			got := clickhouse.Render(s, "it's")
			if strings.HasPrefix(s, "INSERT") { // replication takes them to the other hosts
				continue
			}
			if !strings.Contains(got, "ON CLUSTER 'its'") || strings.Contains(got, "ENGINE = ") != strings.Contains(got, "ENGINE = ReplicatedReplacingMergeTree(") {
				t.Errorf("on a cluster: %s", got)
			}
			if err := db.Exec(ctx, "EXPLAIN AST "+got); err != nil {
				t.Errorf("ClickHouse cannot read it: %v", err)
			}
		}
	}
}

// ticket has all that a ticket can have.
func ticket(issue string, version int64) analytics.Ticket {
	return analytics.Ticket{
		Issue: issue, Version: version, UpdatedAt: day(int(version)), Key: "SUP-1", Queue: "SUP", CreatedAt: day(0), ResolvedAt: day(2),
		Type: "bug", Priority: "normal", Status: "closed", Phase: analytics.Done, Resolution: "fixed", Assignee: "112", Messenger: "vk",
		Category: "problem", Locale: "ru", Rating: 5, Deadline: day(3).Truncate(24 * time.Hour), SLAFailsAt: day(1),
	}
}

func TestInsert_EveryField(t *testing.T) {
	t.Parallel()
	db, _ := clickhousetest.New(t)
	at := day(9)
	must(t, db.InsertTickets(ctx, []analytics.Ticket{ticket("i1", 7), {Issue: "i2", UpdatedAt: at, CreatedAt: at}}, at))
	must(t, db.InsertEvents(ctx, []analytics.Event{{
		Issue: "i1", ID: "a:status", Kind: analytics.Status, At: at, Actor: "1", Before: "open", After: "closed",
		BeforePhase: analytics.New, AfterPhase: analytics.Done, OpenedAt: day(0), Version: 3,
	}}))
	must(t, db.InsertAgents(ctx, []analytics.Agent{{ID: "112", Login: "anna", Name: "Анна", SeenAt: at}}))
	must(t, db.InsertStatuses(ctx, []analytics.StatusName{{Key: "open", Name: "Открыт", Phase: analytics.New}}, at))
	must(t, db.InsertMessages(ctx, []analytics.Messages{{Day: day(0).Truncate(24 * time.Hour), Messenger: "vk", Direction: "in", Kind: "k", Count: 3}}))
	must(t, db.InsertBatches(ctx, []analytics.Batch{{
		Broadcast: 1, ID: 2, Kind: "news", Relation: "test", Messenger: "vk", CreatedAt: day(0), StartedAt: day(1), DoneAt: day(2),
		Size: 15, Sent: 5, Blocked: 4, Failed: 3, Uncertain: 2, Skipped: 1, ReadAt: at,
	}}))
	for table, want := range map[string][]string{
		"tickets": {
			"('i1',7,'2026-01-08 12:00:00.000','SUP-1','SUP','2026-01-01 12:00:00.000','2026-01-03 12:00:00.000','bug','normal','closed','done','fixed','112','vk','problem','ru',5,'2026-01-04','2026-01-02 12:00:00.000','2026-01-10 12:00:00.000')",
			"('i2',0,'2026-01-10 12:00:00.000','','','2026-01-10 12:00:00.000',NULL,'','','','','','','','','',0,NULL,NULL,'2026-01-10 12:00:00.000')",
		},
		"ticket_events":     {"('i1','a:status','status','2026-01-10 12:00:00.000','1','open','closed','new','done','2026-01-01 12:00:00.000',3,0)"},
		"agents":            {"('112','anna','Анна','2026-01-10 12:00:00.000')"},
		"statuses":          {"('open','Открыт','new','2026-01-10 12:00:00.000')"},
		"messages":          {"('2026-01-01','vk','in','k',3)"},
		"broadcast_batches": {"(1,2,'news','test','vk','2026-01-01 12:00:00.000','2026-01-02 12:00:00.000','2026-01-03 12:00:00.000',15,5,4,3,2,1,'2026-01-10 12:00:00.000000')"},
	} {
		if diff := cmp.Diff(want, clickhousetest.Rows(t, db, "SELECT * FROM "+table)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", table, diff)
		}
	}
}

// Versions of one fact may come in any order and any number of times.
func TestVersions_AnyOrder(t *testing.T) {
	t.Parallel()
	db, _ := clickhousetest.New(t)
	event := func(version int64, kind analytics.Kind, deleted bool) analytics.Event {
		return analytics.Event{Issue: "i1", ID: "c1", Kind: kind, At: day(1), OpenedAt: day(0), Version: version, Deleted: deleted}
	}
	count := func(n int64) []analytics.Messages {
		return []analytics.Messages{{Day: day(0).Truncate(24 * time.Hour), Messenger: "vk", Direction: "in", Kind: "k", Count: n}}
	}
	batch := func(sent, hour int) []analytics.Batch {
		return []analytics.Batch{{Broadcast: 1, ID: 2, CreatedAt: day(0), Sent: sent, ReadAt: day(hour)}}
	}
	same := ticket("i1", 5) // a change that made no new version
	same.UpdatedAt, same.Status = same.UpdatedAt.Add(time.Second), "late"
	steps := []func() error{
		func() error { return db.InsertTickets(ctx, []analytics.Ticket{same}, day(1)) },
		func() error {
			return db.InsertTickets(ctx, []analytics.Ticket{ticket("i1", 5), ticket("i1", 3)}, day(2))
		},
		func() error { return db.InsertEvents(ctx, []analytics.Event{event(2, analytics.CommentOut, false)}) },
		func() error { return db.InsertEvents(ctx, []analytics.Event{event(1, analytics.CommentInside, false)}) },
		func() error { return db.InsertMessages(ctx, count(9)) },
		func() error { return db.InsertMessages(ctx, count(4)) },
		func() error { return db.InsertBatches(ctx, batch(1, 9)) },
		func() error { return db.InsertBatches(ctx, batch(7, 3)) },
	}
	check := func(what string) {
		t.Helper()
		for query, want := range map[string]string{
			"SELECT version, status FROM tickets_latest":  "(5,'late')",
			"SELECT kind FROM ticket_events FINAL":        "('comment_out')",
			"SELECT messages FROM messages FINAL":         "(9)",
			"SELECT sent FROM broadcast_batches FINAL":    "(1)",
			"SELECT count() FROM tickets FINAL":           "(2)",
			"SELECT count() FROM ticket_events FINAL":     "(1)",
			"SELECT count() FROM broadcast_batches FINAL": "(1)",
		} {
			if got := clickhousetest.Rows(t, db, query); len(got) != 1 || got[0] != want {
				t.Errorf("%s: %s: got %v, want %s", what, query, got, want)
			}
		}
	}
	for _, s := range steps {
		must(t, s())
	}
	check("in one order")
	slices.Reverse(steps)
	for _, s := range steps {
		must(t, s())
	}
	check("in the other")
	for _, table := range []string{"tickets", "ticket_events", "messages", "broadcast_batches"} {
		must(t, db.Exec(ctx, "OPTIMIZE TABLE "+table+" FINAL"))
	}
	check("merged")
	must(t, db.InsertEvents(ctx, []analytics.Event{event(3, analytics.CommentInside, true), event(2, analytics.CommentOut, false)}))
	if got := clickhousetest.Rows(t, db, "SELECT kind FROM ticket_events FINAL"); len(got) > 0 {
		t.Errorf("a deleted comment is there: %v", got)
	}
}

// What a replicated table would drop as a repetition is wanted when what it repeats
// was deleted.
func TestInsert_EqualBlocks(t *testing.T) {
	t.Parallel()
	db, _ := clickhousetest.New(t)
	at := day(1)
	versions := []analytics.Loaded{{Version: analytics.Version{Issue: "i1", Version: 1, UpdatedAt: at.UnixMilli()}, At: at.UnixMilli()}}
	for _, table := range []struct {
		name   string
		insert func() error
	}{
		{"tickets", func() error { return db.InsertTickets(ctx, []analytics.Ticket{ticket("i1", 1)}, at) }},
		{"tickets_now", func() error { return db.InsertTickets(ctx, []analytics.Ticket{ticket("i1", 1)}, at) }},
		{"tickets_gone", func() error { return db.InsertGone(ctx, versions, at) }},
		{"ticket_events", func() error {
			return db.InsertEvents(ctx, []analytics.Event{{Issue: "i1", ID: "created", Kind: analytics.Created, At: at, OpenedAt: at}})
		}},
	} {
		must(t, db.Exec(ctx, "ALTER TABLE "+table.name+" MODIFY SETTING non_replicated_deduplication_window = 100"))
		for range 2 {
			must(t, table.insert())
		}
		must(t, db.Exec(ctx, "DELETE FROM "+table.name+" WHERE issue = 'i1'"))
		must(t, table.insert())
		if got := clickhousetest.Rows(t, db, "SELECT issue FROM "+table.name+" FINAL"); len(got) != 1 {
			t.Errorf("%s: got %v, want one row", table.name, got)
		}
	}
}

// Open tickets that were not loaded for long, those that wait longest first; none that
// is over or gone.
func TestUnseen(t *testing.T) {
	t.Parallel()
	db, _ := clickhousetest.New(t)
	add := func(issue string, loaded int, phase analytics.Phase) {
		x := ticket(issue, 1)
		x.Phase = phase
		must(t, db.InsertTickets(ctx, []analytics.Ticket{x}, day(loaded)))
	}
	add("third", 3, analytics.New)
	add("first", 1, "")
	add("second", 2, analytics.Paused)
	add("over", 1, analytics.Done)
	add("cancelled", 1, analytics.Cancelled)
	add("seen", 9, analytics.New)
	add("gone", 1, analytics.New)
	add("owed", 1, analytics.New)
	loaded := func(issue string, at int) analytics.Loaded {
		return analytics.Loaded{Version: analytics.Version{Issue: issue, Version: 1, UpdatedAt: day(1).UnixMilli()}, At: day(at).UnixMilli()}
	}
	before := loaded("third", 3)
	before.Version.Version, before.UpdatedAt = 0, day(0).UnixMilli()
	must(t, db.InsertGone(ctx, []analytics.Loaded{loaded("gone", 1), before, loaded("second", 1)}, day(4)))
	for most, want := range map[int][]analytics.Loaded{2: {loaded("first", 1), loaded("second", 2)}, 50: {loaded("first", 1), loaded("second", 2), loaded("third", 3)}} {
		got, err := db.Unseen(ctx, day(5), most, []string{"owed"})
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%d: %v (-want +got):\n%s", most, err, diff)
		}
	}
	if got, err := db.Unseen(ctx, day(1), 50, nil); err != nil || len(got) > 0 {
		t.Errorf("before all: got %v, %v", got, err)
	}
	// It is shown again, as it was.
	known := func(want bool) {
		t.Helper()
		got, err := db.Known(ctx, []string{"gone"}, day(0))
		if err != nil || got[loaded("gone", 0).Version] != want {
			t.Errorf("known is %v, %v, want %t", got, err, want)
		}
	}
	known(false)
	add("gone", 5, analytics.New)
	known(true)
	if got, err := db.Unseen(ctx, day(6), 1, []string{"first", "second", "third", "owed"}); err != nil || len(got) != 1 || got[0] != loaded("gone", 5) {
		t.Errorf("shown again: got %v, %v", got, err)
	}
}

// Tickets of many years come in one block.
func TestInsert_ManyMonths(t *testing.T) {
	t.Parallel()
	db, _ := clickhousetest.New(t)
	var many []analytics.Ticket
	for n := range 150 {
		many = append(many, analytics.Ticket{Issue: fmt.Sprint(n), Version: 1, UpdatedAt: day(0), CreatedAt: day(0).AddDate(0, -n, 0)})
	}
	must(t, db.InsertTickets(ctx, many, day(1)))
	if got := clickhousetest.Rows(t, db, "SELECT count() FROM tickets"); got[0] != "(150)" {
		t.Errorf("got %v", got)
	}
}

func TestKnown(t *testing.T) {
	t.Parallel()
	db, _ := clickhousetest.New(t)
	must(t, db.InsertTickets(ctx, []analytics.Ticket{ticket("i1", 1), ticket("it's", 2)}, day(5)))
	version := func(issue string, v int64) analytics.Version {
		return analytics.Version{Issue: issue, Version: v, UpdatedAt: day(int(v)).UnixMilli()}
	}
	got, err := db.Known(ctx, []string{"i1", "it's", "i3"}, day(5))
	if diff := cmp.Diff(map[analytics.Version]bool{version("i1", 1): true, version("it's", 2): true}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if got, err = db.Known(ctx, []string{"i1"}, day(5).Add(time.Millisecond)); err != nil || len(got) > 0 {
		t.Errorf("of later loads: got %v, %v, want none", got, err)
	}
	if got, err = db.Known(ctx, nil, day(5)); err != nil || len(got) > 0 {
		t.Errorf("of no issues: got %v, %v", got, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
