package platform_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"supportbot/shared/broadcast"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/notification"
	"supportbot/shared/pace"
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
	for row, want := range map[string]string{
		"a messenger": fmt.Sprintf("Telegram %v messages/s, of which broadcasts %v, a chat %v/s (burst %d), a group 17/min; VK %v/s and %v",
			tg.All, tg.Broadcasts, tg.Chat.Rate, tg.Chat.Burst, vk.All, vk.Broadcasts),
		"a job: failures":                        fmt.Sprintf("%d, 5 s doubling", job.Attempts),
		"a job: lost leases without a new stage": fmt.Sprintf("%d, of %.0f s each", job.MaxLosses, job.Lease.Seconds()),
		"a job: all its time, waits included":    fmt.Sprintf("%.0f h", job.Budget.Hours()),
		"the backlog":                            fmt.Sprintf("%d,%03d due jobs", notification.DefaultBacklog/1000, notification.DefaultBacklog%1000),
		"`jobs`":                                 days(job.Keep),
		"`dead_letters`":                         days(job.Keep),
		"`recipients`":                           days(broadcast.Keep),
		"`broadcasts`, `batches`":                days(broadcast.Keep),
	} {
		if !strings.Contains(rows[row], want) {
			t.Errorf("the README's row %q is %q, want %q in it", row, rows[row], want)
		}
	}
}
