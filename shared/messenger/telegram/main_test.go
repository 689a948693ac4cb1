package telegram_test

import (
	"testing"

	"go.uber.org/goleak"
)

// Neither a poll nor a file on its way to Telegram outlives its call.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), // idle connections of clients
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}
