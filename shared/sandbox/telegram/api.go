package telegram

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"supportbot/shared/sandbox/fault"
)

// refusal is an error in Telegram's terms; code is the HTTP status too.
type refusal struct {
	code       int
	text       string
	retryAfter int   // seconds
	migratedTo int64 // chat id
}

func refuse(code int, text string) *refusal { return &refusal{code: code, text: text} }

// bad is the refusal of a request that would never do.
func bad(text string) *refusal { return refuse(http.StatusBadRequest, "Bad Request: "+text) }

func badf(format string, args ...any) *refusal { return bad(fmt.Sprintf(format, args...)) }

func forbidden(text string) *refusal { return refuse(http.StatusForbidden, "Forbidden: "+text) }

// tooMany asks the bot to wait for so many seconds.
func tooMany(seconds int) *refusal {
	return &refusal{
		code: http.StatusTooManyRequests, retryAfter: seconds,
		text: fmt.Sprintf("Too Many Requests: retry after %d", seconds),
	}
}

// answer is what the bot gets: a status and a body.
type answer struct {
	status     int
	body       json.RawMessage
	retryAfter int
}

func (r *refusal) answer() answer {
	body := map[string]any{"ok": false, "error_code": r.code, "description": r.text}
	switch {
	case r.retryAfter > 0:
		body["parameters"] = map[string]any{"retry_after": r.retryAfter}
	case r.migratedTo != 0:
		body["parameters"] = map[string]any{"migrate_to_chat_id": r.migratedTo}
	}
	return answer{status: r.code, body: marshal(body), retryAfter: r.retryAfter}
}

func write(w http.ResponseWriter, a answer) {
	w.Header().Set("Content-Type", "application/json")
	if a.retryAfter > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(a.retryAfter))
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}

// handler runs a method; s.mu is held.
type handler func(s *Server, c *call) (any, *refusal)

// serveMethod runs one call under the faults for its method.
func (s *Server) serveMethod(w http.ResponseWriter, r *http.Request, name string) {
	c := &call{method: s.spelt(name), from: r.Host}
	// The body is read before a fault may hang the call: only then the server
	// notices that the caller gives up.
	if err := c.parse(r.URL.Query(), r.Header.Get("Content-Type"), r.Body, s.cfg.MaxUpload); err != nil {
		refused := bad(err.Error())
		if errors.Is(err, errTooLarge) {
			refused = refuse(http.StatusRequestEntityTooLarge, "Request Entity Too Large")
			_, _ = io.CopyN(io.Discard, r.Body, drained)
		}
		s.finish(w, c, refused.answer())
		return
	}
	reached := false
	defer func() {
		if !reached { // a fault kept it from having an effect
			s.cfg.Calls.Add(fault.Call{At: s.now(), Method: c.method, Params: c.shown(), From: c.from, Fault: c.fault})
		}
	}()
	next := func(w http.ResponseWriter, r *http.Request) {
		reached = true
		s.finish(w, c, s.run(r, c))
	}
	f, _ := s.cfg.Faults.Take(c.method)
	c.fault = f.Kind
	f.Serve(w, r, next, func(w http.ResponseWriter, f fault.Fault) {
		reached = true
		s.finish(w, c, injected(f).answer())
	})
}

// spelt gives a method's name as the documentation spells it; calls may spell it
// in any case.
func (s *Server) spelt(name string) string {
	for known := range s.methods {
		if strings.EqualFold(known, name) {
			return known
		}
	}
	return name
}

func (s *Server) finish(w http.ResponseWriter, c *call, a answer) {
	if c.at.IsZero() {
		c.at = s.now()
	}
	s.cfg.Calls.Add(fault.Call{
		At: c.at, Method: c.method, Params: c.shown(), Status: a.status, Effect: c.effect, Result: a.body,
		From: c.from, Fault: c.fault,
	})
	write(w, a)
}

// run runs a method and gives the answer.
func (s *Server) run(r *http.Request, c *call) answer {
	h := s.methods[c.method]
	if h == nil {
		return refuse(http.StatusNotFound, "Not Found: method not found").answer()
	}
	var result any
	var refused *refusal
	if c.method == "getUpdates" {
		result, refused = s.getUpdates(r.Context(), c)
	} else {
		s.mu.Lock()
		c.at = s.now()
		result, refused = h(s, c)
		s.mu.Unlock()
	}
	if refused != nil {
		return refused.answer()
	}
	return answer{status: http.StatusOK, body: marshal(map[string]any{"ok": true, "result": result})}
}

// inReply runs the method that a webhook's answer may name; its result is told to
// nobody. Methods that only ask, and those that change the webhook, are not allowed.
func (s *Server) inReply(contentType string, body []byte) {
	c := &call{}
	if err := c.parse(nil, contentType, bytes.NewReader(body), s.cfg.MaxUpload); err != nil || c.params["method"] == "" {
		return
	}
	c.method = s.spelt(c.params["method"])
	delete(c.params, "method")
	h := s.methods[c.method]
	if h == nil || strings.HasPrefix(c.method, "get") || strings.HasSuffix(c.method, "Webhook") {
		return
	}
	s.mu.Lock()
	result, refused := h(s, c)
	s.mu.Unlock()
	a := answer{status: http.StatusOK, body: marshal(map[string]any{"ok": true, "result": result})}
	if refused != nil {
		a = refused.answer()
	}
	s.cfg.Calls.Add(fault.Call{At: s.now(), Method: c.method, Params: c.shown(), Status: a.status, Effect: c.effect, Result: a.body})
}

// injected is the refusal that a fault asks for.
func injected(f fault.Fault) *refusal {
	switch f.Status {
	case http.StatusTooManyRequests:
		return tooMany(max(1, f.RetryAfter))
	case http.StatusUnauthorized:
		return refuse(f.Status, "Unauthorized")
	case http.StatusForbidden:
		return forbidden("bot was blocked by the user")
	case http.StatusBadRequest:
		return bad("chat not found")
	case http.StatusInternalServerError:
		return refuse(f.Status, "Internal Server Error: restart")
	}
	return refuse(f.Status, http.StatusText(f.Status))
}
