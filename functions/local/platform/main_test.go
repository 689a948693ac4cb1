package platform_test

import (
	"flag"
	"os"
	"testing"
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
	os.Exit(m.Run())
}
