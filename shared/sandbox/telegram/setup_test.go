package telegram_test

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

	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/telegram"
	"supportbot/shared/spec"
)

const token = "7000000001:canary-token"

// bundle is a server with a caller that knows no library. Each answer and each
// update is judged by the description of the Bot API.
type bundle struct {
	*telegram.Server
	t      *testing.T
	ctx    context.Context
	url    string
	faults *fault.Set
	calls  *fault.Log
	clock  *clock
	schema *spec.TelegramSpec
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
	spec *spec.TelegramSpec
	err  error
}

func setup(t *testing.T, change ...func(*telegram.Config)) *bundle {
	t.Helper()
	b := &bundle{t: t, faults: &fault.Set{}, calls: &fault.Log{}, clock: &clock{t: time.Unix(1_772_625_600, 0)}}
	if dir, ok := spec.Dir(t, "telegram"); ok {
		schema.once.Do(func() { schema.spec, schema.err = spec.Telegram(dir) })
		if schema.err != nil {
			t.Fatal(schema.err)
		}
		b.schema = schema.spec
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	b.ctx = ctx
	c := telegram.Config{
		Token: token, Now: b.clock.now, Faults: b.faults, Calls: b.calls,
		Burst: -1, PerSecond: -1, PerMinute: -1,
	}
	for _, f := range change {
		f(&c)
	}
	b.Server = telegram.New(c)
	server := httptest.NewServer(b.Server)
	t.Cleanup(server.Close)
	t.Cleanup(b.Close)
	b.url = server.URL
	return b
}

// started gives a customer whom the bot may write to.
func (b *bundle) started() *telegram.Customer {
	return b.Customer(telegram.User{FirstName: "Анна", LastName: "Ёж", Username: "anna", Language: "ru", Started: true})
}

// answer is what a method answered.
type answer struct {
	Status      int             `json:"-"`
	OK          bool            `json:"ok"`
	Result      json.RawMessage `json:"result"`
	Code        int             `json:"error_code"`
	Description string          `json:"description"`
	Parameters  struct {
		RetryAfter int   `json:"retry_after"`
		MigrateTo  int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
}

// fields are the parameters of a call.
type fields map[string]any

// call calls a method with a JSON body.
func (b *bundle) call(method string, params fields) answer {
	b.t.Helper()
	body, err := json.Marshal(params)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.post(method, "application/json", body)
}

func (b *bundle) post(method, contentType string, body []byte) answer {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.ctx, http.MethodPost, b.url+"/bot"+token+"/"+method, bytes.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Content-Type", contentType)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	if b.schema != nil {
		name, _, _ := strings.Cut(method, "?")
		if err := b.schema.Answer(name, raw); err != nil {
			b.t.Errorf("answer: %v in %s", err, raw)
		}
	}
	a := answer{Status: resp.StatusCode}
	if err := json.Unmarshal(raw, &a); err != nil {
		b.t.Fatal(err)
	}
	if a.OK != (a.Status == http.StatusOK) || !a.OK && a.Code != a.Status {
		b.t.Errorf("%s: got status %d with %s", method, a.Status, raw)
	}
	return a
}

// upload calls a method with a file.
func (b *bundle) upload(method, field, name string, data []byte, params map[string]string) answer {
	b.t.Helper()
	var body bytes.Buffer
	body.Grow(len(data) + 1024)
	w := multipart.NewWriter(&body)
	for key, value := range params {
		_ = w.WriteField(key, value)
	}
	part, err := w.CreateFormFile(field, name)
	if err != nil {
		b.t.Fatal(err)
	}
	_, _ = part.Write(data)
	_ = w.Close()
	return b.post(method, w.FormDataContentType(), body.Bytes())
}

// result calls a method that has to succeed and decodes its result.
func (b *bundle) result(method string, params fields, v any) {
	b.t.Helper()
	a := b.call(method, params)
	b.decode(method, a, v)
}

func (b *bundle) decode(method string, a answer, v any) {
	b.t.Helper()
	if !a.OK {
		b.t.Fatalf("%s: got %d: %s", method, a.Code, a.Description)
	}
	if err := json.Unmarshal(a.Result, v); err != nil {
		b.t.Fatal(err)
	}
}

// sent is a message as the API gives it.
type sent struct {
	ID       int64              `json:"message_id"`
	Text     string             `json:"text"`
	Caption  string             `json:"caption"`
	Entities []telegram.Entity  `json:"entities"`
	Chat     struct{ ID int64 } `json:"chat"`
	Date     int64              `json:"date"`
	EditDate int64              `json:"edit_date"`
	Album    string             `json:"media_group_id"`
	Photo    []struct {
		ID   string `json:"file_id"`
		Size int64  `json:"file_size"`
	} `json:"photo"`
	Document *struct {
		ID   string `json:"file_id"`
		Name string `json:"file_name"`
		MIME string `json:"mime_type"`
		Size int64  `json:"file_size"`
	} `json:"document"`
	Reply *struct {
		ID int64 `json:"message_id"`
	} `json:"reply_to_message"`
	Markup *struct {
		Rows [][]telegram.Button `json:"inline_keyboard"`
	} `json:"reply_markup"`
}

// send sends a text that has to arrive.
func (b *bundle) send(c *telegram.Customer, text string, more fields) sent {
	b.t.Helper()
	params := fields{"chat_id": c.Chat(), "text": text}
	for key, value := range more {
		params[key] = value
	}
	var m sent
	b.result("sendMessage", params, &m)
	return m
}

// update is an update as a bot reads it.
type update struct {
	ID       int64 `json:"update_id"`
	Message  *sent `json:"message"`
	Edited   *sent `json:"edited_message"`
	Callback *struct {
		ID      string `json:"id"`
		Data    string `json:"data"`
		Message *sent  `json:"message"`
	} `json:"callback_query"`
	Member *struct {
		New struct{ Status string } `json:"new_chat_member"`
	} `json:"my_chat_member"`
	raw    json.RawMessage
	secret string
}

// text is what the update says, for comparisons.
func (u update) text() string {
	switch {
	case u.Message != nil:
		return u.Message.Text
	case u.Edited != nil:
		return "edit " + u.Edited.Text
	case u.Callback != nil:
		return "press " + u.Callback.Data
	case u.Member != nil:
		return "member " + u.Member.New.Status
	}
	return "other"
}

func (b *bundle) read(raw []byte) update {
	if b.schema != nil {
		if err := b.schema.Update(raw); err != nil {
			b.t.Errorf("%v in %s", err, raw)
		}
	}
	u := update{raw: raw}
	if err := json.Unmarshal(raw, &u); err != nil {
		b.t.Error(err)
	}
	return u
}

// updates takes what getUpdates gives and confirms nothing.
func (b *bundle) updates(params fields) []update {
	b.t.Helper()
	var raws []json.RawMessage
	b.result("getUpdates", params, &raws)
	var list []update
	for _, raw := range raws {
		list = append(list, b.read(raw))
	}
	return list
}

func texts(list []update) []string {
	var out []string
	for _, u := range list {
		out = append(out, u.text())
	}
	return out
}

// hooked is a webhook that keeps what it is told. Each call waits for an answer
// when there are scripted ones, else it is answered 200 at once.
type hooked struct {
	got  chan update
	mu   sync.Mutex
	next []func(http.ResponseWriter)
}

func (h *hooked) answer(f ...func(http.ResponseWriter)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.next = append(h.next, f...)
}

func status(code int) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { w.WriteHeader(code) }
}

