package v3

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"

	"supportbot/shared/tracker"
)

const (
	maxAnswer = 8 << 20  // of an answer that is read; a listing is then asked for in smaller pages
	maxError  = 64 << 10 // of an error's body
)

// errTooLarge is the end of an answer over maxAnswer.
var errTooLarge = errors.New("the answer is too large")

// request is one call.
type request struct {
	call   string // as errors name it: "create issue"
	method string
	path   []string // parts, not yet escaped: "v3", "issues", key
	query  url.Values
	body   any // as JSON; nil: none

	write    bool // an unknown end is Uncertain
	unique   bool // a 409 means Duplicate
	personal bool // carries what people wrote: no message of Tracker's in errors

	// stream, if set, is sent instead of body, with size bytes (-1: unknown).
	stream     io.Reader
	size       int64
	streamType string
}

// do makes a call and decodes its answer into out (nil: it is not read).
func (c *Client) do(ctx context.Context, q request, out any) (http.Header, error) {
	if err := c.turn(ctx, q); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	resp, err := c.send(ctx, q)
	if err != nil {
		return nil, err
	}
	defer discard(resp)
	if out == nil {
		return resp.Header, nil
	}
	if err := decode(resp.Body, out); err != nil {
		return nil, q.unknown(resp.StatusCode, err)
	}
	return resp.Header, nil
}

// decode reads one JSON value. The reference prints some single objects inside a
// list; where out wants an object, that is taken too.
func decode(r io.Reader, out any) error {
	body, err := io.ReadAll(io.LimitReader(r, maxAnswer+1))
	if err != nil {
		return err
	}
	if len(body) > maxAnswer {
		return errTooLarge
	}
	if _, object := out.(validator); object && bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		var list []json.RawMessage
		if json.Unmarshal(body, &list) == nil && len(list) == 1 {
			body = list[0]
		}
	}
	if err := json.Unmarshal(body, out); err != nil {
		return errors.New("the answer is not what was expected") // json's errors quote the body
	}
	if v, ok := out.(validator); ok {
		return v.validate()
	}
	return nil
}

// validator is a single object of an answer; validate refuses one without identity.
type validator interface{ validate() error }

// send makes the request and gives an answer of 2xx, whose body is the caller's.
func (c *Client) send(ctx context.Context, q request) (*http.Response, error) {
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	r, err := c.request(ctx, q)
	if err != nil {
		return nil, &tracker.Error{Kind: tracker.Invalid, Call: q.call, Err: err}
	}
	resp, err := c.http.Do(r)
	if err != nil {
		err = withoutAddress(ctx, err)
		if !sent.Load() {
			return nil, &tracker.Error{Kind: tracker.Temporary, Call: q.call, Err: err}
		}
		return nil, q.unknown(0, err)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		defer discard(resp)
		return nil, c.refusal(ctx, q, resp)
	}
	return resp, nil
}

// turn waits for the call's turn. The wait does not count as the call's time.
func (c *Client) turn(ctx context.Context, q request) error {
	if c.cfg.Pace == nil {
		return nil
	}
	err := c.cfg.Pace(ctx)
	var known *tracker.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	return &tracker.Error{Kind: tracker.Temporary, Call: q.call, Err: err}
}

func (c *Client) request(ctx context.Context, q request) (*http.Request, error) {
	escaped := c.base.EscapedPath()
	for _, part := range q.path {
		if part == "" || part == "." || part == ".." {
			return nil, errors.New("an id or name is empty or a path")
		}
		escaped += "/" + url.PathEscape(part)
	}
	target := *c.base
	var err error
	if target.Path, err = url.PathUnescape(escaped); err != nil {
		return nil, errors.New("an id or name cannot be put into an address")
	}
	target.RawPath, target.RawQuery = escaped, q.query.Encode()
	body := q.stream
	if q.body != nil {
		text, err := json.Marshal(q.body)
		if err != nil {
			return nil, errors.New("the request cannot be written as JSON")
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, q.method, target.String(), body)
	if err != nil {
		return nil, errors.New("the request cannot be made")
	}
	r.Header.Set("Authorization", c.cfg.TokenType+" "+c.cfg.Token.Reveal())
	if c.cfg.OrgID != "" {
		r.Header.Set("X-Org-ID", c.cfg.OrgID)
	} else {
		r.Header.Set("X-Cloud-Org-ID", c.cfg.CloudOrgID)
	}
	r.Header.Set("User-Agent", "supportbot")
	switch {
	case q.body != nil:
		r.Header.Set("Content-Type", "application/json; charset=UTF-8")
	case q.stream != nil:
		r.Header.Set("Content-Type", q.streamType)
		r.ContentLength = q.size
	}
	return r, nil
}

// withoutAddress takes the address out of a transport's error, and names the
// reason of a context's end.
func withoutAddress(ctx context.Context, err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if errors.Is(err, context.Canceled) && context.Cause(ctx) != nil {
		return context.Cause(ctx)
	}
	return err
}

// discard reads what little is left, so that the connection can be used again.
func discard(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, maxError)
	_ = resp.Body.Close()
}

// issuePath is the path of an issue or of what belongs to it.
func issuePath(issue string, rest ...string) []string {
	return append([]string{"v3", "issues", strings.TrimSpace(issue)}, rest...)
}
