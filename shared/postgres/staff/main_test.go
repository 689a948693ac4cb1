package staff_test

import (
	"testing"

	"go.uber.org/goleak"

	"supportbot/shared/backend/backendtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, backendtest.Goroutines()...) }
