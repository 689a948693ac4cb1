package host_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"supportbot/shared/backend"
	"supportbot/shared/clickhouse/clickhousetest"
	sandboxtracker "supportbot/shared/sandbox/tracker"
)

func TestMain(m *testing.M) {
	backend.ServeClickHouse()
	os.Exit(m.Run())
}

// loadsTickets: the timer's call and one with a time in it bring a ticket of an hour
// ago, and what happened to it, into ClickHouse.
func loadsTickets(t *testing.T) {
	w := newWorld(t)
	db, address := clickhousetest.New(t)
	past := sandboxtracker.New(sandboxtracker.Config{
		Token: trackerToken, OrgID: "77", Now: func() time.Time { return time.Now().Add(-time.Hour) },
	})
	t.Cleanup(past.Close)
	if _, err := past.As("agent").Create(sandboxtracker.NewTicket{Summary: "CANARY-subject"}); err != nil {
		t.Fatal(err)
	}
	p := w.function("analytics-loader", map[string]string{"CLICKHOUSE_URL": address, "TRACKER_API_URL": serve(t, past)})
	timer := `{"messages":[{"event_metadata":{"event_type":"yandex.cloud.events.serverless.triggers.TimerMessage"},"details":{"trigger_id":"t","payload":""}}]}`
	for _, event := range []string{timer, `{"since":"2020-01-01"}`} {
		a, err := p.Call([]byte(event))
		if err != nil {
			t.Fatal(err)
		}
		var report struct{ Done bool }
		if err := json.Unmarshal(a.Result, &report); a.Error != nil || err != nil || !report.Done {
			t.Fatalf("got %s, %v, want it done", a.Result, a.Error)
		}
	}
	for _, table := range []string{"tickets", "tickets_now", "ticket_events", "agents", "statuses"} {
		if got := strings.Join(clickhousetest.Rows(t, db, "SELECT * FROM "+table), "\n"); got == "" && table != "agents" || strings.Contains(got, "CANARY") {
			t.Errorf("%s has %q", table, got)
		}
	}
	if got := clickhousetest.Rows(t, db, "SELECT t.key, e.kind FROM tickets_latest t JOIN ticket_events e USING (issue) WHERE e.kind = 'created'"); len(got) != 1 || got[0] != "('SUP-1','created')" {
		t.Errorf("got %v, want the ticket and its beginning", got)
	}
}
