package chaos

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"

	"supportbot/functions/local/chaos/process"
)

// gate is before the messenger: it counts the calls that send, and lets things happen
// at one of them while the others are under way.
type gate struct {
	next   http.Handler
	seen   atomic.Int64 // calls that send
	waited atomic.Int64 // those whose caller lived, and waited no longer

	mu     sync.Mutex
	script []event
	since  int // calls since the last event
}

// event is what happens at a call that sends.
type event struct {
	after int // so many calls after the event before it, made by processes that live
	// before it reaches the messenger; lost: it never does.
	before func(by *process.Process) (lost bool)
	// answered: it has had its effect, and nobody has the answer.
	answered func(by *process.Process)
}

// then adds an event to those that are to happen one after the other.
func (g *gate) then(e event) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.script = append(g.script, e)
}

// take counts a call and gives what is to happen at it.
func (g *gate) take(by *process.Process) (e event) {
	g.seen.Add(1)
	g.mu.Lock()
	defer g.mu.Unlock()
	if by.Told() || len(g.script) == 0 {
		return event{}
	}
	if g.since++; g.since < g.script[0].after {
		return event{}
	}
	e, g.script, g.since = g.script[0], g.script[1:], 0
	return e
}

// of is the gate for the calls of one worker.
func (g *gate) of(k *process.Place) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/sendMessage") && !strings.HasSuffix(r.URL.Path, "/messages.send") {
			g.next.ServeHTTP(w, r)
			return
		}
		by := k.Present()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler) // it never came
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		e := g.take(by)
		if e.before != nil && e.before(by) {
			panic(http.ErrAbortHandler)
		}
		answer := httptest.NewRecorder()
		g.next.ServeHTTP(answer, r)
		if e.answered != nil {
			e.answered(by)
		}
		if r.Context().Err() != nil && !by.Told() {
			g.waited.Add(1)
		}
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	})
}
