// Package fault makes the sandbox's servers misbehave on demand, and keeps the
// log of what was asked of them. Both are the same for all three servers.
package fault

import (
	"io"
	"net/http"
	"path"
	"slices"
	"sync"
	"time"
)

// Kind is a way of misbehaving.
type Kind string

// The kinds. "Before" means that the call has no effect, "after" that it has.
const (
	HangBefore  Kind = "hang_before"  // no answer until the caller gives up
	HangAfter   Kind = "hang_after"   // takes effect, then no answer
	CloseBefore Kind = "close_before" // the connection breaks
	CloseAfter  Kind = "close_after"  // takes effect, then the connection breaks
	Status      Kind = "status"       // answers Fault.Status in the server's own error form, without effect
	HTMLBefore  Kind = "html_before"  // a proxy's 502 page, without effect
	HTMLAfter   Kind = "html_after"   // takes effect, then a proxy's 502 page
	Delay       Kind = "delay"        // takes effect after Fault.Wait, then answers
	// For calls that the server makes (webhooks, triggers):
	Drop      Kind = "drop"      // the call is not made
	Duplicate Kind = "duplicate" // the call is made twice
	Late      Kind = "late"      // the call is made after Fault.Wait, later ones overtake it
)

// Fault is one rule. It applies to the next Times calls (0: to all until it is
// removed) whose method matches.
type Fault struct {
	ID         int           `json:"id"`
	Method     string        `json:"method"` // path.Match pattern: "sendMessage", "messages.*", "POST /v3/issues/*/comments", "webhook"
	Kind       Kind          `json:"kind"`
	Times      int           `json:"times"`
	Status     int           `json:"status,omitempty"`
	RetryAfter int           `json:"retry_after,omitempty"` // seconds
	Wait       time.Duration `json:"wait,omitempty"`
}

// Set is the faults of one server. The zero value has none.
type Set struct {
	mu    sync.Mutex
	rules []*Fault
	next  int
	met   map[int]chan struct{}
	taken map[int]int // calls that met a rule
}

// Add adds a rule and gives its id.
func (s *Set) Add(f Fault) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	f.ID = s.next
	s.rules = append(s.rules, &f)
	return f.ID
}

// First adds a rule that goes before all others, and gives its id.
func (s *Set) First(f Fault) int {
	id := s.Add(f)
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.rules) - 1
	s.rules = append([]*Fault{s.rules[last]}, s.rules[:last]...)
	return id
}

// Remove takes a rule away, if it still applies, and gives how many calls met it.
func (s *Set) Remove(id int) (met int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = slices.DeleteFunc(s.rules, func(f *Fault) bool { return f.ID == id })
	return s.taken[id]
}

// Met gives a channel that is closed once a call has met the rule: a test waits
// for the call that hangs, not for a time.
func (s *Set) Met(id int) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.signal(id)
}

func (s *Set) signal(id int) chan struct{} {
	if s.met == nil {
		s.met = make(map[int]chan struct{})
	}
	if s.met[id] == nil {
		s.met[id] = make(chan struct{})
	}
	return s.met[id]
}

// Clear removes all rules.
func (s *Set) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = nil
}

// List gives the rules that still apply.
func (s *Set) List() []Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Fault, 0, len(s.rules))
	for _, f := range s.rules {
		list = append(list, *f)
	}
	return list
}

// Take gives the fault for a call, if any, and counts it.
func (s *Set) Take(method string) (Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range s.rules {
		if ok, _ := path.Match(f.Method, method); !ok {
			continue
		}
		if met := s.signal(f.ID); !closed(met) {
			close(met)
		}
		if s.taken == nil {
			s.taken = make(map[int]int)
		}
		s.taken[f.ID]++
		if f.Times > 0 {
			f.Times--
			if f.Times == 0 {
				s.rules = append(s.rules[:i:i], s.rules[i+1:]...)
			}
		}
		return *f, true
	}
	return Fault{}, false
}

// Serve runs a call under the fault that applies to it. answer writes an error in
// the server's own form (for Status).
func (s *Set) Serve(w http.ResponseWriter, r *http.Request, method string, next http.HandlerFunc, answer func(http.ResponseWriter, Fault)) {
	f, _ := s.Take(method)
	f.Serve(w, r, next, answer)
}

// Serve runs a call under this fault; the zero value is none.
func (f Fault) Serve(w http.ResponseWriter, r *http.Request, next http.HandlerFunc, answer func(http.ResponseWriter, Fault)) {
	switch f.Kind {
	case HangBefore:
		hang(r)
	case HangAfter:
		next(discard{http.Header{}}, r)
		hang(r)
	case CloseBefore:
		panic(http.ErrAbortHandler)
	case CloseAfter:
		next(discard{http.Header{}}, r)
		panic(http.ErrAbortHandler)
	case Status:
		answer(w, f)
	case HTMLBefore:
		badGateway(w)
	case HTMLAfter:
		next(discard{http.Header{}}, r)
		badGateway(w)
	case Delay:
		wait(r, f.Wait)
		next(w, r)
	default:
		next(w, r)
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// hang blocks until the caller gives up. The server notices that only after it
// has read the whole body.
func hang(r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

func wait(r *http.Request, d time.Duration) {
	select {
	case <-r.Context().Done():
	case <-time.After(d):
	}
}

func badGateway(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(http.StatusBadGateway)
	_, _ = w.Write([]byte("<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center></body></html>"))
}

// discard is a response that nobody gets.
type discard struct{ h http.Header }

func (d discard) Header() http.Header         { return d.h }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}
