package postgres_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"supportbot/shared/analytics"
	"supportbot/shared/messenger"
	"supportbot/shared/ticket"
)

// midday is one of the days before today, in UTC.
func midday(s *studio, ago int) time.Time {
	return get[time.Time](s, `SELECT date_trunc('day', clock_timestamp(), 'UTC') + interval '12 hours' - make_interval(days => $1)`, ago).UTC()
}

func TestCountMessages(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	tg := messenger.Address{Messenger: messenger.Telegram, Bot: telegramBot, Chat: "1"}
	vk := messenger.Address{Messenger: messenger.VK, Bot: vkBot, Chat: "2"}
	n := 0
	add := func(queue, kind, lane, state string, made, ended time.Time) {
		n++
		s.exec(`INSERT INTO jobs (queue, kind, key, lane, strict, state, payload, created_at, finished_at)
			VALUES ($1, $2, 'k' || $3::int, $4, true, $5, '{}', $6, $7)`, queue, kind, n, lane, state, made, ended)
	}
	today, yesterday, old := midday(s, 0), midday(s, 1), midday(s, 40)
	edge := yesterday.Add(12*time.Hour - time.Microsecond) // the day's last moment
	add(ticket.QueueTickets, ticket.KindCreate, ticket.InboundLane(tg), "completed", yesterday, today)
	add(ticket.QueueTickets, ticket.KindComment, ticket.InboundLane(tg), "accepted", edge, today)
	add(ticket.QueueTickets, ticket.KindComment, ticket.InboundLane(tg), "needs_review", yesterday, today)
	add(ticket.QueueTickets, ticket.KindComment, ticket.InboundLane(vk), "completed", edge.Add(time.Microsecond), today)
	add(ticket.QueueTickets, ticket.KindNote, ticket.InboundLane(vk), "completed", today, today) // nobody's message
	add(ticket.QueueDeliveries, ticket.KindAnswer, ticket.OutboundLane(vk), "completed", yesterday, today)
	add(ticket.QueueDeliveries, ticket.KindAnswer, ticket.OutboundLane(vk), "accepted", today, today) // not sent
	add(ticket.QueueTickets, ticket.KindCreate, ticket.InboundLane(tg), "completed", old, old)        // its day is not whole any more
	day := func(t time.Time) time.Time { return t.Truncate(24 * time.Hour) }
	want := []analytics.Messages{
		{Day: day(yesterday), Messenger: "telegram", Direction: "in", Kind: ticket.KindComment, Count: 2},
		{Day: day(yesterday), Messenger: "telegram", Direction: "in", Kind: ticket.KindCreate, Count: 1},
		{Day: day(today), Messenger: "vk", Direction: "in", Kind: ticket.KindComment, Count: 1},
		{Day: day(today), Messenger: "vk", Direction: "out", Kind: ticket.KindAnswer, Count: 1},
	}
	for name, since := range map[string]time.Time{"ever": {}, "yesterday's night": yesterday.Add(11 * time.Hour)} {
		got, err := s.db.CountMessages(s.ctx, since)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("since %s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	if got, err := s.db.CountMessages(s.ctx, today); err != nil || len(got) != 2 {
		t.Errorf("of today: got %v, %v, want two", got, err)
	}
}

func TestCountBatches(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	week, hour := midday(s, 7), get[time.Time](s, `SELECT clock_timestamp() - interval '1 hour'`)
	broadcast := func(state string, finished *time.Time) int64 {
		return get[int64](s, `INSERT INTO broadcasts (kind, state, content, audience, created_by, created_at, finished_at)
			VALUES ('news', $1, '{}', '{}', 'x', $2, $3) RETURNING id`, state, week, finished)
	}
	batch := func(of int64, number int, done *time.Time) {
		s.exec(`INSERT INTO batches (broadcast, messenger, bot, number, size, sent, uncertain, started_at, done_at)
			VALUES ($1, 'vk', 'b', $2, 9, 7, 2, $3, $4)`, of, number, week, done)
	}
	over, running := broadcast("finished", &week), broadcast("running", nil)
	batch(over, 1, &week)
	batch(running, 1, &week)
	batch(running, 2, &hour)
	batch(running, 3, nil)
	all, err := s.db.CountBatches(s.ctx, time.Time{})
	if err != nil || len(all) != 4 {
		t.Fatalf("ever: got %+v, %v, want 4", all, err)
	}
	want := analytics.Batch{
		Broadcast: over, ID: all[0].ID, Kind: "news", Messenger: "vk", CreatedAt: week, StartedAt: week, DoneAt: week, Size: 9, Sent: 7, Uncertain: 2,
	}
	if diff := cmp.Diff(want, all[0], cmpopts.IgnoreFields(want, "ReadAt"), cmpopts.EquateApproxTime(0)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	recent, err := s.db.CountBatches(s.ctx, midday(s, 2))
	if err != nil || len(recent) != 2 || recent[0].ID != all[2].ID || !recent[1].DoneAt.IsZero() {
		t.Errorf("of late: got %+v, %v, want the last two", recent, err)
	}
}

// A load begins once, moves on only, and may be written twice.
func TestLoads(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	begin := midday(s, 30)
	l := analytics.Load{Name: "l", Since: begin, Until: midday(s, 1), Reached: begin, StartedAt: midday(s, 0)}
	for range 2 {
		got, err := s.db.BeginLoad(s.ctx, l)
		want := l
		want.Remaining = -1
		if diff := cmp.Diff(want, got, cmpopts.EquateApproxTime(0)); diff != "" || err != nil {
			t.Errorf("begin: %v (-want +got):\n%s", err, diff)
		}
	}
	if none, err := s.db.Load(s.ctx, "other"); none != nil || err != nil {
		t.Errorf("got %v, %v, want none", none, err)
	}
	advance := func(a analytics.Advance) analytics.Load {
		t.Helper()
		a.Name = "l"
		if err := s.db.AdvanceLoad(s.ctx, a); err != nil {
			t.Fatal(err)
		}
		got, err := s.db.Load(s.ctx, "l")
		if err != nil {
			t.Fatal(err)
		}
		return *got
	}
	got := advance(analytics.Advance{Reached: midday(s, 20), Tickets: 5, Remaining: 7, Owed: []analytics.Owed{{Issue: "i1", Error: "x"}, {Issue: "i2", Error: "x"}}})
	if !got.Reached.Equal(midday(s, 20)) || got.Tickets != 5 || got.Remaining != 7 || !got.FinishedAt.IsZero() {
		t.Errorf("got %+v", got)
	}
	got = advance(analytics.Advance{Reached: midday(s, 25), Tickets: 1, Remaining: -1, Finished: true, Owed: []analytics.Owed{{Issue: "i1", Error: "y"}}})
	if !got.Reached.Equal(midday(s, 20)) || got.Tickets != 6 || got.Remaining != 7 || got.FinishedAt.IsZero() {
		t.Errorf("from one that was overtaken: got %+v", got)
	}
	owed, err := s.db.OwedTickets(s.ctx, 5)
	if diff := cmp.Diff([]string{"i2", "i1"}, owed); diff != "" || err != nil {
		t.Errorf("owed: %v %s", err, diff)
	}
	finished := got.FinishedAt
	if got = advance(analytics.Advance{Reached: midday(s, 20), Finished: true, Remaining: 0, Settled: []string{"i1", "i3"}}); !got.FinishedAt.Equal(finished) {
		t.Errorf("finished twice, at %s and %s", finished, got.FinishedAt)
	}
	if owed, err = s.db.OwedTickets(s.ctx, 5); err != nil || len(owed) != 1 {
		t.Errorf("owed are %v, %v, want i2", owed, err)
	}
	if forgotten, err := s.db.ForgetLoads(s.ctx, "counts"); !forgotten || err != nil {
		t.Errorf("forgotten %v, %v", forgotten, err)
	}
	if none, err := s.db.Load(s.ctx, "l"); none != nil || err != nil {
		t.Errorf("got %v, %v, want none", none, err)
	}
	if _, err := s.db.BeginLoad(s.ctx, l); err != nil {
		t.Fatal(err)
	}
	if forgotten, err := s.db.ForgetLoads(s.ctx, "counts"); forgotten || err != nil {
		t.Errorf("one that loaded nothing: forgotten %v, %v", forgotten, err)
	}
}
