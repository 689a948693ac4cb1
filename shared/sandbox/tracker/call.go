package tracker

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"supportbot/shared/sandbox/fault"
)

// maxBody is the largest JSON body that the server reads.
const maxBody = 16 << 20

// maxLogged is the largest answer that the log keeps.
const maxLogged = 64 << 10

// call is one call of the API.
type call struct {
	r      *http.Request
	method string   // "POST /v3/issues", as faults and the log name it
	args   []string // the path's variable parts
	body   []byte   // of calls that are not uploads
	params any      // what the log shows; nil: the body, or the query
	user   *user
	effect bool      // something changed
	past   time.Time // when the operation happened; zero: now
	fault  fault.Kind
}

// answer is what a handler gives back.
type answer struct {
	status int
	body   any // as JSON; nil: none
	header http.Header
	file   *file // instead of body
}

func ok(v any) answer      { return answer{status: http.StatusOK, body: v} }
func created(v any) answer { return answer{status: http.StatusCreated, body: v} }

// failure is the form of all errors but the organisation's.
type failure struct {
	Errors        map[string]string `json:"errors"`
	ErrorMessages []string          `json:"errorMessages"`
	StatusCode    int               `json:"statusCode,omitempty"`
	ErrorCode     int               `json:"errorCode,omitempty"`
}

func fail(status int, format string, args ...any) answer {
	message := fmt.Sprintf(format, args...)
	return answer{status: status, body: failure{map[string]string{}, []string{message}, status, 0}}
}

// invalid refuses fields with 422.
func invalid(errors map[string]string) answer {
	const status = http.StatusUnprocessableEntity
	return answer{status: status, body: failure{errors, []string{}, status, 0}}
}

func missing(what, ref string) answer {
	return fail(http.StatusNotFound, "%s %s does not exist.", what, ref)
}

func frozen() answer {
	return fail(http.StatusLocked, "Object edits disabled. The version value limit might have been exceeded.")
}

// ServeHTTP answers one call.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)() // hanging calls end with Close
	r = r.WithContext(ctx)
	rt, args := s.match(r)
	c := &call{r: r, args: args, method: r.Method + " " + strings.TrimRight(r.URL.Path, "/")}
	if past := r.Header.Get(TimeHeader); past != "" {
		s.write(w, s.tell(c, rt, w, past))
		return
	}
	if !rt.upload {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			s.write(w, fail(http.StatusRequestEntityTooLarge, "Request entity is too large"))
			return
		}
		c.body = body
	}
	serve := func(w http.ResponseWriter, _ *http.Request) {
		a := s.answer(c, rt)
		s.record(c, a.status, a.body)
		s.write(w, a)
	}
	f, _ := s.cfg.Faults.Take(c.method)
	c.fault = f.Kind
	if status, without := withoutEffect(f); without {
		s.record(c, status, nil)
	}
	f.Serve(w, r, serve, s.faulty)
}

// withoutEffect tells the faults that keep a call from being handled, and the
// status that they answer (0: none).
func withoutEffect(f fault.Fault) (status int, without bool) {
	switch f.Kind {
	case fault.HangBefore, fault.CloseBefore:
		return 0, true
	case fault.HTMLBefore:
		return http.StatusBadGateway, true
	case fault.Status:
		return f.Status, true
	}
	return 0, false
}

func (s *Server) faulty(w http.ResponseWriter, f fault.Fault) {
	a := fail(f.Status, "%s", http.StatusText(f.Status))
	if f.RetryAfter > 0 {
		a.header = http.Header{"Retry-After": {strconv.Itoa(f.RetryAfter)}}
	}
	s.write(w, a)
}

// answer authorizes the call and runs its handler.
func (s *Server) answer(c *call, rt route) answer {
	if !rt.upload && !rt.download {
		s.mu.Lock()
		defer s.mu.Unlock()
		if a := s.admit(c); a.status != 0 {
			return a
		}
		return rt.handle(s, c)
	}
	s.mu.Lock()
	a := s.admit(c)
	s.mu.Unlock()
	if a.status != 0 {
		return a
	}
	return rt.handle(s, c)
}

// admit checks token, organisation and rate; a zero answer lets the call pass.
func (s *Server) admit(c *call) answer {
	scheme, token, _ := strings.Cut(c.r.Header.Get("Authorization"), " ")
	bearer := strings.EqualFold(scheme, "Bearer")
	for _, u := range s.users {
		if u.Token != "" && u.Token == token {
			c.user = u
		}
	}
	known := c.user != nil && (strings.EqualFold(scheme, "OAuth") || bearer)
	if !known || bearer && s.cfg.CloudOrgID == "" {
		return fail(http.StatusUnauthorized, "Authentication is required")
	}
	h := c.r.Header
	if h.Get("X-Org-ID") != s.cfg.OrgID || h.Get("X-Cloud-Org-ID") != s.cfg.CloudOrgID {
		return answer{status: http.StatusForbidden, body: failure{
			Errors: map[string]string{}, ErrorCode: 620345,
			ErrorMessages: []string{"Organization is not available, not ready or not found"},
		}}
	}
	if c.past.IsZero() && !s.bucket.take(s.cfg.Now()) {
		return fail(http.StatusTooManyRequests,
			"You've exceeded the limit for requests to the host within a given time. Try your request again later.")
	}
	return answer{}
}

// record logs a call before it is answered, so that who has the answer finds it.
func (s *Server) record(c *call, status int, body any) {
	params := c.params
	if params == nil && json.Valid(c.body) {
		params = json.RawMessage(c.body)
	} else if params == nil && c.r.URL.RawQuery != "" {
		params = c.r.URL.Query()
	}
	entry := fault.Call{At: s.cfg.Now(), Method: c.method, Status: status, Effect: c.effect, From: c.r.Host, Fault: c.fault}
	if params != nil {
		entry.Params, _ = json.Marshal(params)
	}
	if result, err := json.Marshal(body); body != nil && err == nil && len(result) <= maxLogged {
		entry.Result = result
	}
	s.cfg.Calls.Add(entry)
}

func (s *Server) write(w http.ResponseWriter, a answer) {
	for name, values := range a.header {
		w.Header()[name] = values
	}
	if a.file != nil {
		w.Header().Set("Content-Type", a.file.mime)
		w.Header().Set("Content-Length", strconv.FormatInt(a.file.data.size, 10))
		w.WriteHeader(a.status)
		_, _ = io.Copy(w, a.file.data.reader())
		return
	}
	if a.body == nil {
		w.WriteHeader(a.status)
		return
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(a.body); err != nil {
		s.log.ErrorContext(s.ctx, "encode answer", "error", err)
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(a.status)
	_, _ = w.Write(out.Bytes())
}

// decode reads the body as an object; unknown names are the handler's to refuse.
func (c *call) decode() (map[string]json.RawMessage, bool) {
	var object map[string]json.RawMessage
	err := json.Unmarshal(c.body, &object)
	return object, err == nil && object != nil
}

func (c *call) query(name string) string { return c.r.URL.Query().Get(name) }

// number reads a whole number from the query.
func (c *call) number(name string, fallback int) (int, bool) {
	text := c.query(name)
	if text == "" {
		return fallback, true
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 1
}

// base is the address under which the caller knows the server.
func (c *call) base() string {
	scheme := "http"
	if c.r.TLS != nil {
		scheme = "https"
	}
	return (&url.URL{Scheme: scheme, Host: c.r.Host}).String() + "/v3"
}

func malformed() answer { return fail(http.StatusBadRequest, "Incorrect data format") }

func jsonNumber(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
