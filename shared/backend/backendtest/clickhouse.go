package backendtest

import (
	"testing"

	"supportbot/shared/backend"
)

// ClickHouse gives the process's ClickHouse; package clickhousetest makes databases
// on it. The package's TestMain has to begin with backend.ServeClickHouse.
func ClickHouse(tb testing.TB) *backend.Server {
	tb.Helper()
	return process.clickhouse.get(tb)
}

// ClickHouseServer starts a ClickHouse for this test alone, which may stop, kill and
// start it.
func ClickHouseServer(tb testing.TB, opts backend.Options) *backend.Server {
	tb.Helper()
	return own(tb, backend.ClickHouse, opts)
}
