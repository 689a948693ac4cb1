package telegram_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"testing"
	"time"

	"supportbot/shared/messenger"
	"supportbot/shared/messenger/telegram"
	"supportbot/shared/sandbox/fault"
)

func outgoing(chat, text string) messenger.Outgoing {
	return messenger.Outgoing{Chat: chat, Part: messenger.Part{Text: text}}
}

// kindAndCode compares err with what it should be.
func kindAndCode(t *testing.T, err error, kind messenger.ErrorKind, code int) *messenger.Error {
	t.Helper()
	var e *messenger.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want %s (%d)", err, kind, code)
	}
	if e.Kind != kind || e.Code != code {
		t.Errorf("got %v, want %s (%d)", err, kind, code)
	}
	if strings.Contains(err.Error(), "canary") {
		t.Errorf("got %q, want neither the token nor the text in it", err)
	}
	return e
}

// answering is a bot whose server answers every call alike.
func answering(t *testing.T, status int, header http.Header, body string) *telegram.Bot {
	t.Helper()
	h := &harness{t: t, log: &logged{}}
	return h.newBot(h.listen(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		for name, values := range header {
			w.Header()[name] = values
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})))
}

func refused(code int, description, parameters string) string {
	return fmt.Sprintf(`{"ok":false,"error_code":%d,"description":%q,"parameters":{%s}}`, code, description, parameters)
}

// A probe is judged like every call, and is never in doubt.
func TestProbe(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	if err := h.bot.Probe(h.ctx, h.customer().Chat()); err != nil {
		t.Errorf("got %v, want none", err)
	}
	for name, tt := range map[string]struct {
		status int
		body   string
		kind   messenger.ErrorKind
	}{
		"a page":  {502, "<html>502</html>", messenger.Temporary},
		"cut":     {200, `{"ok":tr`, messenger.Temporary},
		"500":     {500, refused(500, "Internal Server Error", ""), messenger.Temporary},
		"blocked": {403, refused(403, "Forbidden: bot was blocked by the user", ""), messenger.Blocked},
		"429":     {429, refused(429, "Too Many Requests: retry after 7", `"retry_after":7`), messenger.RateLimited},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := answering(t, tt.status, nil, tt.body)
			if err := b.Probe(context.Background(), "1099511627776"); err == nil || messenger.KindOf(err) != tt.kind {
				t.Errorf("got %v, want %s", err, tt.kind)
			}
		})
	}
}

