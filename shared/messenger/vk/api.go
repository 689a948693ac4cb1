package vk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/SevereCloud/vksdk/v2/api"

	"supportbot/shared/messenger"
)

const (
	callTimeout = 10 * time.Second
	answerMost  = 8 << 20 // bytes of an answer
)

// newClient has time-outs for everything but the body, which a large file may
// take its time for; the caller's context bounds that.
func newClient() *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
		TLSHandshakeTimeout:   5 * time.Second,
		ResponseHeaderTimeout: 30 * time.Second,
		IdleConnTimeout:       30 * time.Second,
		MaxIdleConnsPerHost:   20,
		ForceAttemptHTTP2:     true,
	}}
}

func newAPI(c Config, client *http.Client) *api.VK {
	base := strings.TrimSuffix(c.APIURL, "/")
	if base == "" {
		base = defaultAPI
	}
	transport := client.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	vk := api.NewVK(c.Token.Reveal())
	vk.MethodURL = base + "/method/"
	vk.Version = apiVersion
	vk.Limit = 0 // the platform has one limiter for all functions
	vk.Client = &http.Client{
		Transport:     bounded{transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return vk
}

// bounded cuts answers that are too long to be one.
type bounded struct{ next http.RoundTripper }

func (t bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(resp.Body, answerMost), resp.Body}
	return resp, nil
}

// paced gives the bot for one operation, whose calls wait by another pace.
func (b *Bot) paced(pace func(context.Context) error) *Bot {
	of := *b
	of.pace = pace
	return &of
}

// placed gives the bot for one operation that has a place for its first call.
func (b *Bot) placed() *Bot {
	first := true
	return b.paced(func(ctx context.Context) error {
		if first {
			first = false
			return nil
		}
		return b.pace(ctx)
	})
}

// call calls a method, when it may be, and decodes its response into result. The
// error is a *messenger.Error, or that of the pace.
func (b *Bot) call(ctx context.Context, method string, params api.Params, result any) error {
	if err := b.pace(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	ctx, reached := traced(ctx)
	response, err := b.vk.Request(method, params.WithContext(ctx))
	var refused *api.Error
	switch {
	case errors.As(err, &refused):
		return refusal(method, int(refused.Code))
	case err != nil:
		return unanswered(method, err, reached())
	}
	if err := json.Unmarshal(response, result); err != nil {
		return &messenger.Error{Kind: messenger.Uncertain, Err: fmt.Errorf("%s: answer cannot be read", method)}
	}
	return nil
}

// read calls a method that changes nothing. What VK tells is read leniently, and
// no error is Uncertain.
func (b *Bot) read(ctx context.Context, method string, params api.Params, result any) error {
	var response json.RawMessage
	if err := b.call(ctx, method, params, &response); err != nil {
		return harmless(err)
	}
	return lenient(response, result)
}

// traced tells whether a request got as far as a connection: if it did not,
// nothing can have happened.
func traced(ctx context.Context) (context.Context, func() bool) {
	var connected atomic.Bool
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }}
	return httptrace.WithClientTrace(ctx, trace), connected.Load
}

// unanswered is the error of a call that got no answer of VK's form.
func unanswered(what string, err error, reached bool) *messenger.Error {
	kind := messenger.Temporary
	if reached {
		kind = messenger.Uncertain
	}
	return &messenger.Error{Kind: kind, Err: fmt.Errorf("%s: %w", what, withoutURL(err))}
}

// withoutURL drops the address, which may hold an access key.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// harmless turns Uncertain into Temporary, for calls that no customer sees.
func harmless(err error) error {
	var e *messenger.Error
	if errors.As(err, &e) && e.Kind == messenger.Uncertain {
		mended := *e
		mended.Kind = messenger.Temporary
		return &mended
	}
	return err
}
