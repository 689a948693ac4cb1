package vk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"supportbot/shared/env"
	"supportbot/shared/messenger"
	"supportbot/shared/messenger/messengertest"
	"supportbot/shared/messenger/vk"
	"supportbot/shared/sandbox/fault"
	sandbox "supportbot/shared/sandbox/vk"
	"supportbot/shared/spec"
)

const (
	token        = "vk1.a.canary-token"
	group        = int64(223344556)
	confirmation = "a1b2c3%d" // a format string is sent as it is
)

var secrets = []string{"canary-secret-one", "canary-secret-two"}

// harness is one bot on one fake, both judged by VK's schema.
type harness struct {
	t      *testing.T
	ctx    context.Context // ends with the test
	fake   *sandbox.Server
	calls  *fault.Log
	faults *fault.Set
	bot    *vk.Bot
	url    string
	log    *logged
	schema *spec.VKSpec // nil: not judged

	mu   sync.Mutex
	last int64 // of the ids of customers
}

var _ messengertest.Harness = (*harness)(nil)

func newHarness(t *testing.T, change ...func(*sandbox.Config)) *harness {
	t.Helper()
	h := &harness{t: t, faults: &fault.Set{}, calls: &fault.Log{}, log: &logged{}, last: 1 << 41}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	h.ctx = ctx
	if dir, ok := spec.Dir(t, "vk"); ok {
		schema, err := schemaOf(dir)
		if err != nil {
			t.Fatal(err)
		}
		h.schema = schema
	}
	c := sandbox.Config{
		Token: token, GroupID: group, Secret: secrets[0], Confirmation: confirmation,
		Faults: h.faults, Calls: h.calls, Retry: 10 * time.Millisecond, Patience: 1000,
	}
	for _, f := range change {
		f(&c)
	}
	h.fake = sandbox.New(c)
	t.Cleanup(h.fake.Close)
	h.url = h.listen(h.judgeAPI(h.fake))
	h.fake.SetURL(h.url)
	h.bot = h.newBot(h.url)
	return h
}

// schemaOf reads the schema once for all tests.
func schemaOf(dir string) (*spec.VKSpec, error) {
	schema.once.Do(func() { schema.spec, schema.err = spec.VK(dir) })
	return schema.spec, schema.err
}

