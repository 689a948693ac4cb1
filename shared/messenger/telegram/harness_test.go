package telegram_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"mime"
	"mime/multipart"
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
	"supportbot/shared/messenger/telegram"
	"supportbot/shared/sandbox/fault"
	sandbox "supportbot/shared/sandbox/telegram"
	"supportbot/shared/spec"
)

const (
	botID    = "7000000001"
	token    = botID + ":canary-token"
	username = "canary_support_bot"
)

var secrets = []string{"canary-secret-one", "canary-secret-two"}

// harness is one bot on one fake, both judged by the description of the Bot API.
type harness struct {
	t      *testing.T
	ctx    context.Context // ends with the test
	fake   *sandbox.Server
	faults *fault.Set
	bot    *telegram.Bot
	url    string
	log    *logged
	schema *spec.TelegramSpec // nil: not judged

	mu   sync.Mutex
	last int64 // of the numbers made up here
}

var _ messengertest.Harness = (*harness)(nil)

func newHarness(t *testing.T, change ...func(*sandbox.Config)) *harness {
	t.Helper()
	h := &harness{t: t, faults: &fault.Set{}, log: &logged{}, last: 800_000_000}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	h.ctx = ctx
	if dir, ok := spec.Dir(t, "telegram"); ok {
		schema.once.Do(func() { schema.spec, schema.err = spec.Telegram(dir) })
		if schema.err != nil {
			t.Fatal(schema.err)
		}
		h.schema = schema.spec
	}
	c := sandbox.Config{
		Token: token, Bot: sandbox.User{Username: username}, Faults: h.faults,
		PerSecond: -1, Burst: -1, PerMinute: -1, // pace is the platform's business
	}
	for _, f := range change {
		f(&c)
	}
	h.fake = sandbox.New(c)
	t.Cleanup(h.fake.Close)
	h.url = h.listen(h.judgeAPI(h.fake))
	h.bot = h.newBot(h.url)
	return h
}

// schema is read once for all tests.
var schema struct {
	once sync.Once
	spec *spec.TelegramSpec
	err  error
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

func (h *harness) newBot(apiURL string) *telegram.Bot {
	h.t.Helper()
	bot, err := telegram.New(telegram.Config{
		Token: env.NewSecret(token), Secrets: []env.Secret{env.NewSecret(secrets[0]), env.NewSecret(secrets[1])},
		Username: username, APIURL: apiURL, Log: slog.New(slog.NewJSONHandler(h.log, nil)),
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return bot
}

// judgeAPI holds requests and answers of methods against the description.
func (h *harness) judgeAPI(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method, ok := strings.CutPrefix(r.URL.Path, "/bot"+token+"/")
		if !ok || h.schema == nil {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err == nil { // else the caller went away in the middle of it
			params, files := parameters(h.t, r.Header.Get("Content-Type"), body)
			if err := h.schema.Request(method, params, files); err != nil {
				h.t.Errorf("request: %v", err)
			}
		}
		r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failing{err}))
		answer := &copied{ResponseWriter: w}
		next.ServeHTTP(answer, r)
		if err == nil && strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
			if err := h.schema.Answer(method, answer.body.Bytes()); err != nil {
				h.t.Errorf("answer: %v", err)
			}
		}
	})
}

// failing ends a body as the original ended.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return 0, io.EOF
}

