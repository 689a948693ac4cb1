package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"supportbot/shared/sandbox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bundle is the page over running servers, and somebody who uses it.
type bundle struct {
	*sandbox.Running
	t   *testing.T
	ctx context.Context
	box *sandbox.Sandbox
	url string // of /sandbox/
	web *http.Client
}

func setup(t *testing.T, change ...func(*sandbox.Config)) *bundle {
	t.Helper()
	servers, err := sandbox.Servers(sandbox.ServersConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(servers.Close)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	cfg := servers.Config()
	for _, f := range change {
		f(&cfg)
	}
	box := sandbox.New(cfg)
	web := httptest.NewServer(box)
	t.Cleanup(web.Close)
	t.Cleanup(box.Close)
	return &bundle{Running: servers, t: t, ctx: ctx, box: box, url: web.URL + "/sandbox/", web: web.Client()}
}

// reply is an answer of the page's API.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// into decodes the body.
func (r reply) into(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal(r.body, v); err != nil {
		t.Fatalf("decode %s: %v", r.body, err)
	}
}

// do calls the API. body is a form, something that encodes as JSON, or nil.
func (b *bundle) do(method, path string, body any) reply {
	b.t.Helper()
	var in io.Reader = http.NoBody
	kind := "application/json"
	switch v := body.(type) {
	case nil:
	case *form:
		v.w.Close()
		in, kind = &v.body, v.w.FormDataContentType()
	case string:
		in = strings.NewReader(v)
	default:
		data, err := json.Marshal(v)
		if err != nil {
			b.t.Fatal(err)
		}
		in = bytes.NewReader(data)
	}
	r, err := http.NewRequestWithContext(b.ctx, method, b.url+"api/"+path, in)
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	r.Header.Set("X-Sandbox", "1")
	return b.send(r)
}

func (b *bundle) send(r *http.Request) reply {
	b.t.Helper()
	resp, err := b.web.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, data}
}

// must is do that has to succeed.
func (b *bundle) must(method, path string, body any) reply {
	b.t.Helper()
	r := b.do(method, path, body)
	if r.status != http.StatusOK {
		b.t.Fatalf("%s %s: %d %s", method, path, r.status, r.body)
	}
	return r
}

// form is a multipart body.
type form struct {
	body bytes.Buffer
	w    *multipart.Writer
}

func newForm(fields ...string) *form {
	f := &form{}
	f.w = multipart.NewWriter(&f.body)
	for n := 0; n < len(fields); n += 2 {
		_ = f.w.WriteField(fields[n], fields[n+1])
	}
	return f
}

func (f *form) file(name, mime, data string) *form {
	h := textproto.MIMEHeader{}
	h.Set("Content-Disposition", fmt.Sprintf(`form-data; name="file"; filename=%q`, name))
	h.Set("Content-Type", mime)
	part, _ := f.w.CreatePart(h)
	_, _ = part.Write([]byte(data))
	return f
}

// message is what tests look at in a message.
type message struct {
	ID       string          `json:"id"`
	Out      bool            `json:"out"`
	Text     json.RawMessage `json:"text"`
	Plain    string          `json:"plain"`
	Edited   bool            `json:"edited"`
	ReplyTo  string          `json:"reply_to"`
	Album    string          `json:"album"`
	Files    []file          `json:"files"`
	Buttons  json.RawMessage `json:"buttons"`
	Location json.RawMessage `json:"location"`
}

type file struct {
	Kind, What, Name, URL string
	Size                  int64
}

// chat is a chat's pane.
type chat struct {
	Head struct {
		Person struct{ ID, Name, State string }
		Bot    string
	}
	Put []message
}

func (b *bundle) chat(messenger, id string) chat {
	b.t.Helper()
	var c chat
	b.must("GET", "chats/"+messenger+"/"+id, nil).into(b.t, &c)
	return c
}

// people gives the ids of a messenger's customers.
func (b *bundle) people(messenger string) []string {
	b.t.Helper()
	var p struct{ Put []struct{ ID string } }
	b.must("GET", "chats/"+messenger, nil).into(b.t, &p)
	var ids []string
	for _, one := range p.Put {
		ids = append(ids, one.ID)
	}
	return ids
}

// telegram calls the Bot API as the bot.
func (b *bundle) telegram(method string, params map[string]any) map[string]any {
	b.t.Helper()
	data, err := json.Marshal(params)
	if err != nil {
		b.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(b.ctx, http.MethodPost, b.TelegramURL+"/bot"+b.TelegramToken+"/"+method, bytes.NewReader(data))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	got := b.send(r)
	var answer struct {
		OK          bool
		Description string
		Result      any
	}
	got.into(b.t, &answer)
	if !answer.OK {
		b.t.Fatalf("%s: %s", method, answer.Description)
	}
	return map[string]any{"result": answer.Result}
}
