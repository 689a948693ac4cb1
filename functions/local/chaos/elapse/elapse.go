// Package elapse lets time pass for the platform without waiting for it: every lease,
// wait and age in its databases is so much further on. Where somebody works meanwhile
// they lose what they hold.
package elapse

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/redis/go-redis/v9"
)

// Database is a connection or a pool of them.
type Database interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// Pass lets so much time pass in both databases.
func Pass(ctx context.Context, db Database, memory redis.Scripter, d time.Duration) error {
	for _, sql := range []string{
		`UPDATE lanes SET lease_until = lease_until - $1::interval`,
		`UPDATE duties SET lease_until = lease_until - $1::interval`,
		`UPDATE jobs SET run_at = run_at - $1::interval, stage_at = stage_at - $1::interval,
			published_at = published_at - $1::interval, gather_until = gather_until - $1::interval WHERE open`,
		`UPDATE recipients SET claimed_at = claimed_at - $1::interval, not_before = not_before - $1::interval WHERE outcome IS NULL`,
	} {
		if _, err := db.Exec(ctx, sql, d); err != nil {
			return fmt.Errorf("let time pass: %w", err)
		}
	}
	if err := remembered.Run(ctx, memory, nil, d.Milliseconds()).Err(); err != nil {
		return fmt.Errorf("let time pass: %w", err)
	}
	return nil
}

// remembered moves the times that package redisdb keeps of conversations (of leases, of
// entries, of the index) and ends the pauses of the pace. Its places stay: they are a
// few seconds away at most, and the services count the calls that had them.
var remembered = redis.NewScript(`
for _, conv in ipairs(redis.call('KEYS', 'conversation:*')) do
  local all = redis.call('HGETALL', conv)
  for i = 1, #all, 2 do
    if all[i] == 'lu' or string.sub(all[i], 1, 2) == 't:' then
      redis.call('HSET', conv, all[i], string.format('%.0f', tonumber(all[i + 1]) - tonumber(ARGV[1])))
    end
  end
end
for _, name in ipairs(redis.call('ZRANGE', 'conversations:pending', 0, -1)) do
  redis.call('ZINCRBY', 'conversations:pending', -tonumber(ARGV[1]), name)
end
for _, kind in ipairs({'pause', 'refused'}) do
  for _, key in ipairs(redis.call('KEYS', 'pace:' .. kind .. ':*')) do
    redis.call('DEL', key)
  end
end
return 0
`)
