package messengertest

import "testing"

// Run runs the suite. setup gives a new harness each time, for the given test
// only; what it starts ends with the test.
func Run(t *testing.T, setup func(t *testing.T) Harness) {
	t.Helper()
}
