package platform_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"supportbot/shared/broadcast"
	"supportbot/shared/broadcasting"
	"supportbot/shared/conversation"
	"supportbot/shared/delivery"
	"supportbot/shared/env"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/messenger/all"
	lookup "supportbot/shared/news"
	"supportbot/shared/notification"
	"supportbot/shared/pace"
	"supportbot/shared/ticket"
)

// TestReadme_Limits: the README's tables have the numbers that the code has.
func TestReadme_Limits(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(root + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for _, line := range strings.Split(string(raw), "\n") {
		if cells := strings.Split(line, "|"); len(cells) > 3 {
			rows[strings.TrimSpace(cells[1])] = strings.TrimSpace(cells[2])
		}
	}
	days := func(d time.Duration) string { return fmt.Sprintf("%.0f days", d.Hours()/24) }
	tg, vk := pace.DefaultRates()[messenger.Telegram], pace.DefaultRates()[messenger.VK]
	flood := conversation.DefaultFlood()
	files := map[messenger.Name]messenger.Limits{}
	for _, m := range adapters(t) {
		files[m.Name()] = m.Limits()
	}
	for row, want := range map[string]string{
		"a messenger": fmt.Sprintf("Telegram %v messages/s, of which broadcasts %v, a chat %v/s (burst %d), a group %.0f/min; VK %v/s and %v",
			tg.All, tg.Broadcasts, tg.Chat.Rate, tg.Chat.Burst, tg.Group.Rate*60, vk.All, vk.Broadcasts),
		"a customer":                             fmt.Sprintf("%d messages at once, then %.0f/s", flood.Burst, time.Second.Seconds()/flood.Every.Seconds()),
		"a job: a service that is away":          fmt.Sprintf("%.0f h", job.Patience.Hours()),
		"a run":                                  fmt.Sprintf("%d jobs or %.0f s of a lane; ends %.0f s before", job.DrainJobs, job.DrainTime.Seconds(), job.StopBefore.Seconds()),
		"a call's body":                          fmt.Sprintf("API and messengers %d MiB, triggers %d KiB", notification.BodyMost>>20, lookup.BodyMost>>10),
		"a customer's file":                      fmt.Sprintf("Telegram %d MB, VK %d MB", files[messenger.Telegram].Download>>20, files[messenger.VK].Download>>20),
		"an agent's file":                        fmt.Sprintf("Telegram %d MB, VK %d MB", files[messenger.Telegram].Upload>>20, files[messenger.VK].Upload>>20),
		"a broadcast's batch":                    fmt.Sprintf("%d,%03d recipients, 300 s", broadcast.BatchSize/1000, broadcast.BatchSize%1000),
		"a job: failures":                        fmt.Sprintf("%d, 5 s doubling", job.Attempts),
		"a job: lost leases without a new stage": fmt.Sprintf("%d, of %.0f s each", job.MaxLosses, job.Lease.Seconds()),
		"a job: all its time, waits included":    fmt.Sprintf("%.0f h", job.Budget.Hours()),
		"the backlog":                            fmt.Sprintf("%d,%03d due jobs", notification.DefaultBacklog/1000, notification.DefaultBacklog%1000),
		"`jobs`":                                 days(job.Keep),
		"`dead_letters`":                         days(job.Keep),
		"`duties`":                               days(job.Keep),
		"`recipients`":                           days(broadcast.Keep),
		"`broadcasts`, `batches`":                days(broadcast.Keep),
	} {
		if !strings.Contains(rows[row], want) {
			t.Errorf("the README's row %q is %q, want %q in it", row, rows[row], want)
		}
	}
	waits := fmt.Sprintf("an answer longer than %.0f s, a copy of a broadcast longer than %.0f s", delivery.PaceWait.Seconds(), broadcasting.LongWait.Seconds())
	if !strings.Contains(string(raw), waits) {
		t.Errorf("the README does not say how long is waited for a place: %s", waits)
	}
}

// adapters are the messengers as a deployment has them.
func adapters(t *testing.T) all.Adapters {
	t.Helper()
	vars := map[string]string{
		"TELEGRAM_TOKEN": telegramToken, "TELEGRAM_WEBHOOK_SECRET": secret, "VK_TOKEN": vkToken, "VK_GROUP_ID": "209", "VK_SECRET": secret, "VK_CONFIRMATION": "x",
	}
	cfg := all.ConfigFrom(env.NewReaderFrom(func(name string) (string, bool) { v, ok := vars[name]; return v, ok }))
	messengers, err := all.New(cfg, slog.New(slog.NewTextHandler(io.Discard, nil)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return messengers
}

// TestBacklog: while more waits than may, the API takes nothing that would add to it and
// says when to come again; customers and agents are served as ever.
func TestBacklog(t *testing.T) {
	t.Parallel()
	eachMessenger(t, func(t *testing.T, w *world, c customer) {
		w.key()
		k := opened(w, c, "Принтер")
		w.quiet()
		for _, queue := range []string{ticket.QueueTickets, ticket.QueueDeliveries, broadcast.Queue} {
			w.hold("crowd of " + queue) // nobody gets through it
			w.exec(`INSERT INTO jobs (queue, kind, key, lane, strict, payload)
				SELECT $1, 'test', $1 || ' ' || n, 'crowd of ' || $1, true, '{}' FROM generate_series(0, $2::int) n`, queue, notification.DefaultBacklog)
		}
		res := w.answer(call{http.MethodPost, "/v1/broadcasts", http.Header{"X-Api-Key": {apiKey}, "Idempotency-Key": {"1"}},
			[]byte(`{"kind":"news","texts":{"ru":"Новость"},"audience":{}}`)})
		if res.StatusCode != http.StatusTooManyRequests || res.Header.Get("Retry-After") == "" {
			t.Errorf("a broadcast: %d, Retry-After %q, want 429 and a time", res.StatusCode, res.Header.Get("Retry-After"))
		}
		w.check("broadcasts", w.count(`SELECT count(*) FROM broadcasts`), 0)
		c.write("CANARY-дополнение")
		w.commented("дополнение")
		w.reply(k, "ответ в толпе")
		c.sees("ответ в толпе")
		opened(w, c, "Сканер")
		w.exec(`DELETE FROM jobs WHERE kind = 'test'`)
		w.quiet()
	})
}

// answer makes a call and gives what was answered, without its body.
func (w *world) answer(c call) *http.Response {
	w.t.Helper()
	res, err := w.front.forward(w.ctx, c)
	if err != nil {
		w.t.Fatal(err)
	}
	_ = res.Body.Close()
	return res
}
