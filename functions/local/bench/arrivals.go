package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// answerText tells an answer from news.
const answerText = "answer-to-a-question"

// arrivals notes when messages come to a messenger.
type arrivals struct {
	next http.Handler

	mu            sync.Mutex
	news, answers []time.Time
}

// ServeHTTP implements http.Handler.
func (a *arrivals) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/sendMessage") {
		a.next.ServeHTTP(w, r)
		return
	}
	now := time.Now()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // it never came
	}
	a.mu.Lock()
	if bytes.Contains(body, []byte(answerText)) {
		a.answers = append(a.answers, now)
	} else {
		a.news = append(a.news, now)
	}
	a.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	a.next.ServeHTTP(w, r)
}

// begun waits for the first of the news.
func (a *arrivals) begun(ctx context.Context) error {
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		a.mu.Lock()
		n := len(a.news)
		a.mu.Unlock()
		if n > 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// between gives the arrivals within d after the first of the news.
func (a *arrivals) between(d time.Duration) (news, all []time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	end := a.news[0].Add(d)
	for _, t := range a.news {
		if t.Before(end) {
			news, all = append(news, t), append(all, t)
		}
	}
	for _, t := range a.answers {
		if t.Before(end) {
			all = append(all, t)
		}
	}
	return news, all
}

// places is what the limiter's script gave, as Redis tells who monitors it.
type places struct {
	conn net.Conn
	read chan struct{} // closed when nothing is read any more

	mu    sync.Mutex
	given map[string][]time.Time // by key
}

func watchPlaces(ctx context.Context, address string) (*places, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("watch places: %w", err)
	}
	p := &places{read: make(chan struct{}), given: map[string][]time.Time{}}
	if p.conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", u.Host); err == nil {
		_, err = p.conn.Write([]byte("MONITOR\r\n"))
	}
	if err != nil {
		return nil, fmt.Errorf("watch places: %w", err)
	}
	go p.listen()
	return p, nil
}

// listen understands lines like
//
//	1700000000.123456 [0 lua] "ZADD" "pace:places:<key>" "<at>" "<at>"
func (p *places) listen() {
	defer close(p.read)
	for lines := bufio.NewScanner(p.conn); lines.Scan(); {
		words := strings.Split(lines.Text(), `"`)
		if len(words) < 6 || words[1] != "ZADD" {
			continue
		}
		if at, err := strconv.ParseInt(words[5], 10, 64); err == nil {
			p.mu.Lock()
			p.given[words[3]] = append(p.given[words[3]], time.UnixMicro(at))
			p.mu.Unlock()
		}
	}
}

// of gives the places of a limit.
func (p *places) of(key string) []time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.given["pace:places:"+key])
}

func (p *places) stop() {
	_ = p.conn.Close()
	<-p.read
}
