package vk

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
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

// How failed deliveries are repeated. VK publishes neither spacing nor number.
const (
	retryMost      = 10 * time.Minute
	attemptsMost   = 12
	retryAfterMost = 3 * time.Hour // dev.vk.com/api/callback/getting-started
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
		a := s.post(url, d)
		s.mu.Lock()
		defer s.mu.Unlock()
		h.status = refused
		if a.status == http.StatusOK && a.body == s.cfg.Confirmation {
			h.status = confirmed
		}
		s.record(d, a)
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

// pump starts the calls that a server may get now; callers hold s.mu.
func (s *Server) pump(h *hook) {
	now := s.now()
	for h.status == confirmed && h.busy < s.cfg.Connections && !now.Before(h.paused) {
		i := slices.IndexFunc(h.queue, func(d *delivery) bool { return !d.held && !now.Before(d.due) })
		if i < 0 {
			break
		}
		d, url := h.queue[i], h.url
		h.queue = slices.Delete(h.queue, i, i+1)
		h.busy++
		s.spawn(func() { s.call(h, url, d) })
	}
	s.wake(h, now)
}

// wake sees to it that what is not due yet is looked at again.
func (s *Server) wake(h *hook, now time.Time) {
	h.stop()
	var next time.Time
	for _, d := range h.queue {
		if !d.held && (next.IsZero() || d.due.Before(next)) {
			next = d.due
		}
	}
	if next.IsZero() || s.ctx.Err() != nil {
		return
	}
	if next.Before(h.paused) {
		next = h.paused
	}
	if wait := next.Sub(now); wait > 0 {
		h.timer = time.AfterFunc(wait, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.pump(h)
		})
	}
}

func (h *hook) stop() {
	if h.timer != nil {
		h.timer.Stop()
	}
}

// call makes one call and decides what becomes of the event.
func (s *Server) call(h *hook, url string, d *delivery) {
	if d.wait > 0 {
		select {
		case <-s.ctx.Done():
		case <-time.After(d.wait):
		}
		d.wait = 0
	}
	a := s.post(url, d)
	s.mu.Lock()
	defer s.mu.Unlock()
	h.busy--
	d.attempt++
	switch {
	case a.ok():
		h.failures = 0
	case a.status == http.StatusOK && a.body == "remove":
		s.hooks = slices.DeleteFunc(s.hooks, func(other *hook) bool { return other == h })
		h.queue = nil
	case !a.retryAfter.IsZero():
		d.due = a.retryAfter
		h.queue = append(h.queue, d)
	default:
		s.postpone(h, d)
	}
	s.record(d, a)
	s.pump(h)
}

// record logs a call when everything that follows from it has been decided.
func (s *Server) record(d *delivery, a reply) {
	s.cfg.Calls.Add(fault.Call{
		At: s.now(), Method: CallbackMethod, Params: withoutSecret(d.body), Status: a.status,
		Effect: a.ok(), Result: quoted(a.body),
	})
}

// postpone repeats an event later; after several failures in a row the server is
// left alone for a while.
func (s *Server) postpone(h *hook, d *delivery) {
	h.failures++
	if h.failures >= s.cfg.Patience {
		h.paused = s.now().Add(s.cfg.Pause)
		h.failures = 0
	}
	if d.attempt >= attemptsMost {
		return
	}
	d.due = s.now().Add(min(s.cfg.Retry<<(d.attempt-1), retryMost))
	h.queue = append(h.queue, d)
}

// reply is what a server answered; the zero value is no answer.
type reply struct {
	status     int
	body       string
	retryAfter time.Time // asked for in the way that VK honours
}

// ok: nothing but these two letters with this status is success.
func (a reply) ok() bool { return a.status == http.StatusOK && a.body == "ok" }

// post makes one call of a server.
func (s *Server) post(url string, d *delivery) reply {
	var a reply
	r, err := http.NewRequestWithContext(s.ctx, http.MethodPost, url, bytes.NewReader(d.body))
	if err != nil {
		return a
	}
	r.Header.Set("Content-Type", "application/json")
	if d.attempt > 0 {
		r.Header.Set("X-Retry-Counter", strconv.Itoa(d.attempt))
	}
	resp, err := s.cfg.Client.Do(r)
	if err != nil {
		s.cfg.Log.WarnContext(s.ctx, "callback server does not answer", "error", err)
		return a
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 4096))
	if err != nil {
		return a
	}
	a = reply{status: resp.StatusCode, body: string(body)}
	switch a.status {
	case http.StatusGone, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		if at, err := http.ParseTime(resp.Header.Get("Retry-After")); err == nil && at.Sub(s.now()) < retryAfterMost {
			a.retryAfter = at
		}
	}
	return a
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
