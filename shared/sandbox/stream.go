package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"supportbot/shared/sandbox/fault"
)

const (
	maxPanes  = 12
	gathering = 20 * time.Millisecond // changes within it go out together
	heartbeat = 15 * time.Second      // so that a dead connection is noticed
	retry     = 1000                  // milliseconds until the page connects again
)

// events streams the panes named by the parameters "pane" as server-sent events:
// each whole at first, then what changes. Each event's data is an Update.
func (s *Sandbox) events(w http.ResponseWriter, r *http.Request) {
	paths := r.URL.Query()["pane"]
	if len(paths) == 0 || len(paths) > maxPanes {
		refuse(w, http.StatusBadRequest, "invalid", fmt.Sprintf("1 to %d parameters \"pane\" are needed", maxPanes))
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()

	rc := http.NewResponseController(w)
	_ = rc.SetWriteDeadline(time.Time{}) // a server's WriteTimeout is not meant for streams
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no")
	changes, stop := s.watch(ctx, paths)
	defer stop()
	if _, err := fmt.Fprintf(w, "retry: %d\n\n", retry); err != nil {
		return
	}
	memories := make([]memory, len(paths))
	for n, path := range paths {
		memories[n].path = path
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		if s.tell(ctx, w, memories) != nil || rc.Flush() != nil {
			return
		}
		if !wait(ctx, w, changes, beat.C) {
			return
		}
	}
}

// wait blocks until something changed; false when the stream is over.
func wait(ctx context.Context, w http.ResponseWriter, changes <-chan struct{}, beat <-chan time.Time) bool {
	select {
	case <-ctx.Done():
		return false
	case <-beat:
		_, err := fmt.Fprint(w, ": still here\n\n")
		return err == nil
	case <-changes:
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(gathering):
		return true
	}
}

// tell writes what the reader lacks.
func (s *Sandbox) tell(ctx context.Context, w http.ResponseWriter, memories []memory) error {
	for n := range memories {
		u, news, err := s.lacks(&memories[n])
		if err != nil {
			s.log.ErrorContext(ctx, "sandbox cannot show a pane", "pane", memories[n].path, "error", err)
			return err
		}
		if !news {
			continue
		}
		data, err := json.Marshal(u)
		if err != nil {
			return fmt.Errorf("encode update: %w", err)
		}
		if _, err := fmt.Fprintf(w, "data: %s\n\n", data); err != nil {
			return fmt.Errorf("write event: %w", err)
		}
	}
	return nil
}

func (s *Sandbox) lacks(m *memory) (Update, bool, error) {
	p, err := s.find(m.path)
	if errors.Is(err, errNotFound) {
		u, news := m.lose()
		return u, news, nil
	}
	if err != nil {
		return Update{}, false, err
	}
	return m.update(p)
}

// watch gives a channel that gets a value after changes that concern the panes.
func (s *Sandbox) watch(ctx context.Context, paths []string) (changes <-chan struct{}, stop func()) {
	out := make(chan struct{}, 1)
	s.mu.Lock()
	s.watchers[out] = true
	s.mu.Unlock()
	stops := []func(){func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, out)
	}}
	sources := map[string]bool{}
	for _, path := range paths {
		kind, rest, _ := strings.Cut(path, "/")
		name, _, _ := strings.Cut(rest, "/")
		switch {
		case kind == "faults": // calls use faults up
			for server := range s.wires {
				sources["calls "+server] = true
			}
		case kind == "tickets", kind == "found":
			sources["tracker"] = true
		default:
			sources[kind+" "+name] = true
		}
	}
	for source := range sources {
		kind, name, _ := strings.Cut(source, " ")
		if p := s.phones[name]; kind == "chats" && p != nil {
			in, cancel := p.subscribe()
			stops = append(stops, cancel)
			go pass(ctx, in, out)
		}
		if wire, ok := s.wires[name]; kind == "calls" && ok {
			go listen(ctx, wire.calls, out)
		}
		if kind == "tracker" && s.tracker != nil {
			go pass(ctx, s.tracker.Subscribe(ctx), out)
		}
	}
	return out, func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// pass hands changes on.
func pass(ctx context.Context, in <-chan struct{}, out chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-in:
			poke(out)
		}
	}
}

// listen tells of new calls.
func listen(ctx context.Context, calls *fault.Log, out chan struct{}) {
	for seen := 0; calls.More(ctx, seen) == nil; {
		seen = calls.Count()
		poke(out)
	}
}
