package telegram

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"supportbot/shared/sandbox/fault"
)

// WebhookMethod is what webhook calls are called in faults and in the log. Of
// the faults it knows Drop, Duplicate, Late (out of its lane; without a Wait:
// until Kick) and Delay.
const WebhookMethod = "webhook"

// How failed calls are repeated (WebhookActor.cpp).
const (
	retryAfterMost = time.Hour
	goneFor        = 23 * time.Hour   // a webhook that answers 410 for so long is deleted
	failingFor     = 10 * time.Second // after so long without success there is one connection only
	answerMost     = 1 << 16          // bytes read of an answer
)

// retryDelay is how long after failure number n (from 1) the next call comes: at
// once, then doubling to 64 s, then at random.
func retryDelay(n int) time.Duration {
	switch {
	case n <= 1:
		return 0
	case n <= 7:
		return time.Second << (n - 1)
	}
	return time.Minute + rand.N(time.Minute)
}

// Kick makes everything that is due by the clock happen now, and lets go what a
// fault holds back.
func (s *Server) Kick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.pending {
		u.held = false
	}
	s.pump()
}

// Retry makes everything that waits for its next call due now.
func (s *Server) Retry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.pending {
		u.due = s.now()
	}
	s.pump()
}

// Undelivered counts the updates that the bot has yet to take.
func (s *Server) Undelivered() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	return len(s.pending)
}

// pump starts the calls that may be made now; callers hold s.mu.
func (s *Server) pump() {
	s.expire()
	h := s.hook
	if h == nil {
		return
	}
	h.stop()
	now := s.now()
	most := h.connections
	if h.failing && now.Sub(h.success) > failingFor {
		most = 1
	}
	var next time.Time
	seen := map[lane]bool{}
	for _, u := range s.pending {
		if h.busy >= most {
			return // the end of a call looks again
		}
		if seen[u.lane] {
			continue
		}
		seen[u.lane] = true
		switch {
		case u.busy || u.held:
		case now.Before(u.due):
			if next.IsZero() || u.due.Before(next) {
				next = u.due
			}
		default:
			u.busy = true
			h.busy++
			s.spawn(func() { s.call(h, u) })
		}
	}
	if !next.IsZero() && s.ctx.Err() == nil {
		h.timer = time.AfterFunc(next.Sub(now), func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.pump()
		})
	}
}

// reply is what a webhook answered; status 0 is no answer.
type reply struct {
	status      int
	retryAfter  time.Duration // 0: none asked for
	contentType string
	body        []byte
}

func (a reply) ok() bool { return a.status >= 200 && a.status <= 299 }

// call makes one call and decides what becomes of the update.
func (s *Server) call(h *webhook, u *update) {
	if u.wait > 0 {
		timer := time.NewTimer(u.wait)
		defer timer.Stop()
		select {
		case <-s.ctx.Done():
		case <-timer.C:
		}
	}
	a := s.post(h, u)
	if a.ok() && len(a.body) > 0 {
		s.inReply(a.contentType, a.body)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	h.busy--
	u.busy, u.wait = false, 0
	u.attempt++
	switch {
	case a.ok():
		h.failing, h.success, h.gone = false, now, time.Time{}
		s.forget(u)
	default:
		h.failing, h.lastErrorAt, h.lastError = true, now, a.problem()
		delay := retryDelay(u.attempt)
		if a.retryAfter > 0 {
			delay = a.retryAfter
		}
		u.due = now.Add(delay)
		s.noteGone(h, a, now)
	}
	s.pump()
}

func (s *Server) forget(u *update) {
	kept := s.pending[:0]
	for _, other := range s.pending {
		if other != u {
			kept = append(kept, other)
		}
	}
	clear(s.pending[len(kept):])
	s.pending = kept
	s.changed()
}

func (s *Server) noteGone(h *webhook, a reply, now time.Time) {
	switch {
	case a.status != http.StatusGone:
		h.gone = time.Time{}
	case h.gone.IsZero():
		h.gone = now
	case now.Sub(h.gone) >= goneFor && s.hook == h:
		s.attach(nil)
	}
}

func (a reply) problem() string {
	if a.status == 0 {
		return "Connection refused"
	}
	return "Wrong response from the webhook: " + strconv.Itoa(a.status) + " " + http.StatusText(a.status)
}

// post makes one call, and logs it.
func (s *Server) post(h *webhook, u *update) reply {
	var a reply
	start := s.now()
	defer func() {
		if s.ctx.Err() != nil {
			return // nobody's fault
		}
		end := s.now()
		s.cfg.Calls.Add(fault.Call{
			At: end, Took: end.Sub(start), Method: WebhookMethod, Params: u.body, Status: a.status, Effect: a.ok(), Result: shownBody(a),
		})
	}()
	r, err := http.NewRequestWithContext(s.ctx, http.MethodPost, h.url, bytes.NewReader(u.body))
	if err != nil {
		return a
	}
	r.Header.Set("Content-Type", "application/json")
	if h.secret != "" {
		r.Header.Set("X-Telegram-Bot-Api-Secret-Token", h.secret)
	}
	resp, err := s.cfg.Client.Do(r)
	if err != nil && s.ctx.Err() == nil {
		s.cfg.Log.WarnContext(s.ctx, "webhook does not answer", "error", cause(err))
	}
	if err != nil {
		return a
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, answerMost))
	if err != nil {
		return a
	}
	a = reply{status: resp.StatusCode, contentType: resp.Header.Get("Content-Type"), body: body}
	if n, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && n > 0 {
		a.retryAfter = min(time.Duration(n)*time.Second, retryAfterMost)
	}
	return a
}

// cause is an error of the HTTP client without the address.
func cause(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

func shownBody(a reply) json.RawMessage {
	if len(a.body) == 0 {
		return nil
	}
	return marshal(string(a.body))
}
