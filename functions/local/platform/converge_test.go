package platform_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"supportbot/shared/broadcast"
	"supportbot/shared/gauge"
	"supportbot/shared/messenger"
	"supportbot/shared/queue"
	"supportbot/shared/ticket"
)

// What the reconciler and the services' own memory bring back. Other losses: of hints
// TestAway_Queue, TestBadQueue; of triggers' calls TestTriggers; of VK's calls
// TestMissed.

// TestWebhookOff: Telegram keeps what is written while the bot has no webhook, and
// brings it hours later: everything is in the ticket once, in its order.
func TestWebhookOff(t *testing.T) {
	t.Parallel()
	var ago atomic.Int64
	ago.Store(int64(3 * time.Hour))
	w := newWorld(t, func(w *world) { w.now = func() time.Time { return time.Now().Add(-time.Duration(ago.Load())) } })
	c := w.telegramCustomer(telegramID)
	opened(w, c, "Принтер")
	w.quiet()
	res, err := http.Post(w.env["TELEGRAM_API_URL"]+"/bot"+telegramToken+"/deleteWebhook", "application/json", nil) //nolint:noctx // it ends with the server
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("take the webhook away: %v", err)
	}
	_ = res.Body.Close()
	writeMany(c, 3)
	w.check("what Telegram keeps", w.telegram.Undelivered(), 3)
	w.check("comments meanwhile", len(comments(w.ticketOf("Принтер"), "строка")), 0)
	ago.Store(0)
	w.telegram.Connect(w.url+"/telegram", secret)
	w.commented("строка 3")
	w.quiet()
	var got []string
	for _, cm := range comments(w.ticketOf("Принтер"), "строка") {
		_, number, _ := strings.Cut(cm.Text, "строка ")
		got = append(got, number[:1])
	}
	if want := []string{"1", "2", "3"}; !slices.Equal(got, want) {
		t.Errorf("comments %v, want %v", got, want)
	}
}

// TestBroadcast_BatchVanished: the job of the last batch is gone from the database; the
// reconciler makes another, and everybody gets the news once.
func TestBroadcast_BatchVanished(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.key()
	all := w.registered(w.telegramCustomer(telegramID), 3)
	w.quiet()
	bot, _, _ := strings.Cut(telegramToken, ":")
	letGo := w.hold(broadcast.Lane(messenger.Telegram, bot).Name)
	b := w.sent("news", news("Новость"))
	w.until("it is planned", 1, `SELECT count(*) FROM jobs WHERE kind = 'broadcast.batch'`)
	w.exec(`DELETE FROM jobs WHERE kind = 'broadcast.batch'`)
	letGo()
	if done := w.became(b.ID, broadcast.Finished); done.Counts != (broadcast.Counts{Total: 3, Sent: 3}) {
		t.Errorf("counts %+v", done.Counts)
	}
	for i, c := range all {
		w.check(fmt.Sprintf("the news at customer %d", i), saw(c, "Новость"), 1)
	}
}

// TestDeadLetters: what the queues give up is in the database and shown, operators are
// told, and nothing is left in the queue.
func TestDeadLetters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.key()
	opened(w, w.telegramCustomer(telegramID), "Принтер")
	w.quiet()
	id := int64(w.count(`SELECT max(id) FROM jobs WHERE queue = $1`, ticket.QueueTickets))
	if err := w.queue.Publish(w.ctx, queue.Dead(ticket.QueueTickets), queue.Hint{Job: id, CorrelationID: "telegram:1:2"}, queue.Hint{}); err != nil {
		t.Fatal(err)
	}
	w.until("both are kept", 2, `SELECT count(*) FROM dead_letters`)
	w.until("operators are told", 1, `SELECT count(*) FROM alarms WHERE name = 'dead'`)
	w.poll("their queue is empty", func() bool {
		n, err := w.queue.Count(w.ctx, queue.Dead(ticket.QueueTickets))
		return n == 0 && err == nil
	})
	var page struct {
		Letters []struct {
			Job   *int64
			State string
		} `json:"dead_letters"`
	}
	if status, text := w.api("GET", "/v1/dead-letters", nil, &page); status != http.StatusOK || len(page.Letters) != 2 {
		t.Fatalf("%d %s", status, text)
	}
	if none, of := page.Letters[0], page.Letters[1]; none.Job != nil || of.Job == nil || *of.Job != id || of.State != "completed" {
		t.Errorf("letters %+v", page)
	}
	w.check("the finished job's failures", w.count(`SELECT jsonb_array_length(failures) FROM jobs WHERE id = $1`, id), 0)

	// What the first pass measured, of each kind of source.
	w.until("something was measured", 1, `SELECT count(*) FROM gauges`)
	var got struct {
		At     time.Time
		Gauges []gauge.Sample
	}
	if status, text := w.api("GET", "/v1/gauges", nil, &got); status != http.StatusOK || got.At.IsZero() {
		t.Fatalf("%d %s", status, text)
	}
	for _, want := range []string{"queue_messages.broadcasts", "limiter_wait_seconds.answers.tracker", "limiter_wait_seconds.broadcasts.vk", "jobs_in_review", "duty_age_seconds.poll"} {
		if !slices.ContainsFunc(got.Gauges, func(s gauge.Sample) bool { return s.Key() == want }) {
			t.Errorf("%s was not measured: %+v", want, got.Gauges)
		}
	}
}