func parameters(t *testing.T, contentType string, body []byte) (params, files map[string]string) {
	params, files = map[string]string{}, map[string]string{}
	kind, options, err := mime.ParseMediaType(contentType)
	if err != nil {
		t.Errorf("content type %q: %v", contentType, err)
	}
	if kind != "multipart/form-data" {
		form, err := url.ParseQuery(string(body))
		if err != nil {
			t.Errorf("form: %v", err)
		}
		for name := range form {
			params[name] = form.Get(name)
		}
		return params, files
	}
	form, err := multipart.NewReader(bytes.NewReader(body), options["boundary"]).ReadForm(64 << 20)
	if err != nil {
		t.Errorf("multipart form: %v", err)
		return params, files
	}
	for name, values := range form.Value {
		params[name] = values[0]
	}
	for name, f := range form.File {
		files[name] = f[0].Filename
	}
	return params, files
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

// judgeUpdates holds what the fake posts against the description.
func (h *harness) judgeUpdates(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if h.schema != nil {
			if err := h.schema.Update(body); err != nil {
				h.t.Errorf("update: %v", err)
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
	bot, err := telegram.New(telegram.Config{Token: env.NewSecret(token)})
	if err != nil {
		return nil, err
	}
	return bot, nil
}

func (h *harness) Connect(webhook http.Handler) {
	h.fake.Connect(h.listen(h.judgeUpdates(webhook)), secrets[0])
}

// Call: Telegram proves itself by a header.
func (h *harness) Call(body []byte, secret messengertest.Secret) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/telegram", bytes.NewReader(body))
	switch secret {
	case messengertest.Right:
		r.Header.Set("X-Telegram-Bot-Api-Secret-Token", secrets[0])
	case messengertest.Second:
		r.Header.Set("X-Telegram-Bot-Api-Secret-Token", secrets[1])
	case messengertest.Wrong:
		r.Header.Set("X-Telegram-Bot-Api-Secret-Token", "guessed")
	}
	return r
}

func (h *harness) Message(c messengertest.Customer, text string, _ messengertest.Secret) []byte {
	n := h.number()
	user, _ := strconv.ParseInt(c.User(), 10, 64)
	body, err := json.Marshal(map[string]any{"update_id": n, "message": map[string]any{
		"message_id": n, "date": 1_700_000_000, "text": text,
		"chat": map[string]any{"id": user, "type": "private", "first_name": "A"},
		"from": map[string]any{"id": user, "is_bot": false, "first_name": "A"},
	}})
	if err != nil {
		h.t.Fatal(err)
	}
	return body
}

func (h *harness) number() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last++
	return h.last
}

func (h *harness) Customer() messengertest.Customer { return h.customer() }

func (h *harness) customer() *customer {
	u := sandbox.User{FirstName: "Анна", LastName: "Canary" + strconv.FormatInt(h.number(), 10), Username: "anna", Language: "ru-RU", Started: true}
	return &customer{Customer: h.fake.Customer(u), h: h, name: u.FirstName + " " + u.LastName}
}

func (h *harness) Nobody() string { return strconv.Itoa(1<<42 + 1) }

func (h *harness) Moved() (from, to string) {
	id := h.fake.Customer(sandbox.User{}).Group("Дом 1")
	return decimal(id), decimal(h.fake.Migrate(id))
}

func (h *harness) Faults() *fault.Set { return h.faults }

func (h *harness) Method(op messengertest.Op) string {
	switch op {
	case messengertest.SendFile, messengertest.Upload:
		return "sendDocument"
	case messengertest.Edit:
		return "editMessageText"
	case messengertest.Answer:
		return "answerCallbackQuery"
	case messengertest.Open:
		return "getFile"
	}
	return "sendMessage"
}

func (h *harness) Limit(op messengertest.Op, wait time.Duration) {
	h.faults.Add(fault.Fault{
		Method: h.Method(op), Kind: fault.Status, Status: http.StatusTooManyRequests,
		RetryAfter: int(wait / time.Second), Times: 1,
	})
}

func (h *harness) Secrets() []string { return append(slices.Clone(secrets), token, "canary-token") }
func (h *harness) Logged() string    { return h.log.String() }

func (h *harness) Features() messengertest.Features {
	return messengertest.Features{
		Markup: true, Formatting: true, Moves: true, NamesWait: true, AlbumParts: true, StalePress: true, Deactivation: true,
		Kinds: []messenger.AttachmentKind{
			messenger.Photo, messenger.Document, messenger.Voice, messenger.Audio, messenger.Video,
			messenger.VideoNote, messenger.Animation, messenger.Sticker,
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
