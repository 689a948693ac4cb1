package deploy_test

import (
	"io"
	"log/slog"
	"testing"

	"go.uber.org/goleak"

	"supportbot/shared/backend"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/redisdb"
)

func TestMain(m *testing.M) {
	backend.ServeClickHouse()
	redisdb.LogTo(slog.New(slog.NewTextHandler(io.Discard, nil)))
	// A function keeps its pool of connections as long as its instance lives.
	pools := goleak.IgnoreTopFunction("github.com/jackc/pgx/v5/pgxpool.(*Pool).backgroundHealthCheck")
	goleak.VerifyTestMain(m, append(backendtest.Goroutines(), pools)...)
}
