package vk

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"supportbot/shared/sandbox/fault"
)

// maxForm bounds the body of a method's call.
const maxForm = 1 << 20

// call is one call of a method.
type call struct {
	name   string
	form   url.Values
	effect bool // something changed
	from   string
	fault  fault.Kind
}

// apiError is an error in VK's terms; the codes are those of the error reference
// (dev.vk.com/reference/errors).
type apiError struct {
	code int
	text string
}

func failed(code int, text string) *apiError { return &apiError{code, text} }

// invalid is error 100, which says what is wrong.
func invalid(what string) *apiError {
	return failed(100, "One of the parameters specified was missing or invalid: "+what)
}

type handler func(s *Server, c *call) (any, *apiError)

// method gives the handler of a method, or nil.
func method(name string) handler {
	switch name {
	case "messages.send":
		return (*Server).send
	case "messages.edit":
		return (*Server).edit
	case "messages.delete":
		return (*Server).delete
	case "messages.sendMessageEventAnswer":
		return (*Server).answerPress
	case "messages.getById":
		return (*Server).getByID
	case "messages.getHistory":
		return (*Server).getHistory
	case "messages.getConversations":
		return (*Server).getConversations
	case "messages.markAsRead":
		return (*Server).markAsRead
	case "messages.setActivity":
		return (*Server).setActivity
	case "photos.getMessagesUploadServer":
		return (*Server).photoServer
	case "photos.saveMessagesPhoto":
		return (*Server).savePhoto
	case "docs.getMessagesUploadServer":
		return (*Server).docServer
	case "docs.save":
		return (*Server).saveDoc
	case "users.get":
		return (*Server).getUsers
	case "execute":
		return (*Server).execute
	}
	return groupMethod(name)
}

func (s *Server) serveMethod(w http.ResponseWriter, r *http.Request, name string) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	c := &call{name: name, from: r.Host}
	if err := r.ParseForm(); err != nil {
		s.writeError(w, c, failed(8, "Invalid request"))
		return
	}
	c.form = r.Form
	reached := false
	defer func() {
		if !reached { // a fault kept it from having an effect
			s.cfg.Calls.Add(fault.Call{At: s.now(), Method: name, Params: params(c.form), From: c.from, Fault: c.fault})
		}
	}()
	next := func(w http.ResponseWriter, r *http.Request) {
		reached = true
		s.runMethod(w, r, c)
	}
	f, _ := s.cfg.Faults.Take(name)
	c.fault = f.Kind
	f.Serve(w, r, next, func(w http.ResponseWriter, f fault.Fault) {
		if f.Status >= 500 && f.Status < 505 { // no codes of VK's are there
			http.Error(w, http.StatusText(f.Status), f.Status)
			return
		}
		setDefault(&f.Status, 10)
		s.writeError(w, c, failed(f.Status, reason(f.Status)))
	})
}

func (s *Server) runMethod(w http.ResponseWriter, r *http.Request, c *call) {
	s.mu.Lock()
	var result any
	at := s.now() // its own judgement is by this time
	fail := s.admit(r, c)
	if fail == nil {
		result, fail = s.run(c)
	}
	s.mu.Unlock()

	entry := fault.Call{At: at, Method: c.name, Params: params(c.form), Status: http.StatusOK, Effect: c.effect, From: c.from, Fault: c.fault}
	if fail != nil {
		entry.Result = s.writeError(w, c, fail)
	} else {
		entry.Result = writeJSON(w, result)
	}
	s.cfg.Calls.Add(entry)
}

// admit checks what is the same for all methods.
func (s *Server) admit(r *http.Request, c *call) *apiError {
	token := c.form.Get("access_token")
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		token = bearer
	}
	switch {
	case token == "":
		return failed(5, "User authorization failed: no access_token passed.")
	case token != s.cfg.Token:
		return failed(5, "User authorization failed: invalid access_token (4).")
	case c.form.Get("v") == "":
		return failed(8, "Invalid request: v (version) is required")
	case c.form.Get("v") != Version:
		return failed(8, "Invalid request: this server speaks only "+Version)
	case s.tooMany():
		return failed(6, "Too many requests per second")
	}
	return nil
}

// tooMany counts a call and reports whether there were too many in the last second.
func (s *Server) tooMany() bool {
	if s.cfg.PerSecond < 0 {
		return false
	}
	now := s.now()
	kept := s.recent[:0]
	for _, t := range s.recent {
		if now.Sub(t) < time.Second {
			kept = append(kept, t)
		}
	}
	s.recent = kept
	if len(s.recent) >= s.cfg.PerSecond {
		return true
	}
	s.recent = append(s.recent, now)
	return false
}

// run runs a method, alone or inside execute; the result is the whole answer.
func (s *Server) run(c *call) (any, *apiError) {
	h := method(c.name)
	if h == nil {
		return nil, failed(3, "Unknown method passed")
	}
	result, fail := h(s, c)
	if fail != nil {
		return nil, fail
	}
	if whole, ok := result.(wholeAnswer); ok {
		return whole, nil
	}
	return map[string]any{"response": result}, nil
}

// wholeAnswer is a result that has more beside "response".
type wholeAnswer map[string]any

func (s *Server) writeError(w http.ResponseWriter, c *call, e *apiError) json.RawMessage {
	echo := []map[string]string{{"key": "method", "value": c.name}, {"key": "oauth", "value": "1"}}
	for key, values := range c.form {
		if key != "access_token" {
			echo = append(echo, map[string]string{"key": key, "value": strings.Join(values, ",")})
		}
	}
	return writeJSON(w, map[string]any{"error": map[string]any{
		"error_code": e.code, "error_msg": e.text, "request_params": echo,
	}})
}

func writeJSON(w http.ResponseWriter, v any) json.RawMessage {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return nil
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(body)
	return body
}

// params is the form for the log, without the token.
func params(form url.Values) json.RawMessage {
	shown := map[string]string{}
	for key, values := range form {
		if key != "access_token" {
			shown[key] = strings.Join(values, ",")
		}
	}
	body, err := json.Marshal(shown)
	if err != nil {
		return nil
	}
	return body
}

// reason is the text that VK gives with codes that are injected.
func reason(code int) string {
	switch code {
	case 1:
		return "Unknown error occurred"
	case 5:
		return "User authorization failed: access_token was given to another ip address."
	case 6:
		return "Too many requests per second"
	case 9:
		return "Flood control"
	case 10:
		return "Internal server error"
	case 29:
		return "Rate limit reached"
	case 113:
		return "Invalid user id"
	case 909:
		return "Can't edit this message, because it's too old"
	}
	return fmt.Sprintf("Error %d", code)
}
