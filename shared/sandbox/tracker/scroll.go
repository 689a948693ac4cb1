package tracker

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// scroll is a snapshot that is read page by page. Each page has an id of its own.
type scroll struct {
	rest  []hit
	size  int
	token string
	until time.Time
}

func (s *Server) beginScroll(c *call, list []hit, scrollable bool) answer {
	if !scrollable {
		return fail(http.StatusBadRequest, "Scroll is not supported")
	}
	kind := c.query("scrollType")
	size, valid := c.number("perScroll", 100)
	if !valid || size > 1000 || kind != "sorted" && kind != "unsorted" {
		return malformed()
	}
	if kind == "unsorted" {
		// No order is promised: give one that nobody can take for sorted.
		for n := 0; n+1 < len(list); n += 2 {
			list[n], list[n+1] = list[n+1], list[n]
		}
	}
	return s.scrollPage(c, &scroll{rest: list, size: size}, len(list))
}

func (s *Server) nextScroll(c *call, id string) answer {
	sc := s.scrolls[id]
	if sc == nil || s.now().After(sc.until) {
		delete(s.scrolls, id)
		return missing("Scroll", id)
	}
	delete(s.scrolls, id)
	return s.scrollPage(c, sc, len(sc.rest))
}

// scrollPage answers the next page. X-Scroll-Id comes unless it is the last.
func (s *Server) scrollPage(c *call, sc *scroll, total int) answer {
	life, valid := c.number("scrollTTLMillis", 60_000)
	if !valid {
		return malformed()
	}
	n := min(sc.size, len(sc.rest))
	a := ok(s.hitsJSON(c, sc.rest[:n]))
	a.header = http.Header{"X-Total-Count": {strconv.Itoa(total)}}
	if sc.rest = sc.rest[n:]; len(sc.rest) == 0 {
		return a
	}
	sc.until = s.now().Add(time.Duration(life) * time.Millisecond)
	id := s.nextID() + "=="
	sc.token = s.nextID()
	s.scrolls[id] = sc
	a.header.Set("X-Scroll-Id", id)
	a.header.Set("X-Scroll-Token", sc.token)
	return a
}

// clearScroll frees snapshots: {"<scroll id>": "<token>"}.
func (s *Server) clearScroll(c *call) answer {
	var tokens map[string]string
	if err := json.Unmarshal(c.body, &tokens); err != nil {
		return malformed()
	}
	for id, token := range tokens {
		if sc := s.scrolls[id]; sc != nil && sc.token == token {
			delete(s.scrolls, id)
			c.effect = true
		}
	}
	return ok(object{})
}

// Scrolls is how many snapshots are held, so that tests see a client free them.
func (s *Server) Scrolls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.scrolls)
}
