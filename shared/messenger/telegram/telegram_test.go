package telegram_test

import (
	"testing"

	"supportbot/shared/messenger/messengertest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	messengertest.Run(t, func(t *testing.T) messengertest.Harness { return newHarness(t) })
}
