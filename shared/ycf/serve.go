package ycf

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
)

// httpResponse is what a function gives back for an HTTP call. If a header is in
// both maps, the multi-valued one counts.
type httpResponse struct {
	Status      int                 `json:"statusCode"`
	Headers     map[string]string   `json:"headers"`
	MultiHeader map[string][]string `json:"multiValueHeaders"`
	Body        string              `json:"body"`
	IsBase64    bool                `json:"isBase64Encoded"`
}

// What becomes of headers of a response ("Invoking a function").
var (
	removedFromResponse = []string{"Host", "Authorization", "User-Agent", "Connection", "Max-Forwards", "Cookie"}
	refusedInResponse   = []string{"Proxy-Authenticate", "Transfer-Encoding", "Via"}
	remappedInResponse  = []string{"Content-Md5", "Date", "Server", "Www-Authenticate"}
)

const remappedPrefix = "X-Yf-Remapped-"

// Serve calls an HTTP function with an event of any of the three formats and
// gives its response event, as the runtime does. An error is what the cloud
// answers with 502: an event that is none, a panic, a header that is refused.
func Serve(ctx context.Context, h http.Handler, event []byte) ([]byte, error) {
	var e httpEvent
	if err := json.Unmarshal(event, &e); err != nil {
		return nil, fmt.Errorf("decode HTTP event: %w", err)
	}
	r, err := e.request(ctx)
	if err != nil {
		return nil, fmt.Errorf("decode HTTP event: %w", err)
	}
	w := &recorder{header: http.Header{}}
	if err := Guard(func() error { h.ServeHTTP(w, r); return nil }); err != nil {
		return nil, fmt.Errorf("call function: %w", err)
	}
	out, err := w.response()
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

func (e *httpEvent) request(ctx context.Context) (*http.Request, error) {
	u, err := e.url()
	if err != nil {
		return nil, err
	}
	body, err := e.body()
	if err != nil {
		return nil, err
	}
	if e.Context.RequestID != "" {
		ctx = WithRequestID(ctx, e.Context.RequestID)
	}
	r, err := http.NewRequestWithContext(ctx, e.Method, "/", bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the method is none")
	}
	r.URL, r.Header, r.RequestURI = u, e.header(), u.RequestURI()
	r.Host = r.Header.Get("Host")
	r.Header.Del("Host") // as Go's server has it
	if ip := e.Context.Identity.SourceIP; ip != "" {
		r.RemoteAddr = net.JoinHostPort(ip, "0")
	}
	return r, nil
}

// recorder keeps a response whole: a function's answer leaves in one piece.
type recorder struct {
	header http.Header
	sent   http.Header // as it was when the status was written
	status int
	body   bytes.Buffer
}

func (w *recorder) Header() http.Header { return w.header }

func (w *recorder) WriteHeader(status int) {
	if status < 100 || status > 999 {
		panic(fmt.Sprintf("invalid status %d", status)) // as Go's server does
	}
	if w.status == 0 && status >= http.StatusOK {
		w.status, w.sent = status, w.header.Clone()
	}
}

func (w *recorder) Write(b []byte) (int, error) {
	if w.status == 0 {
		if w.header.Get("Content-Type") == "" {
			w.header.Set("Content-Type", http.DetectContentType(b))
		}
		w.WriteHeader(http.StatusOK)
	}
	return w.body.Write(b)
}

func (w *recorder) response() (*httpResponse, error) {
	w.WriteHeader(http.StatusOK)
	h := w.sent
	for _, name := range refusedInResponse {
		if _, ok := h[name]; ok {
			return nil, fmt.Errorf("encode response: header %s may not be set", name)
		}
	}
	for _, name := range removedFromResponse {
		h.Del(name)
	}
	for _, name := range remappedInResponse {
		if values, ok := h[name]; ok {
			h[remappedPrefix+name] = values
			delete(h, name)
		}
	}
	out := &httpResponse{Status: w.status, Headers: last(h), MultiHeader: h}
	out.Body, out.IsBase64 = encodeBody(w.body.Bytes(), true)
	return out, nil
}
