package fault_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"supportbot/shared/sandbox/fault"
)

func TestSet_Take(t *testing.T) {
	t.Parallel()
	var s fault.Set
	id := s.Add(fault.Fault{Method: "send*", Kind: fault.Status, Times: 2})
	always := s.Add(fault.Fault{Method: "POST /v3/issues/*/comments", Kind: fault.Delay})
	if _, ok := s.Take("editMessage"); ok {
		t.Error("a rule for another method applies")
	}
	for range 2 {
		if f, ok := s.Take("sendMessage"); !ok || f.ID != id || f.Kind != fault.Status {
			t.Errorf("got %+v, %v, want rule %d", f, ok, id)
		}
	}
	if _, ok := s.Take("sendMessage"); ok {
		t.Error("the rule applies more often than it says")
	}
	for range 3 {
		if f, ok := s.Take("POST /v3/issues/T-1/comments"); !ok || f.ID != always {
			t.Errorf("got %+v, %v, want rule %d each time", f, ok, always)
		}
	}
	if list := s.List(); len(list) != 1 || list[0].ID != always {
		t.Errorf("got rules %+v, want the one without an end", list)
	}
	s.Clear()
	if _, ok := s.Take("POST /v3/issues/T-1/comments"); ok || len(s.List()) != 0 {
		t.Error("a removed rule applies")
	}
}

func TestSet_Met(t *testing.T) {
	t.Parallel()
	var s fault.Set
	id := s.Add(fault.Fault{Method: "m", Kind: fault.Status})
	met := s.Met(id)
	select {
	case <-met:
		t.Fatal("met before any call")
	default:
	}
	s.Take("m")
	s.Take("m")
	<-met
	<-s.Met(id) // also for who asks later
}

// Every kind: whether the call takes effect, and what its caller gets.
func TestSet_Serve(t *testing.T) {
	t.Parallel()
	for kind, want := range map[fault.Kind]struct {
		effect bool
		status int // 0: no answer
	}{
		fault.HangBefore:  {false, 0},
		fault.HangAfter:   {true, 0},
		fault.CloseBefore: {false, 0},
		fault.CloseAfter:  {true, 0},
		fault.Status:      {false, http.StatusTeapot},
		fault.HTMLBefore:  {false, http.StatusBadGateway},
		fault.HTMLAfter:   {true, http.StatusBadGateway},
		fault.Delay:       {true, http.StatusAccepted},
		fault.Duplicate:   {true, http.StatusAccepted}, // for calls that the server makes
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			var s fault.Set
			id := s.Add(fault.Fault{Method: "m", Kind: kind, Status: http.StatusTeapot, Times: 1, Wait: time.Millisecond})
			effect := make(chan string, 1)
			over := make(chan struct{})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				defer close(over)
				s.Serve(w, r, "m", func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(io.LimitReader(r.Body, 4)) // not to its end
					effect <- string(body)
					w.WriteHeader(http.StatusAccepted)
				}, func(w http.ResponseWriter, f fault.Fault) { w.WriteHeader(f.Status) })
			}))
			t.Cleanup(server.Close)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if kind == fault.HangBefore || kind == fault.HangAfter {
				go func() { <-s.Met(id); cancel() }()
			}
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, strings.NewReader("body that is read in part"))
			if err != nil {
				t.Fatal(err)
			}
			status := 0
			if resp, err := server.Client().Do(r); err == nil {
				status = resp.StatusCode
				_ = resp.Body.Close()
			} else if errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
			<-over // a server that hangs notices that its caller has gone
			if got := len(effect) > 0; got != want.effect || status != want.status {
				t.Errorf("got effect %v, status %d, want %v, %d", got, status, want.effect, want.status)
			}
		})
	}
}

func TestLog(t *testing.T) {
	t.Parallel()
	var l fault.Log
	go func() {
		for range 3 {
			l.Add(fault.Call{Method: "m"})
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := l.Wait(ctx, func(calls []fault.Call) bool { return len(calls) == 3 }); err != nil {
		t.Fatal(err)
	}
	calls := l.Since(1)
	if len(calls) != 2 || calls[0].N != 2 || calls[1].N != 3 || calls[0].At.IsZero() {
		t.Errorf("got %+v, want calls 2 and 3 with their times", calls)
	}
	if late := l.Since(7); late != nil {
		t.Errorf("got %+v, want none", late)
	}
	cancel()
	if err := l.Wait(ctx, func([]fault.Call) bool { return false }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
	if err := l.More(ctx, 3); !errors.Is(err, context.Canceled) {
		t.Errorf("more than all: got %v, want the context's error", err)
	}
}

// A log that keeps few calls numbers them all the same.
func TestLog_Keep(t *testing.T) {
	t.Parallel()
	l := fault.Log{Keep: 10}
	for n := range 1000 {
		l.Add(fault.Call{Method: "m"})
		if kept := len(l.Since(0)); kept > 20 || kept < min(n+1, 10) {
			t.Fatalf("%d calls are kept of %d", kept, n+1)
		}
	}
	last := l.Since(997)
	if l.Count() != 1000 || len(last) != 3 || last[0].N != 998 || l.Since(1000) != nil {
		t.Errorf("%d calls, the last %+v; want 1000, and the last three", l.Count(), last)
	}
	if err := l.More(context.Background(), 999); err != nil {
		t.Error(err)
	}
}

// A rule may go before the others, is taken away before its time, and says how often
// it was met.
func TestSet_FirstAndRemove(t *testing.T) {
	t.Parallel()
	var s fault.Set
	usual := s.Add(fault.Fault{Method: "*", Kind: fault.Delay, Times: 2})
	urgent := s.First(fault.Fault{Method: "*", Kind: fault.Status})
	for range 3 {
		if f, ok := s.Take("call"); !ok || f.ID != urgent {
			t.Fatalf("a call meets %v", f)
		}
	}
	if met := s.Remove(urgent); met != 3 {
		t.Errorf("met %d times, want 3", met)
	}
	for range 2 {
		if f, ok := s.Take("call"); !ok || f.ID != usual {
			t.Fatalf("a call meets %v", f)
		}
	}
	if f, ok := s.Take("call"); ok {
		t.Errorf("a call meets %v", f)
	}
	if met := s.Remove(usual); met != 2 {
		t.Errorf("met %d times, want 2", met)
	}
}