var schema struct {
	once sync.Once
	spec *spec.VKSpec
	err  error
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

// listen serves a handler until the test ends.
func (h *harness) listen(handler http.Handler) string {
	server := httptest.NewServer(handler)
	h.t.Cleanup(func() {
		server.CloseClientConnections() // calls that hang on purpose
		server.Close()
	})
	return server.URL
}

func (h *harness) newBot(apiURL string) *vk.Bot {
	h.t.Helper()
	bot, err := vk.New(vk.Config{
		Token: env.NewSecret(token), GroupID: strconv.FormatInt(group, 10), Secrets: []env.Secret{env.NewSecret(secrets[0]), env.NewSecret(secrets[1])},
		Confirmation: confirmation, APIURL: apiURL, Log: slog.New(slog.NewJSONHandler(h.log, nil)),
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return bot
}

// judgeAPI holds requests and answers of methods against the schema.
func (h *harness) judgeAPI(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method, ok := strings.CutPrefix(r.URL.Path, "/method/")
		if !ok || h.schema == nil {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		form, err := url.ParseQuery(string(body))
		if err == nil {
			err = h.schema.Request(method, form)
		}
		if err != nil {
			h.t.Errorf("request: %v", err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		answer := &copied{ResponseWriter: w}
		next.ServeHTTP(answer, r)
		if strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
			if err := h.schema.Answer(method, answer.body.Bytes()); err != nil {
				h.t.Errorf("answer: %v", err)
			}
		}
	})
}

// copied keeps what is written.
type copied struct {
	http.ResponseWriter
	body bytes.Buffer
}

func (c *copied) Write(p []byte) (int, error) {
	c.body.Write(p)
	return c.ResponseWriter.Write(p)
}

// judgeEvents holds what the fake posts against the schema.
func (h *harness) judgeEvents(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if h.schema != nil {
			if err := h.schema.Event(body); err != nil {
				h.t.Errorf("event: %v", err)
			}
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

func (h *harness) Adapter() messenger.Adapter { return h.bot }

func (h *harness) Unreachable() messenger.Adapter {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	return h.newBot(server.URL)
}

func (h *harness) Unsecured() (messenger.Adapter, error) {
	bot, err := vk.New(vk.Config{Token: env.NewSecret(token), GroupID: strconv.FormatInt(group, 10), Confirmation: confirmation})
	if err != nil {
		return nil, err
	}
	return bot, nil
}

func (h *harness) Connect(webhook http.Handler) { h.fake.Connect(h.listen(h.judgeEvents(webhook))) }

// Call: VK proves itself inside the body.
func (h *harness) Call(body []byte, _ messengertest.Secret) *http.Request {
	return httptest.NewRequest(http.MethodPost, "/vk", bytes.NewReader(body))
}

func (h *harness) Message(c messengertest.Customer, text string, secret messengertest.Secret) []byte {
	h.mu.Lock()
	h.last++
	number := h.last
	h.mu.Unlock()
	user, _ := strconv.ParseInt(c.User(), 10, 64)
	event := map[string]any{
		"type": "message_new", "event_id": strconv.FormatInt(number, 10), "group_id": group, "v": "5.199",
		"object": map[string]any{
			"client_info": map[string]any{"button_actions": []string{"text", "callback"}, "inline_keyboard": true, "lang_id": 0},
			"message": map[string]any{
				"id": number, "date": 1_700_000_000, "peer_id": user, "from_id": user, "out": 0, "version": number,
				"text": text, "conversation_message_id": number - 1<<41, "attachments": []any{}, "fwd_messages": []any{},
			},
		},
	}
	switch secret {
	case messengertest.Right:
		event["secret"] = secrets[0]
	case messengertest.Second:
		event["secret"] = secrets[1]
	case messengertest.Wrong:
		event["secret"] = "guessed"
	}
	body, err := json.Marshal(event)
	if err != nil {
		h.t.Fatal(err)
	}
	return body
}

func (h *harness) Customer() messengertest.Customer { return h.customer() }

func (h *harness) customer() *customer {
	h.mu.Lock()
	h.last++
	id := h.last
	h.mu.Unlock()
	name := "Анна Canary" + strconv.FormatInt(id, 10)
	first, last, _ := strings.Cut(name, " ")
	return &customer{Customer: h.fake.Customer(sandbox.User{ID: id, FirstName: first, LastName: last, Allowed: true}), h: h, name: name}
}

func (h *harness) Nobody() string { return strconv.Itoa(1<<42 + 1) }

// Moved: chats of VK's keep their ids.
func (h *harness) Moved() (from, to string) { return "", "" }

func (h *harness) Faults() *fault.Set { return h.faults }

func (h *harness) Method(op messengertest.Op) string {
	switch op {
	case messengertest.Upload:
		return "upload"
	case messengertest.Edit:
		return "messages.edit"
	case messengertest.Answer:
		return "messages.sendMessageEventAnswer"
	case messengertest.Open:
		return "file"
	}
	return "messages.send"
}

func (h *harness) Limit(op messengertest.Op, _ time.Duration) {
	h.faults.Add(fault.Fault{Method: h.Method(op), Kind: fault.Status, Status: 6, Times: 1})
}

func (h *harness) Secrets() []string { return append(slices.Clone(secrets), token) }
func (h *harness) Logged() string    { return h.log.String() }

func (h *harness) Features() messengertest.Features {
	return messengertest.Features{
		StalePress: true, Deactivation: true,
		Kinds: []messenger.AttachmentKind{
			messenger.Photo, messenger.Document, messenger.Voice, messenger.Audio, messenger.Video,
			messenger.Animation, messenger.Sticker,
		},
		Named: []messenger.AttachmentKind{messenger.Document, messenger.Audio, messenger.Video, messenger.Animation},
	}
}

// logged is a log that several goroutines write.
type logged struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
