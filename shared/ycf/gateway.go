package ycf

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"time"
)

// gatewayLimit is the largest request and response that API Gateway passes on
// ("Quotas and limits").
const gatewayLimit = 2_621_440 // 2.5 MB

// Route is one path of the gateway's specification.
type Route struct {
	// Path is exact ("/telegram") or ends in a greedy parameter ("/v1/{path+}").
	Path    string
	Handler http.Handler // the function
	Format  string       // of its events; FormatDirect means the gateway's default, Format01
}

// Gateway stands for API Gateway in the local run and the tests: each request
// becomes the event that the cloud would make of it, and reaches its function
// only in that form: buffered, limited in size, without Authorization and Cookie.
// The first route that matches is taken.
func Gateway(routes ...Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for i := range routes {
			if params, ok := routes[i].match(r.URL.EscapedPath()); ok {
				routes[i].serve(w, r, params)
				return
			}
		}
		refuse(w, http.StatusNotFound, "path not found")
	})
}

// match compares the path, and gives the value of its greedy parameter.
func (rt *Route) match(path string) (map[string]string, bool) {
	fixed, param, greedy := strings.Cut(rt.Path, "{")
	if !greedy {
		return nil, path == rt.Path
	}
	value, ok := strings.CutPrefix(path, fixed)
	if !ok || value == "" {
		return nil, false
	}
	return map[string]string{strings.TrimSuffix(param, "+}"): value}, true
}

func (rt *Route) serve(w http.ResponseWriter, r *http.Request, params map[string]string) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, gatewayLimit))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		refuse(w, http.StatusRequestEntityTooLarge, "request too large")
		return
	} else if err != nil {
		refuse(w, http.StatusBadRequest, "request not read")
		return
	}
	event, err := json.Marshal(rt.event(r, body, params))
	if err != nil {
		refuse(w, http.StatusBadRequest, "request not encoded")
		return
	}
	answer, err := Serve(r.Context(), rt.Handler, event)
	if err != nil {
		failed(w, err)
		return
	}
	respond(w, answer)
}

// event is the request in the route's format.
func (rt *Route) event(r *http.Request, body []byte, params map[string]string) *httpEvent {
	now := time.Now()
	e := &httpEvent{Method: r.Method, MultiHeader: r.Header.Clone(), MultiQuery: r.URL.Query()}
	e.Context.RequestID = NewRequestID()
	e.Context.Method, e.Context.Time, e.Context.TimeEpoch = r.Method, now.Format("2/Jan/2006:15:04:05 -0700"), now.Unix()
	e.Context.Identity.SourceIP, _, _ = net.SplitHostPort(r.RemoteAddr)
	e.Context.Identity.UserAgent = r.UserAgent()

	h := http.Header(e.MultiHeader)
	for _, name := range removedFromRequest {
		h.Del(name)
	}
	h.Set("Host", r.Host)
	h.Set(requestIDHeader, e.Context.RequestID)
	h.Set("X-Real-Remote-Address", r.RemoteAddr)
	e.Headers, e.Query = last(e.MultiHeader), last(e.MultiQuery)

	mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	e.Body, e.IsBase64 = encodeBody(body, mediaType == "application/json")
	rt.paths(e, r, params)
	return e
}

func (rt *Route) paths(e *httpEvent, r *http.Request, params map[string]string) {
	all := map[string]string{}
	for name, value := range e.Query {
		all[name] = value
	}
	multi := map[string][]string{}
	for name, values := range e.MultiQuery {
		multi[name] = values
	}
	for name, value := range params {
		all[name], multi[name] = value, []string{value}
	}
	if rt.Format == Format10 {
		e.Version, e.Resource, e.Path = Format10, rt.Path, r.URL.EscapedPath()
		e.PathParameters, e.Parameters, e.MultiParameters = params, all, multi
		return
	}
	e.URL, e.Path = r.URL.RequestURI(), rt.Path
	e.PathParams, e.Params, e.MultiParams = params, all, multi
}

// respond turns a response event into the answer to the caller.
func respond(w http.ResponseWriter, answer []byte) {
	var out httpResponse
	if err := json.Unmarshal(answer, &out); err != nil {
		failed(w, err)
		return
	}
	body, err := decodeBody(out.Body, out.IsBase64)
	if err != nil {
		failed(w, err)
		return
	}
	if len(body) > gatewayLimit {
		failed(w, errors.New("response too large"))
		return
	}
	for name, value := range out.Headers {
		w.Header().Set(name, value)
	}
	for name, values := range out.MultiHeader {
		w.Header()[http.CanonicalHeaderKey(name)] = values
	}
	w.WriteHeader(out.Status)
	_, _ = io.Copy(w, bytes.NewReader(body))
}

// failed is the cloud's answer for a function that failed.
func failed(w http.ResponseWriter, err error) {
	kind := "UserCodeError"
	if p := (*Panic)(nil); errors.As(err, &p) {
		kind = "UserCodePanic"
	}
	w.Header().Set("X-Function-Error", "true")
	answer(w, http.StatusBadGateway, map[string]string{"errorMessage": err.Error(), "errorType": kind})
}

func refuse(w http.ResponseWriter, status int, why string) {
	answer(w, status, map[string]string{"message": why})
}

func answer(w http.ResponseWriter, status int, v map[string]string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
