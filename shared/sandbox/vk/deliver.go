package vk

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"supportbot/shared/sandbox/fault"
)

// How failed deliveries are repeated. VK publishes neither spacing nor number.
const (
	retryMost      = 10 * time.Minute
	attemptsMost   = 12
	retryAfterMost = 3 * time.Hour // dev.vk.com/api/callback/getting-started
)

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
	start := s.now()
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
	s.record(d, a, start)
	s.pump(h)
}

// record logs a call when everything that follows from it has been decided.
func (s *Server) record(d *delivery, a reply, start time.Time) {
	end := s.now()
	s.cfg.Calls.Add(fault.Call{
		At: end, Took: end.Sub(start), Method: CallbackMethod, Params: withoutSecret(d.body), Status: a.status,
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
