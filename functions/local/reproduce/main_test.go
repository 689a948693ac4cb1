package reproduce_test

import (
	"io"
	"log/slog"
	"os"
	"testing"

	"supportbot/shared/backend"
	"supportbot/shared/redisdb"
)

func TestMain(m *testing.M) {
	backend.ServeClickHouse()
	redisdb.LogTo(slog.New(slog.NewTextHandler(io.Discard, nil)))
	os.Exit(m.Run())
}
