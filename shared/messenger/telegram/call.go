package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"supportbot/shared/messenger"
)

const (
	callTimeout = 20 * time.Second // for calls without a file
	answerMost  = 8 << 20          // bytes of an answer
)

// newClient has time-outs for everything but the body, which a large file may
// take its time for; the caller's context bounds that. Idle connections end soon:
// those of a frozen instance are dead when it wakes up.
func newClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
			TLSHandshakeTimeout:   5 * time.Second,
			ResponseHeaderTimeout: 60 * time.Second, // behind an upload Telegram works for a while
			IdleConnTimeout:       30 * time.Second,
			MaxIdleConnsPerHost:   32,
			ForceAttemptHTTP2:     true,
		},
	}
}

// exchange is one call on its way: the library's HTTP client, with the context
// that the library does not know, and a record of what happened.
type exchange struct {
	ctx       context.Context
	client    *http.Client
	connected atomic.Bool // if not, nothing can have happened
	status    int         // 0: no answer
	retry     string      // the header Retry-After
}

// Do implements tgbotapi.HTTPClient. Its errors hold the address, and so the token,
// until failure takes it away.
func (x *exchange) Do(r *http.Request) (*http.Response, error) {
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { x.connected.Store(true) }}
	resp, err := x.client.Do(r.WithContext(httptrace.WithClientTrace(x.ctx, trace)))
	if err != nil {
		return nil, err
	}
	x.status, x.retry = resp.StatusCode, resp.Header.Get("Retry-After")
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(resp.Body, answerMost), resp.Body}
	return resp, nil
}

// withoutURL drops the address from an error.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// exchange gives a copy of the library's bot for one call.
func (b *Bot) exchange(ctx context.Context) (*tgbotapi.BotAPI, *exchange) {
	x := &exchange{ctx: ctx, client: b.client}
	api := *b.api
	api.Client = x
	return &api, x
}

// call calls a method and decodes its result into result, unless that is nil. The
// error is a *messenger.Error.
func (b *Bot) call(ctx context.Context, method string, params tgbotapi.Params, result any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	api, x := b.exchange(ctx)
	answer, err := api.MakeRequest(method, params)
	if err != nil {
		return x.failure(method, err)
	}
	return decode(method, answer.Result, result)
}

func decode(method string, answer json.RawMessage, result any) error {
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(answer, result); err != nil {
		return uncertain(method, errors.New("answer cannot be read"))
	}
	return nil
}

// uploadFile calls a method with one file, streamed as multipart.
func (b *Bot) uploadFile(ctx context.Context, method string, params tgbotapi.Params, field string, f messenger.File, result any) error {
	content, err := f.Open(ctx)
	if err != nil {
		return unread(err)
	}
	source := &source{content: content, left: f.Size}
	// The library closes only what it has read to the end.
	defer func() { _ = source.Close() }()
	api, x := b.exchange(ctx)
	answer, err := api.UploadFiles(method, params, []tgbotapi.RequestFile{
		{Name: field, Data: tgbotapi.FileReader{Name: fileName(f), Reader: source}},
	})
	if err != nil && source.failed() != nil && x.status == 0 {
		// The request never came to its end, so Telegram cannot have taken it.
		return unread(source.failed())
	}
	if err != nil {
		return x.failure(method, err)
	}
	return decode(method, answer.Result, result)
}

// source is a file on its way to Telegram. The library reads it in a goroutine
// that may outlive the call for a moment, so whoever is last closes the file.
type source struct {
	content io.ReadCloser
	left    int64 // of the size that was promised

	mu      sync.Mutex
	reading bool
	over    bool
	err     error // why reading ended early
}

// Read implements io.Reader.
func (s *source) Read(p []byte) (int, error) {
	s.mu.Lock()
	if s.over {
		s.mu.Unlock()
		return 0, io.ErrClosedPipe
	}
	s.reading = true
	s.mu.Unlock()
	n, err := s.content.Read(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reading = false
	s.left -= int64(n)
	if errors.Is(err, io.EOF) && s.left > 0 {
		err = io.ErrUnexpectedEOF // half a file is none
	}
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	if s.over {
		_ = s.content.Close()
	}
	return n, err
}

// Close implements io.Closer; what was read is not worse for a failure here.
func (s *source) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over && !s.reading {
		_ = s.content.Close()
	}
	s.over = true
	return nil
}

func (s *source) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}
