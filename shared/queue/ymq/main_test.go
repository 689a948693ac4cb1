package ymq_test

import (
	"testing"

	"go.uber.org/goleak"
)

// No call outlives its context.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("os/exec.(*Cmd).writerDescriptor.func1"), // the emulator, which ends with the process
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),      // idle connections of clients
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}