func TestSend_Answers(t *testing.T) {
	t.Parallel()
	html := http.Header{"Content-Type": {"text/html"}}
	for name, tt := range map[string]struct {
		status int
		header http.Header
		body   string
		kind   messenger.ErrorKind
		code   int
		wait   time.Duration
		chat   string
	}{
		"429":                    {429, nil, refused(429, "Too Many Requests: retry after 7", `"retry_after":7`), messenger.RateLimited, 429, 7 * time.Second, ""},
		"429 for hours":          {429, nil, refused(429, "Too Many Requests: retry after 10072", `"retry_after":10072`), messenger.RateLimited, 429, 10072 * time.Second, ""},
		"429 without a wait":     {429, nil, refused(429, "Too Many Requests", ""), messenger.RateLimited, 429, 5 * time.Second, ""},
		"429 of a proxy":         {429, http.Header{"Retry-After": {"9"}}, "<html>", messenger.RateLimited, 429, 9 * time.Second, ""},
		"blocked":                {403, nil, refused(403, "Forbidden: bot was blocked by the user", ""), messenger.Blocked, 403, 0, ""},
		"deactivated":            {403, nil, refused(403, "Forbidden: user is deactivated", ""), messenger.Blocked, 403, 0, ""},
		"never started":          {403, nil, refused(403, "Forbidden: bot can't initiate conversation with a user", ""), messenger.Blocked, 403, 0, ""},
		"kicked":                 {403, nil, refused(403, "Forbidden: bot was kicked from the group chat", ""), messenger.Blocked, 403, 0, ""},
		"no such chat":           {400, nil, refused(400, "Bad Request: chat not found", ""), messenger.Blocked, 400, 0, ""},
		"no such peer":           {400, nil, refused(400, "Bad Request: PEER_ID_INVALID", ""), messenger.Blocked, 400, 0, ""},
		"moved":                  {400, nil, refused(400, "Bad Request: group chat was upgraded to a supergroup chat", `"migrate_to_chat_id":-1001099511627781`), messenger.Moved, 400, 0, "-1001099511627781"},
		"too long":               {400, nil, refused(400, "Bad Request: message is too long", ""), messenger.Invalid, 400, 0, ""},
		"unknown refusal":        {400, nil, refused(400, "Bad Request: canary of the text", ""), messenger.Invalid, 400, 0, ""},
		"wrong token":            {401, nil, refused(401, "Unauthorized", ""), messenger.Temporary, 401, 0, ""},
		"token of another form":  {404, nil, refused(404, "Not Found", ""), messenger.Temporary, 404, 0, ""},
		"restarting":             {500, nil, refused(500, "Internal Server Error: restart", ""), messenger.Uncertain, 500, 0, ""},
		"bad gateway, JSON":      {502, nil, refused(502, "Bad Gateway", ""), messenger.Uncertain, 502, 0, ""},
		"bad gateway, page":      {502, html, "<html>canary</html>", messenger.Uncertain, 502, 0, ""},
		"unavailable, page":      {503, html, "<html>canary</html>", messenger.Uncertain, 503, 0, ""},
		"forbidden by a proxy":   {403, html, "<html>canary</html>", messenger.Temporary, 403, 0, ""},
		"too large for a proxy":  {413, html, "<html>canary</html>", messenger.Invalid, 413, 0, ""},
		"redirect":               {302, http.Header{"Location": {"http://127.0.0.1:1/canary"}}, "", messenger.Temporary, 302, 0, ""},
		"empty":                  {200, nil, "", messenger.Uncertain, 200, 0, ""},
		"broken off":             {200, nil, `{"ok":true,"result":{"mess`, messenger.Uncertain, 200, 0, ""},
		"not Telegram's":         {200, nil, `{"status":"canary"}`, messenger.Uncertain, 200, 0, ""},
		"no message":             {200, nil, `{"ok":true,"result":{}}`, messenger.Uncertain, 0, 0, ""},
		"result of another form": {200, nil, `{"ok":true,"result":"canary"}`, messenger.Uncertain, 0, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bot := answering(t, tt.status, tt.header, tt.body)
			for _, o := range []messenger.Outgoing{
				outgoing("5", "canary"),
				{Chat: "5", File: document("canary.txt", []byte("canary"))}, // where the library loses the code
			} {
				_, err := bot.Send(context.Background(), o)
				e := kindAndCode(t, err, tt.kind, tt.code)
				if e.RetryAfter != tt.wait || e.NewChat != tt.chat {
					t.Errorf("got wait %s, chat %q, want %s, %q", e.RetryAfter, e.NewChat, tt.wait, tt.chat)
				}
			}
		})
	}
}

func document(name string, data []byte) *messenger.File {
	return &messenger.File{Name: name, Size: int64(len(data)), Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}}
}

// A picture over Limits.Photo goes as a document, in full quality.
func TestSend_LargePicture(t *testing.T) {
	t.Parallel()
	methods := make(chan string, 10)
	h := &harness{t: t, log: &logged{}}
	bot := h.newBot(h.listen(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		methods <- path.Base(r.URL.Path)
		_, _ = io.WriteString(w, `{"ok":true,"result":{"message_id":1}}`)
	})))
	for size, want := range map[int64]string{bot.Limits().Photo: "sendPhoto", bot.Limits().Photo + 1: "sendDocument"} {
		if _, err := bot.Send(context.Background(), messenger.Outgoing{Chat: "5", File: document("x.jpg", make([]byte, size))}); err != nil {
			t.Fatal(err)
		}
		if got := <-methods; got != want {
			t.Errorf("%d bytes: got %s, want %s", size, got, want)
		}
	}
}

// A file is never held in memory: the server has its beginning before the source
// gives the end.
func TestSend_StreamsFiles(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	h := &harness{t: t, log: &logged{}}
	bot := h.newBot(h.listen(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.CopyN(io.Discard, r.Body, 1<<20)
		close(arrived)
		if _, rest := io.Copy(io.Discard, r.Body); err != nil || rest != nil {
			t.Errorf("got %v, %v", err, rest)
		}
		_, _ = io.WriteString(w, `{"ok":true,"result":{"message_id":1}}`)
	})))
	first := bytes.NewReader(make([]byte, 2<<20))
	f := &messenger.File{Name: "x.bin", Size: 2<<20 + 3, Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(first, after{arrived, strings.NewReader("end")})), nil
	}}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := bot.Send(ctx, messenger.Outgoing{Chat: "5", File: f}); err != nil {
		t.Error(err)
	}
}

// after is a reader that waits for something.
type after struct {
	what <-chan struct{}
	io.Reader
}

func (a after) Read(p []byte) (int, error) {
	<-a.what
	return a.Reader.Read(p)
}

