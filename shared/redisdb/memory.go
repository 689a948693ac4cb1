package redisdb

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// Memory tells whether this Redis still knows what it knew: one that was wiped, or
// an empty one in its place, has no marks.
type Memory struct{ client redis.UniversalClient }

// NewMemory makes it on an opened client.
func NewMemory(client redis.UniversalClient) *Memory { return &Memory{client} }

func markKey(name string) string { return "mark:" + name }

// Mark leaves a mark. It stays until Redis is wiped.
func (m *Memory) Mark(ctx context.Context, name string) error {
	if err := m.client.Set(ctx, markKey(name), 1, 0).Err(); err != nil {
		return fmt.Errorf("leave mark: %w", err)
	}
	return nil
}

// Marked reports whether the mark is still there.
func (m *Memory) Marked(ctx context.Context, name string) (bool, error) {
	n, err := m.client.Exists(ctx, markKey(name)).Result()
	if err != nil {
		return false, fmt.Errorf("look for mark: %w", err)
	}
	return n == 1, nil
}
