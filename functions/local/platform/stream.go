package platform

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	streamTick  = 250 * time.Millisecond // between two looks at the progress
	streamAlive = 15 * time.Second       // between two signs of life, where nothing changes
)

// Streaming answers who asks for server-sent events with the progress of a broadcast
// each time that it changes, until ctx or the request ends. A cloud function cannot:
// it answers once and is asked again, which the console does where this is missing.
func Streaming(ctx context.Context, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.Path
		if r.Method != http.MethodGet || r.Header.Get("Accept") != "text/event-stream" ||
			!strings.HasPrefix(path, "/v1/broadcasts/") || !strings.HasSuffix(path, "/progress") {
			next.ServeHTTP(w, r)
			return
		}
		stream(ctx, w, r, next)
	})
}

// stream asks next again and again. What it refuses at first is the answer; a refusal
// later, as when the session ends, is the end of the stream.
func stream(ctx context.Context, w http.ResponseWriter, r *http.Request, next http.Handler) {
	tick := time.NewTicker(streamTick)
	defer tick.Stop()
	out := http.NewResponseController(w)
	var last []byte
	var told time.Time
	for {
		a := &answer{head: http.Header{}, status: http.StatusOK}
		next.ServeHTTP(a, r)
		switch {
		case a.status != http.StatusOK && told.IsZero():
			a.passOn(w)
			return
		case a.status != http.StatusOK:
			return
		case told.IsZero():
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("Cache-Control", "no-store")
		}
		var err error
		switch {
		case !bytes.Equal(a.body.Bytes(), last):
			last, told = bytes.Clone(a.body.Bytes()), time.Now()
			_, err = fmt.Fprintf(w, "data: %s\n\n", bytes.TrimSpace(last))
		case time.Since(told) > streamAlive:
			told = time.Now()
			_, err = fmt.Fprint(w, ":\n\n")
		}
		if err != nil || out.Flush() != nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		case <-r.Context().Done():
			return
		}
	}
}

// answer is a response that is looked at before it is passed on.
type answer struct {
	head   http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.head }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) { a.status = status }

// Write implements http.ResponseWriter.
func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }

func (a *answer) passOn(w http.ResponseWriter) {
	for name, values := range a.head {
		w.Header()[name] = values
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body.Bytes())
}