func TestSend_RefusedMarkupIsNoted(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	c := h.customer()
	part := messenger.Part{Text: "<b>canary", HTML: true, Plain: "canary"}
	for _, o := range []messenger.Outgoing{{Chat: c.Chat(), Part: part}, {Chat: c.Chat(), Part: part, File: document("x.txt", []byte("x"))}} {
		r, err := h.bot.Send(h.ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.bot.Edit(h.ctx, r.MessageID, messenger.Outgoing{Chat: c.Chat(), Part: messenger.Part{Text: "<i>x", HTML: true, Plain: "x"}}); err != nil {
			t.Fatal(err)
		}
	}
	seen := c.Seen()
	if len(seen) != 2 || seen[0].Text != "x" || seen[1].Text != "x" || seen[1].File == nil {
		t.Errorf("got %+v, want two messages with plain text", seen)
	}
	if n := strings.Count(h.Logged(), "as plain text"); n != 4 || strings.Contains(h.Logged(), "canary<") {
		t.Errorf("got log %q, want four notes", h.Logged())
	}
}

func TestAnswer_TextIsShortened(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	c := h.customer()
	o := outgoing(c.Chat(), "?")
	o.Keyboard = messenger.Keyboard{{{Label: "Yes", Data: "yes"}}}
	r, err := h.bot.Send(h.ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	answer, id, err := c.Customer.Press(number(r.MessageID), "yes")
	if err != nil {
		t.Fatal(err)
	}
	if err := h.bot.Answer(h.ctx, messenger.Press{ID: id}, strings.Repeat("😀", 150)); err != nil {
		t.Fatal(err)
	}
	if got, want := (<-answer).Text, strings.Repeat("😀", 99)+"…"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOpen_Refusals(t *testing.T) {
	t.Parallel()
	for description, want := range map[string]messenger.ErrorKind{
		"Bad Request: file is too big":                                      messenger.Invalid,
		"Bad Request: invalid file_id":                                      messenger.Invalid,
		"Bad Request: wrong file_id or the file is temporarily unavailable": messenger.Temporary,
	} {
		_, err := answering(t, 400, nil, refused(400, description, "")).Open(context.Background(), messenger.Attachment{Ref: "canary"})
		kindAndCode(t, err, want, 400)
	}
	for body, want := range map[string]messenger.ErrorKind{
		`{"ok":true,"result":{"file_path":""}}`:                          messenger.Invalid,
		`{"ok":true,"result":{"file_path":"x","file_size":99999999999}}`: messenger.Invalid,
		`{"ok":true,"result":[]}`:                                        messenger.Temporary,
	} {
		_, err := answering(t, 200, nil, body).Open(context.Background(), messenger.Attachment{Ref: "canary"})
		kindAndCode(t, err, want, 0)
	}
}

func TestOpen_Downloads(t *testing.T) {
	t.Parallel()
	endless := func(w http.ResponseWriter, size int) {
		for ; size > 0; size -= 1 << 20 {
			_, _ = w.Write(make([]byte, 1<<20))
		}
	}
	for name, tt := range map[string]struct {
		serve http.HandlerFunc
		kind  messenger.ErrorKind
		code  int
	}{
		"gone":     {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, messenger.Invalid, 404},
		"trouble":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, messenger.Temporary, 502},
		"too many": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }, messenger.RateLimited, 429},
		"elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		}, messenger.Temporary, 302},
		"too large":  {func(w http.ResponseWriter, _ *http.Request) { endless(w, 21<<20) }, messenger.Invalid, 0},
		"broken off": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, messenger.Temporary, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &harness{t: t, log: &logged{}}
			bot := h.newBot(h.listen(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/getFile") {
					_, _ = io.WriteString(w, `{"ok":true,"result":{"file_path":"documents/a b?%2F.pdf"}}`)
					return
				}
				if want := "/file/bot" + token + "/documents/a b?%2F.pdf"; r.URL.Path != want {
					t.Errorf("got path %q, want %q", r.URL.Path, want)
				}
				tt.serve(w, r)
			})))
			r, err := bot.Open(context.Background(), messenger.Attachment{Ref: "x"})
			if err == nil {
				_, err = io.Copy(io.Discard, r)
				_ = r.Close()
			}
			kindAndCode(t, err, tt.kind, tt.code)
		})
	}
}

// A call that hangs ends by itself, with a client that has no time-out too.
func TestSend_GivesUpWithTheContext(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	ctx, cancel := context.WithCancel(h.ctx)
	defer cancel()
	met := h.faults.Met(h.faults.Add(fault.Fault{Method: "sendMessage", Kind: fault.HangBefore, Times: 1}))
	go func() { <-met; cancel() }()
	_, err := h.bot.Send(ctx, outgoing(h.customer().Chat(), "canary"))
	kindAndCode(t, err, messenger.Uncertain, 0)
}
