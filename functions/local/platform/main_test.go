package platform_test

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"

	"supportbot/shared/backend/backendtest"
)

// TestMain is also the entry of the children that crash tests start.
func TestMain(m *testing.M) {
	if os.Getenv(childConfig) != "" {
		child()
		return
	}
	flag.Parse()
	// These tests mostly wait: for the pace of a chat, for an album, for a lease.
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set("10")
	}
	// A function keeps its pool of connections as long as its instance lives.
	pools := goleak.IgnoreTopFunction("github.com/jackc/pgx/v5/pgxpool.(*Pool).backgroundHealthCheck")
	goleak.VerifyTestMain(m, append(backendtest.Goroutines(), pools)...)
}