// listen starts a webhook and gives it with its address.
func (b *bundle) listen() (*hooked, string) {
	h := &hooked{got: make(chan update, 1000)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
			b.t.Errorf("webhook: got %s of %s", r.Method, r.Header.Get("Content-Type"))
		}
		u := b.read(raw)
		u.secret = r.Header.Get("X-Telegram-Bot-Api-Secret-Token")
		reply := status(http.StatusOK)
		h.mu.Lock()
		if len(h.next) > 0 {
			reply, h.next = h.next[0], h.next[1:]
		}
		h.mu.Unlock()
		h.got <- u
		reply(w)
	}))
	b.t.Cleanup(server.Close)
	return h, server.URL
}

// connected starts a webhook that gets everything.
func (b *bundle) connected() *hooked {
	h, address := b.listen()
	b.Connect(address, "s3cret")
	return h
}

// take waits for the next call of the webhook.
func (b *bundle) take(h *hooked) update {
	b.t.Helper()
	select {
	case u := <-h.got:
		return u
	case <-b.ctx.Done():
		b.t.Fatal("no webhook call came")
		return update{}
	}
}

// calledTimes waits until n webhook calls have ended.
func (b *bundle) calledTimes(n int) []fault.Call {
	b.t.Helper()
	var ended []fault.Call
	if err := b.calls.Wait(b.ctx, func(calls []fault.Call) bool {
		ended = nil
		for _, c := range calls {
			if c.Method == telegram.WebhookMethod {
				ended = append(ended, c)
			}
		}
		return len(ended) >= n
	}); err != nil {
		b.t.Fatalf("got %d webhook calls, want %d", len(ended), n)
	}
	return ended
}
