package vk

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// historyMost is how many updates the Long Poll server remembers.
const historyMost = 1000

const longestWait = 90 // seconds

// longPoll is the queue of the Bots Long Poll API.
type longPoll struct {
	enabled bool
	events  map[string]bool
	key     string
	first   int64 // ts before the oldest update that is remembered
	updates []json.RawMessage
	changed chan struct{} // closed by the next update
}

func newLongPoll() longPoll {
	p := longPoll{enabled: true, events: map[string]bool{}, key: newKey(), changed: make(chan struct{})}
	for _, kind := range messageEvents {
		p.events[kind] = true
	}
	return p
}

func newKey() string {
	b := make([]byte, 20)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}

func (p *longPoll) last() int64 { return p.first + int64(len(p.updates)) }

func (p *longPoll) add(kind string, update []byte) {
	if !p.enabled || !p.events[kind] {
		return
	}
	p.updates = append(p.updates, update)
	if extra := len(p.updates) - historyMost; extra > 0 {
		p.updates = p.updates[extra:]
		p.first += int64(extra)
	}
	close(p.changed)
	p.changed = make(chan struct{})
}

// ExpireLongPoll makes the key of the Long Poll server invalid, as time does.
func (s *Server) ExpireLongPoll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.poll.key = newKey()
}

// ForgetLongPoll makes the Long Poll server forget the updates so far.
func (s *Server) ForgetLongPoll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.poll.first = s.poll.last() + 1
	s.poll.updates = nil
}

// getLongPollServer is groups.getLongPollServer.
func (s *Server) getLongPollServer(*call) (any, *apiError) {
	if !s.poll.enabled {
		return nil, invalid("longpoll for this group is not enabled")
	}
	base := s.base
	if base == "" {
		base = "http://vk.invalid"
	}
	return map[string]any{
		"key": s.poll.key, "server": base + "/longpoll/wh" + strconv.FormatInt(s.cfg.GroupID, 10),
		"ts": strconv.FormatInt(s.poll.last(), 10),
	}, nil
}

// serveLongPoll answers act=a_check: the updates after ts, at the latest after
// wait seconds.
func (s *Server) serveLongPoll(w http.ResponseWriter, r *http.Request) {
	group := strings.TrimPrefix(r.URL.Path, "/longpoll/wh")
	query := r.URL.Query()
	if query.Get("act") != "a_check" || group != strconv.FormatInt(s.cfg.GroupID, 10) {
		writeJSON(w, map[string]any{"failed": 3})
		return
	}
	wait, err := strconv.Atoi(query.Get("wait"))
	if err != nil || wait < 1 {
		wait = 1
	}
	over := time.NewTimer(time.Duration(min(wait, longestWait)) * time.Second)
	defer over.Stop()
	for {
		answer, changed := s.check(query.Get("key"), query.Get("ts"))
		if answer != nil {
			writeJSON(w, answer)
			return
		}
		select {
		case <-changed:
		case <-over.C:
			writeJSON(w, map[string]any{"ts": query.Get("ts"), "updates": []any{}})
			return
		case <-r.Context().Done():
			return
		case <-s.ctx.Done():
			return
		}
	}
}

// check gives the answer for now, or nil and what to wait for.
func (s *Server) check(key, ts string) (map[string]any, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &s.poll
	n, err := strconv.ParseInt(ts, 10, 64)
	switch {
	case key != p.key:
		return map[string]any{"failed": 2}, nil
	case err != nil:
		return map[string]any{"failed": 3}, nil
	case n < p.first || n > p.last():
		return map[string]any{"failed": 1, "ts": strconv.FormatInt(p.last(), 10)}, nil
	case n == p.last():
		return nil, p.changed
	}
	return map[string]any{"ts": strconv.FormatInt(p.last(), 10), "updates": p.updates[n-p.first:]}, nil
}
