package notification_test

import (
	"os"
	"testing"

	"supportbot/shared/backend"
)

func TestMain(m *testing.M) {
	backend.ServeClickHouse()
	os.Exit(m.Run())
}
