package notification_test

import (
	"testing"

	"go.uber.org/goleak"

	"supportbot/shared/backend"
	"supportbot/shared/backend/backendtest"
)

func TestMain(m *testing.M) {
	backend.ServeClickHouse()
	goleak.VerifyTestMain(m, backendtest.Goroutines()...)
}
