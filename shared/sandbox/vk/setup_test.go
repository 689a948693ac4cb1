package vk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/vk"
	"supportbot/shared/spec"
)

const (
	token = "vk1.a.token"
	group = 224455
)

// bundle is a server with a caller that knows no library. Each answer and each
// event is judged by VK's schema.
type bundle struct {
	*vk.Server
	t      *testing.T
	ctx    context.Context
	url    string
	faults *fault.Set
	calls  *fault.Log
	clock  *clock
	schema *spec.VKSpec
}

// clock is a clock that tests move.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

var schema struct {
	once sync.Once
	spec *spec.VKSpec
	err  error
}

func setup(t *testing.T, change ...func(*vk.Config)) *bundle {
	t.Helper()
	b := &bundle{t: t, faults: &fault.Set{}, calls: &fault.Log{}, clock: &clock{t: time.Unix(1_772_625_600, 0)}}
	if dir, ok := spec.Dir(t, "vk"); ok {
		schema.once.Do(func() { schema.spec, schema.err = spec.VK(dir) })
		if schema.err != nil {
			t.Fatal(schema.err)
		}
		b.schema = schema.spec
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	b.ctx = ctx
	c := vk.Config{
		Token: token, GroupID: group, Secret: "s3cret", Confirmation: "c0de",
		Now: b.clock.now, Faults: b.faults, Calls: b.calls,
	}
	for _, f := range change {
		f(&c)
	}
	b.Server = vk.New(c)
	server := httptest.NewServer(b.Server)
	t.Cleanup(server.Close)
	t.Cleanup(b.Close)
	b.url = server.URL
	b.SetURL(b.url)
	return b
}

// answer is what a method answered.
type answer struct {
	Response json.RawMessage `json:"response"`
	Error    struct {
		Code   int    `json:"error_code"`
		Text   string `json:"error_msg"`
		Params []struct{ Key, Value string }
	} `json:"error"`
	ExecuteErrors []struct {
		Code int `json:"error_code"`
	} `json:"execute_errors"`
}

// raw calls a method with exactly these parameters.
func (b *bundle) raw(method string, params url.Values) answer {
	b.t.Helper()
	resp, err := http.PostForm(b.url+"/method/"+method, params)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		b.t.Errorf("%s: got status %d and %s, want 200 and JSON", method, resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	if b.schema != nil {
		if err := b.schema.Answer(method, body); err != nil {
			b.t.Errorf("answer: %v", err)
		}
	}
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		b.t.Fatal(err)
	}
	return a
}

// call calls a method with the token and the version; query is its parameters.
func (b *bundle) call(method, query string) answer {
	b.t.Helper()
	params, err := url.ParseQuery(query)
	if err != nil {
		b.t.Fatal(err)
	}
	params.Set("access_token", token)
	params.Set("v", vk.Version)
	return b.raw(method, params)
}

// result calls a method and decodes its response.
func (b *bundle) result(method, query string, v any) {
	b.t.Helper()
	a := b.call(method, query)
	if a.Error.Code != 0 {
		b.t.Fatalf("%s: got error %d: %s", method, a.Error.Code, a.Error.Text)
	}
	if err := json.Unmarshal(a.Response, v); err != nil {
		b.t.Fatal(err)
	}
}

// upload sends a file to an upload server.
func (b *bundle) upload(address, field, name string, data []byte) map[string]any {
	b.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	part, err := w.CreateFormFile(field, name)
	if err != nil {
		b.t.Fatal(err)
	}
	_, _ = part.Write(data)
	_ = w.Close()
	resp, err := http.Post(address, w.FormDataContentType(), &body)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var v map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&v); err != nil {
		b.t.Fatal(err)
	}
	return v
}

// hooked is a callback server that keeps what it is told.
type hooked struct {
	got  chan posted
	mu   sync.Mutex
	next []func(http.ResponseWriter) // answers other than "ok"
}

type posted struct {
	Type    string          `json:"type"`
	EventID string          `json:"event_id"`
	Secret  string          `json:"secret"`
	Object  json.RawMessage `json:"object"`
	Retry   string          `json:"-"`
}

// text is the text of the message in the event.
func (p posted) text() string {
	var o struct {
		Message struct{ Text string }
	}
	_ = json.Unmarshal(p.Object, &o)
	return o.Message.Text
}

func (h *hooked) answer(f ...func(http.ResponseWriter)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.next = append(h.next, f...)
}

func status(code int) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { w.WriteHeader(code) }
}

func body(text string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { _, _ = io.WriteString(w, text) }
}

// listen starts a callback server and gives it with its address.
func (b *bundle) listen() (*hooked, string) {
	h := &hooked{got: make(chan posted, 100)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if b.schema != nil {
			if err := b.schema.Event(raw); err != nil {
				b.t.Errorf("event: %v", err)
			}
		}
		p := posted{Retry: r.Header.Get("X-Retry-Counter")}
		if err := json.Unmarshal(raw, &p); err != nil {
			b.t.Error(err)
		}
		reply := body("ok")
		if p.Type == "confirmation" {
			reply = body("c0de")
		}
		h.mu.Lock()
		if len(h.next) > 0 {
			reply, h.next = h.next[0], h.next[1:]
		}
		h.mu.Unlock()
		if p.Type != "confirmation" {
			h.got <- p
		}
		reply(w)
	}))
	b.t.Cleanup(server.Close)
	return h, server.URL
}

// connected starts a callback server that has confirmed.
func (b *bundle) connected() *hooked {
	h, address := b.listen()
	b.Connect(address)
	b.waitFor(func(calls []fault.Call) bool { return len(calls) > 0 && calls[len(calls)-1].Status == http.StatusOK })
	return h
}

// waitFor waits until the log of calls is as ok wants it.
func (b *bundle) waitFor(ok func([]fault.Call) bool) {
	b.t.Helper()
	if err := b.calls.Wait(b.ctx, ok); err != nil {
		b.t.Fatal(err)
	}
}
