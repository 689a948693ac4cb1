package platform_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
)

// front is the gateway before all instances of the platform: it shares the calls
// out among them, in turn. A test can catch calls and make them itself.
type front struct {
	mu     sync.Mutex
	backs  []string // addresses
	turn   int
	catch  func(call) bool
	caught chan call
}

// call is one call of a webhook.
type call struct {
	method, path string // with the query
	header       http.Header
	body         []byte
}

func (f *front) add(url string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.backs = append(f.backs, url)
}

func (f *front) remove(url string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, b := range f.backs {
		if b == url {
			f.backs = append(f.backs[:i:i], f.backs[i+1:]...)
			return
		}
	}
}

// next gives the instance whose turn it is; "" when there is none.
func (f *front) next() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.backs) == 0 {
		return ""
	}
	f.turn++
	return f.backs[f.turn%len(f.backs)]
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	c := call{r.Method, r.URL.RequestURI(), r.Header, body}
	f.mu.Lock()
	taken := f.catch != nil && f.catch(c)
	f.mu.Unlock()
	if taken {
		f.caught <- c
		_, _ = io.WriteString(w, "ok") // what VK wants to hear
		return
	}
	res, err := f.forward(r.Context(), c)
	if err != nil {
		http.Error(w, "no instance", http.StatusBadGateway)
		return
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil { // the instance died while it answered
		http.Error(w, "no whole answer", http.StatusBadGateway)
		return
	}
	for name, values := range res.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(res.StatusCode)
	_, _ = w.Write(answer)
}

func (f *front) forward(ctx context.Context, c call) (*http.Response, error) {
	to := f.next()
	if to == "" {
		return nil, http.ErrServerClosed
	}
	r, err := http.NewRequestWithContext(ctx, c.method, to+c.path, bytes.NewReader(c.body))
	if err != nil {
		return nil, err
	}
	r.Header = c.header.Clone()
	return http.DefaultClient.Do(r)
}

// caught does something that makes a messenger call n times, and gives these
// calls, in the order of their coming, instead of making them. Calls without the
// text pass.
func (w *world) caught(n int, text string, do func()) []call {
	w.t.Helper()
	f := w.front
	f.mu.Lock()
	f.caught = make(chan call, 64)
	f.catch = func(c call) bool { return c.path != "/tracker" && strings.Contains(string(c.body), text) }
	f.mu.Unlock()
	do()
	var all []call
	for len(all) < n {
		select {
		case c := <-f.caught:
			all = append(all, c)
		case <-w.ctx.Done():
			w.t.Fatalf("caught %d calls of %d", len(all), n)
		}
	}
	f.mu.Lock()
	f.catch = nil
	f.mu.Unlock()
	return all
}

// atOnce makes all calls at the same time, and gives the statuses.
func (w *world) atOnce(calls ...call) []int {
	w.t.Helper()
	statuses := make([]int, len(calls))
	var all sync.WaitGroup
	for i, c := range calls {
		all.Add(1)
		go func() {
			defer all.Done()
			res, err := w.front.forward(w.ctx, c)
			if err != nil {
				w.t.Errorf("call: %v", err)
				return
			}
			defer func() { _ = res.Body.Close() }()
			_, _ = io.Copy(io.Discard, res.Body)
			statuses[i] = res.StatusCode
		}()
	}
	all.Wait()
	return statuses
}

// delivered makes all calls at the same time and, as messengers do, repeats what is
// asked to be repeated.
func (w *world) delivered(calls ...call) {
	w.t.Helper()
	for len(calls) > 0 && w.ctx.Err() == nil {
		var again []call
		for i, status := range w.atOnce(calls...) {
			switch status {
			case http.StatusOK:
			case http.StatusServiceUnavailable:
				again = append(again, calls[i])
			default:
				w.t.Errorf("call %d was answered %d", i, status)
			}
		}
		calls = again
	}
}
