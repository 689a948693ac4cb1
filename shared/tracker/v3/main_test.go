package v3_test

import (
	"testing"

	"go.uber.org/goleak"
)

// The client leaves no goroutine behind: no transfer, no watch over one.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
