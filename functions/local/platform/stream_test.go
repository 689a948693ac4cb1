package platform_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"supportbot/functions/local/platform"
)

// progress is a handler whose counts can be changed, until the session ends.
type progress struct {
	sent   atomic.Int64
	refuse atomic.Bool
}

func (p *progress) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	if p.refuse.Load() {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprint(w, `{"status":401}`)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, "{\"sent\":%d}\n", p.sent.Load())
}

func ask(t *testing.T, url, accept string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", accept)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

func TestStreaming(t *testing.T) {
	t.Parallel()
	p := &progress{}
	ctx, end := context.WithCancel(context.Background())
	defer end()
	s := httptest.NewServer(platform.Streaming(ctx, p))
	t.Cleanup(s.Close)
	const path = "/v1/broadcasts/7/progress"

	for url, accept := range map[string]string{s.URL + path: "application/json", s.URL + "/v1/broadcasts/7": "text/event-stream"} {
		if got := ask(t, url, accept).Header.Get("Content-Type"); got != "application/json" {
			t.Errorf("%s for %s: %s, want the plain answer", url, accept, got)
		}
	}

	resp := ask(t, s.URL+path, "text/event-stream")
	lines := bufio.NewScanner(resp.Body)
	wantLine := func(want string) {
		t.Helper()
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("got %q, %v, want %q", lines.Text(), lines.Err(), want)
		}
	}
	wantLine(`data: {"sent":0}`)
	wantLine("")
	p.sent.Store(5)
	wantLine(`data: {"sent":5}`)
	wantLine("")
	p.refuse.Store(true)
	if lines.Scan() {
		t.Errorf("got %q after the session has ended", lines.Text())
	}
	if got := ask(t, s.URL+path, "text/event-stream"); got.StatusCode != http.StatusUnauthorized || got.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("refused with %d, %s", got.StatusCode, got.Header.Get("Content-Type"))
	}

	p.refuse.Store(false)
	lines = bufio.NewScanner(ask(t, s.URL+path, "text/event-stream").Body)
	wantLine(`data: {"sent":5}`)
	wantLine("")
	end()
	if lines.Scan() {
		t.Errorf("got %q after the run has ended", lines.Text())
	}
}
