package redisdb

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/redis/go-redis/v9"
)

// LogTo takes what the Redis client says besides the errors that it gives, which it
// would print as plain lines: they become debug entries. The setting is the whole
// process's, so only a main package calls it, before it opens a client.
func LogTo(log *slog.Logger) { redis.SetLogger(clientLog{log}) }

type clientLog struct{ log *slog.Logger }

// Printf implements the client's interface for logs.
func (l clientLog) Printf(ctx context.Context, format string, values ...any) {
	l.log.DebugContext(ctx, fmt.Sprintf(format, values...))
}
