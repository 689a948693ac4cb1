package storm

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// limiter listens to what the limiter's script writes, as Redis tells who monitors it.
type limiter struct {
	conn net.Conn
	over chan struct{} // closed when nothing is heard any more

	mu     sync.Mutex
	places []Place
	last   time.Time // of the script that is heard
	eras   map[string]int
	era    int
}

// placesKey is how the keys begin under which Redis has places.
const placesKey = "pace:places:"

func listen(ctx context.Context, address string) (*limiter, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("listen to Redis: %w", err)
	}
	l := &limiter{over: make(chan struct{}), eras: map[string]int{}}
	if l.conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", u.Host); err != nil {
		return nil, fmt.Errorf("listen to Redis: %w", err)
	}
	if _, err := l.conn.Write([]byte("MONITOR\r\n")); err != nil {
		return nil, errors.Join(fmt.Errorf("listen to Redis: %w", err), l.conn.Close())
	}
	go l.hear()
	return l, nil
}

// longest is how long a line may be: conversations are in it.
const longest = 16 << 20

// hear understands lines like
//
//	1700000000.123456 [0 lua] "ZADD" "pace:places:<shared key>" "<at>" "<at>"
//	1700000000.123456 [0 lua] "SET" "pace:places:<key of a chat>" "<theoretical arrival>" "PX" "<ttl>"
//
// A chat's place is that of its bot, which the same script wrote just before.
func (l *limiter) hear() {
	defer close(l.over)
	lines := bufio.NewScanner(l.conn)
	lines.Buffer(nil, longest)
	for lines.Scan() {
		if words := strings.SplitN(lines.Text(), `"`, 7); len(words) > 2 {
			l.command(words)
		}
	}
}

func (l *limiter) command(words []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := strings.ToUpper(words[1])
	if name == "FLUSHALL" {
		l.era++
		return
	}
	if len(words) < 4 {
		return
	}
	key, ours := strings.CutPrefix(words[3], placesKey)
	switch {
	case !ours:
		return
	case name == "DEL":
		l.eras[key]++
		return
	case name == "ZADD" && len(words) > 5:
		at, err := strconv.ParseInt(words[5], 10, 64)
		if err != nil {
			return
		}
		l.last = time.UnixMicro(at)
	case name != "SET":
		return
	}
	l.places = append(l.places, Place{key, l.last, l.era + l.eras[key]})
}

// given lists the places that were given so far.
func (l *limiter) given() ([]Place, error) {
	select {
	case <-l.over:
		return nil, errors.New("nothing more is heard of Redis")
	default:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.places), nil
}

func (l *limiter) close() error {
	err := l.conn.Close()
	<-l.over
	return err
}
