package sandbox_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"supportbot/shared/sandbox"
	"supportbot/shared/sandbox/tracker"
)

// stream is a connection to the events.
type stream struct {
	t    *testing.T
	body io.ReadCloser
	r    *bufio.Reader
}

func (b *bundle) stream(panes ...string) *stream {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.ctx, http.MethodGet, b.url+"events?"+url.Values{"pane": panes}.Encode(), nil)
	if err != nil {
		b.t.Fatal(err)
	}
	resp, err := b.web.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { resp.Body.Close() })
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" {
		b.t.Fatalf("got %d %s", resp.StatusCode, got)
	}
	return &stream{b.t, resp.Body, bufio.NewReader(resp.Body)}
}

// next waits for the next event.
func (s *stream) next() sandbox.Update {
	s.t.Helper()
	for {
		line, err := s.r.ReadString('\n')
		if err != nil {
			s.t.Fatalf("read event: %v", err)
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var u sandbox.Update
		if err := json.Unmarshal([]byte(data), &u); err != nil {
			s.t.Fatal(err)
		}
		return u
	}
}

// until waits for an event of which ok holds.
func (s *stream) until(ok func(sandbox.Update) bool) sandbox.Update {
	s.t.Helper()
	for {
		if u := s.next(); ok(u) {
			return u
		}
	}
}

func TestEvents_WholeThenChanges(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.people("telegram")[0]
	path := "chats/telegram/" + id
	b.must("POST", path+"/messages", newForm("text", "one"))
	s := b.stream(path)
	if u := s.next(); u.Pane != path || !u.Whole || u.Head == nil || len(u.Put) != 1 {
		t.Fatalf("got %+v, want the whole chat", u)
	}
	b.must("POST", path+"/messages", newForm("text", "two"))
	u := s.next()
	if u.Whole || u.Head != nil || len(u.Put) != 1 || !strings.Contains(string(u.Put[0]), `"two"`) {
		t.Errorf("got %+v, want the new message alone", u)
	}
	var m message
	if err := json.Unmarshal(u.Put[0], &m); err != nil {
		t.Fatal(err)
	}
	b.must("PATCH", path+"/messages/"+m.ID, map[string]string{"text": "three"})
	if u := s.next(); len(u.Put) != 1 || !strings.Contains(string(u.Put[0]), `"three"`) {
		t.Errorf("got %+v, want the edited message alone", u)
	}
	b.must("DELETE", path+"/messages/"+m.ID, nil)
	if u := s.next(); len(u.Put) != 0 || len(u.Drop) != 1 || u.Drop[0] != m.ID {
		t.Errorf("got %+v, want the message dropped", u)
	}
	b.must("POST", path+"/block", map[string]bool{"on": true})
	if u := s.next(); u.Head == nil || len(u.Put)+len(u.Drop) != 0 {
		t.Errorf("got %+v, want the head alone", u)
	}
}

func TestEvents_SeveralPanes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.stream("tickets", "tickets/SUP-1", "faults", "calls/tracker")
	gone := map[string]bool{}
	for range 4 {
		u := s.next()
		gone[u.Pane] = u.Gone
	}
	if len(gone) != 4 || !gone["tickets/SUP-1"] || gone["tickets"] || gone["faults"] || gone["calls/tracker"] {
		t.Fatalf("got %v, want only the unknown ticket gone", gone)
	}

	if _, err := b.Tracker.As("anna").Create(tracker.NewTicket{Summary: "new"}); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	s.until(func(u sandbox.Update) bool {
		seen[u.Pane] = true
		return seen["tickets"] && seen["tickets/SUP-1"]
	})

	b.must("POST", "faults/tracker", map[string]any{"method": "GET /v3/myself", "kind": "status", "times": 1, "status": 503})
	s.until(func(u sandbox.Update) bool { return u.Pane == "faults" && len(u.Put) == 1 })
	r, _ := http.NewRequestWithContext(b.ctx, http.MethodGet, b.TrackerURL+"/v3/myself", nil)
	r.Header.Set("Authorization", "OAuth "+b.TrackerToken)
	r.Header.Set("X-Org-ID", b.TrackerOrg)
	if got := b.send(r).status; got != http.StatusServiceUnavailable {
		t.Fatalf("got %d, want the fault's status", got)
	}
	done := map[string]bool{} // a call that met a fault changes both, in any order
	s.until(func(u sandbox.Update) bool {
		done["call"] = done["call"] || u.Pane == "calls/tracker" && len(u.Put) == 1
		done["used up"] = done["used up"] || u.Pane == "faults" && len(u.Drop) == 1
		return done["call"] && done["used up"]
	})
}

func TestEvents_EndWithClose(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.stream("tickets")
	s.next()
	b.box.Close()
	if _, err := io.ReadAll(s.r); err != nil {
		t.Errorf("got %v, want the end of the stream", err)
	}
}

func TestEvents_Refused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, panes := range map[string][]string{"none": nil, "too many": strings.Split(strings.Repeat("tickets ", 12)+"tickets", " ")} {
		r, err := http.NewRequestWithContext(b.ctx, http.MethodGet, b.url+"events?"+url.Values{"pane": panes}.Encode(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := b.send(r).status; got != http.StatusBadRequest {
			t.Errorf("%s: got %d, want 400", name, got)
		}
	}
}
