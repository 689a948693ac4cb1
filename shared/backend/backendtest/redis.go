package backendtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"supportbot/shared/backend"
)

// Redis gives the URL of an empty numbered database on the process's Redis, for
// this test alone: keys, scripts' keys, FLUSHDB and SCAN see nothing else. What
// databases share (FLUSHALL, CONFIG, channels, the clock) needs a RedisServer.
func Redis(tb testing.TB) string {
	tb.Helper()
	server := process.redis.get(tb).URL()
	number, err := process.numbers.take()
	require(tb, err)
	url := fmt.Sprintf("%s/%d", strings.TrimSuffix(server, "/0"), number)
	tb.Cleanup(func() {
		if err := flush(url); err != nil {
			tb.Errorf("empty Redis after test: %v", err)
			return // the number is not used again
		}
		process.numbers.put(number)
	})
	return url
}

func flush(url string) error {
	opts, err := redis.ParseURL(url)
	if err != nil {
		return err
	}
	client := redis.NewClient(opts)
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return client.FlushDB(ctx).Err()
}

// numbers are the database numbers in use; 0 is left to people who look around.
type numbers struct {
	mu   sync.Mutex
	last int
	free []int
}

func (n *numbers) take() (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.free) > 0 {
		number := n.free[len(n.free)-1]
		n.free = n.free[:len(n.free)-1]
		return number, nil
	}
	if n.last+1 >= backend.Databases {
		return 0, errors.New("take Redis database: all are in use")
	}
	n.last++
	return n.last, nil
}

func (n *numbers) put(number int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.free = append(n.free, number)
}
