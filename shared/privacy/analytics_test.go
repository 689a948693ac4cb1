package privacy_test

import (
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"supportbot/shared/analytics/loader"
	"supportbot/shared/clickhouse"
	"supportbot/shared/clickhouse/clickhousetest"
	"supportbot/shared/messenger"
	sandbox "supportbot/shared/sandbox/tracker"
	"supportbot/shared/ticket"
	"supportbot/shared/wiring/wiringtest"
)

// load loads everything since a day of February into ClickHouse.
func (b *bureau) load(rows *clickhouse.DB, day int) {
	b.t.Helper()
	l := loader.New(loader.Deps{
		Live: b.Bot.Tracker, History: b.Bot.Tracker, Records: b.DB, Store: rows, Rule: b.Rule, Catalogue: b.Catalogue,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Now: func() time.Time { return time.Now().Add(time.Hour) }, // it leaves out what is new
	})
	if _, err := l.Live(b.Context()); err != nil { // the counts
		b.t.Fatal(err)
	}
	for range 20 {
		r, err := l.Since(b.Context(), time.Date(2026, 2, day, 0, 0, 0, 0, time.UTC))
		if err != nil {
			b.t.Fatal(err)
		}
		if r.Done {
			return
		}
	}
	b.t.Fatal("the history has no end")
}

// columns gives all that is in a database of ClickHouse, by its tables.
func columns(t *testing.T, rows *clickhouse.DB) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, line := range clickhousetest.Rows(t, rows, `SELECT name FROM system.tables WHERE database = currentDatabase() AND engine NOT LIKE '%View'`) {
		table := strings.Trim(line, "()'")
		all[table] = strings.Join(clickhousetest.Rows(t, rows, "SELECT * FROM "+table), "\n")
	}
	return all
}

// TestErase_Analytics: ClickHouse has what is counted of a customer's tickets, before
// their erasure and after it, and nothing at any time that names them or that they said.
func TestErase_Analytics(t *testing.T) {
	t.Parallel()
	rows, _ := clickhousetest.New(t)
	b := newBureau(t)
	b.c.User = messenger.User{ID: b.c.User.ID, Name: "CANARY-name", Username: "CANARY_nick"}
	k := b.Open(b.c, "d1", ticket.Message{Key: "m", At: time.Now(), Content: messenger.Content{Text: "CANARY-text"}})
	b.Insert(wiringtest.Says(b.c, "c", "d1", "CANARY-comment"), wiringtest.Inbound(b.c, ticket.KindRate, "rate", 20, ticket.Rate{
		Customer: b.c, Ref: ticket.Ref{Draft: "d1"}, Score: 4, Remark: "CANARY-remark",
	}))
	b.Work()
	b.Reply(k, "/reply CANARY-answer")
	moved := b.Open(b.c, "d2")
	if _, err := b.Agent.Move(moved.Key, "BIL"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Agent.Do(k.ID, sandbox.Edit{Status: "resolved", Resolution: "fixed"}); err != nil {
		t.Fatal(err)
	}
	b.load(rows, 1)
	before := clickhousetest.Rows(t, rows, `SELECT count() FROM tickets`)[0]
	b.during("person.erase/forget/begun", func() {})
	b.over(`{"tickets": 2}`)
	b.load(rows, 2)
	if after := clickhousetest.Rows(t, rows, `SELECT count() FROM tickets`)[0]; after == before {
		t.Errorf("nothing was loaded after the erasure: %s versions, before %s", after, before)
	}
	got := clickhousetest.Rows(t, rows, `SELECT count(), max(rating), groupUniqArray(messenger) FROM tickets_latest`)[0]
	if want := "(2,4,['telegram'])"; got != want {
		t.Errorf("counted %s, want %s", got, want)
	}
	said := 0
	for table, text := range columns(t, rows) {
		for _, word := range []string{"CANARY", b.c.Address.Chat, b.c.Address.Bot, "Не печатает"} {
			if strings.Contains(text, word) {
				t.Errorf("%s has %s: %s", table, word, text)
			}
		}
		said += len(text)
	}
	if said == 0 {
		t.Error("ClickHouse is empty: the test shows nothing")
	}
}
