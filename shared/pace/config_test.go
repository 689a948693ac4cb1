package pace_test

import (
	"testing"

	"supportbot/shared/env"
	"supportbot/shared/messenger"
	"supportbot/shared/pace"
)

func TestConfigFrom_ABotOfTwoPrograms(t *testing.T) {
	t.Parallel()
	vars := map[string]string{"TELEGRAM_RATE_PER_SECOND": "15"}
	c := pace.ConfigFrom(env.NewReaderFrom(func(name string) (string, bool) { v, ok := vars[name]; return v, ok }))
	for name, want := range map[messenger.Name][2]float64{messenger.Telegram: {15, 10}, messenger.VK: {18, 15}} {
		if got := c.Messengers[name]; got.All != want[0] || got.Broadcasts != want[1] {
			t.Errorf("%s: %v in all, of which broadcasts %v; want %v", name, got.All, got.Broadcasts, want)
		}
	}
}
