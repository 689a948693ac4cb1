package tracker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"supportbot/shared/sandbox/tracker"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is a clock that tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// world is a server and a caller of its API.
type world struct {
	*tracker.Server
	t      *testing.T
	url    string
	clock  *clock
	client *http.Client
	header http.Header
}

func setup(t *testing.T, change ...func(*tracker.Config)) *world {
	t.Helper()
	c := &clock{now: time.Date(2026, 8, 1, 9, 0, 0, 0, time.UTC)}
	cfg := tracker.Config{
		Token: "secret", OrgID: "77", Now: c.Now,
		Agents: []tracker.User{
			{ID: "101", Login: "anna", Name: "Анна Агентова"}, {ID: "102", Login: "boris", Name: "Boris", Token: "boris-token"},
		},
		Queues: []tracker.Queue{tracker.DefaultQueue("SUP", "chat", "user"), tracker.DefaultQueue("BIL", "chat")},
	}
	for _, f := range change {
		f(&cfg)
	}
	s := tracker.New(cfg)
	web := httptest.NewServer(s)
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() { s.Close(); client.CloseIdleConnections(); web.Close() })
	return &world{
		Server: s, t: t, url: web.URL, clock: c, client: client,
		header: http.Header{"Authorization": {"OAuth secret"}, "X-Org-Id": {"77"}},
	}
}

// reply is an answer of the API.
type reply struct {
	status int
	header http.Header
	body   any
	raw    string
}

// object gives a value inside the body by names and indexes.
func (r reply) at(path ...any) any {
	v := r.body
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[step]
		case int:
			list, _ := v.([]any)
			if step >= len(list) {
				return nil
			}
			v = list[step]
		}
	}
	return v
}

func (r reply) text(path ...any) string {
	s, _ := r.at(path...).(string)
	return s
}

func (w *world) call(method, path, body string) reply {
	w.t.Helper()
	return w.do(method, path, "application/json", strings.NewReader(body))
}

func (w *world) do(method, path, contentType string, body io.Reader) reply {
	w.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, w.url+path, body)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header = w.header.Clone()
	req.Header.Set("Content-Type", contentType)
	resp, err := w.client.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	r := reply{status: resp.StatusCode, header: resp.Header, raw: string(raw)}
	_ = json.Unmarshal(raw, &r.body)
	return r
}

// must makes a call that has to succeed.
func (w *world) must(method, path, body string) reply {
	w.t.Helper()
	r := w.call(method, path, body)
	if r.status > 299 {
		w.t.Fatalf("%s %s: got %d %s", method, path, r.status, r.raw)
	}
	return r
}

func (w *world) upload(path, part, name, content string) reply {
	w.t.Helper()
	var form bytes.Buffer
	mw := multipart.NewWriter(&form)
	p, err := mw.CreateFormFile(part, name)
	if err != nil {
		w.t.Fatal(err)
	}
	_, _ = io.WriteString(p, content)
	_ = mw.Close()
	return w.do("POST", path, mw.FormDataContentType(), &form)
}

// localID gives the id of a queue's local field.
func (w *world) localID(queue, key string) string {
	w.t.Helper()
	r := w.must("GET", "/v3/queues/"+queue+"/localFields", "")
	for n := 0; r.at(n) != nil; n++ {
		if r.text(n, "key") == key {
			return r.text(n, "id")
		}
	}
	w.t.Fatalf("no field %s", key)
	return ""
}

func patient(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}
