package vk

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"supportbot/shared/sandbox/fault"
)

// CallbackMethod is what deliveries are called in faults and in the log. Of the
// faults it knows Drop, Duplicate, Late (without a Wait: until Kick) and Delay.
const CallbackMethod = "callback"

// States of a callback server.
const (
	unconfigured = "unconfigured"
	waiting      = "wait"
	confirmed    = "ok"
	refused      = "failed"
)

// hook is one callback server of the community and what it has yet to be told.
type hook struct {
	id                 int64
	url, title, secret string
	status             string
	version            string
	events             map[string]bool

	queue    []*delivery
	busy     int // calls under way
	failures int // in a row
	paused   time.Time
	timer    *time.Timer
}

// delivery is one event for one server.
type delivery struct {
	kind    string
	body    []byte
	due     time.Time
	held    bool          // until Kick
	wait    time.Duration // before the call, keeping its connection
	attempt int           // calls made so far
}

// Connect adds a callback server that gets every kind of message event, asks it
// for the confirmation and gives its id. Events wait until it has confirmed.
func (s *Server) Connect(url string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.addHook(url, "server", s.cfg.Secret)
	for _, kind := range messageEvents {
		h.events[kind] = true
	}
	return h.id
}

// messageEvents are the events of conversations.
var messageEvents = []string{
	"message_new", "message_reply", "message_edit", "message_event", "message_allow", "message_deny",
	"user_block", "user_unblock",
}

// Kick makes everything that is due by the clock happen now, and lets go what
// a fault holds back.
func (s *Server) Kick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.hooks {
		for _, d := range h.queue {
			d.held = false
		}
		s.pump(h)
	}
}

// Retry makes everything that waits for its next call due now.
func (s *Server) Retry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.hooks {
		h.paused = time.Time{}
		for _, d := range h.queue {
			d.due = s.now()
		}
		s.pump(h)
	}
}

// Undelivered counts the events that a callback server has yet to take.
func (s *Server) Undelivered() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, h := range s.hooks {
		n += len(h.queue) + h.busy
	}
	return n
}

func (s *Server) addHook(url, title, secret string) *hook {
	h := &hook{id: s.nextID(), url: url, title: title, secret: secret, version: Version, events: map[string]bool{}}
	s.hooks = append(s.hooks, h)
	s.confirm(h)
	return h
}

// confirm asks a server for the confirmation; callers hold s.mu.
func (s *Server) confirm(h *hook) {
	h.status = waiting
	d := &delivery{kind: "confirmation", body: s.envelope("confirmation", nil, h.secret)}
	url := h.url
	s.spawn(func() {
		start := s.now()
		a := s.post(url, d)
		s.mu.Lock()
		defer s.mu.Unlock()
		h.status = refused
		if a.status == http.StatusOK && a.body == s.cfg.Confirmation {
			h.status = confirmed
		}
		s.record(d, a, start)
		s.pump(h)
	})
}

// envelope is an event as it is posted.
func (s *Server) envelope(kind string, object map[string]any, secret string) []byte {
	e := map[string]any{
		"type": kind, "group_id": s.cfg.GroupID, "v": Version,
		"event_id": fmt.Sprintf("%040x", s.nextID()),
	}
	if object != nil {
		e["object"] = object
	}
	if secret != "" {
		e["secret"] = secret
	}
	body, err := json.Marshal(e)
	if err != nil {
		panic(err) // made of strings and numbers
	}
	return body
}

// emit reports an event to everybody who wants it; callers hold s.mu.
func (s *Server) emit(kind string, object map[string]any) {
	s.poll.add(kind, s.envelope(kind, object, ""))
	for _, h := range s.hooks {
		if !h.events[kind] || h.status == refused {
			continue
		}
		d := &delivery{kind: kind, body: s.envelope(kind, object, h.secret), due: s.now()}
		f, _ := s.cfg.Faults.Take(CallbackMethod)
		switch f.Kind {
		case fault.Drop:
			continue
		case fault.Duplicate:
			again := *d
			h.queue = append(h.queue, &again)
		case fault.Late:
			d.held = f.Wait == 0
			d.due = d.due.Add(f.Wait)
		case fault.Delay:
			d.wait = f.Wait
		}
		h.queue = append(h.queue, d)
		s.pump(h)
	}
}

func withoutSecret(body []byte) json.RawMessage {
	var e map[string]json.RawMessage
	if json.Unmarshal(body, &e) != nil {
		return nil
	}
	delete(e, "secret")
	shown, err := json.Marshal(e)
	if err != nil {
		return nil
	}
	return shown
}

func quoted(text string) json.RawMessage {
	b, err := json.Marshal(text)
	if err != nil {
		return nil
	}
	return b
}
