package v3

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"supportbot/shared/tracker"
)

// unknown is the error of a call that was started and did not end well: nobody
// knows what it did.
func (q request) unknown(status int, err error) error {
	kind := tracker.Temporary
	if q.write {
		kind = tracker.Uncertain
	}
	return &tracker.Error{Kind: kind, Status: status, Call: q.call, Err: err}
}

// failure is Tracker's form of an error.
type failure struct {
	Errors        map[string]json.RawMessage `json:"errors"`
	ErrorMessages []string                   `json:"errorMessages"`
	ErrorCode     json.Number                `json:"errorCode"`
	own           bool                       // the body had this form, or none at all
	page          bool                       // the body is a web page
}

func readFailure(resp *http.Response) failure {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxError))
	text := strings.TrimSpace(string(body))
	var f failure
	err := json.Unmarshal(body, &f)
	f.own = err == nil && (f.Errors != nil || f.ErrorMessages != nil)
	f.page = strings.HasPrefix(text, "<") || strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html")
	return f
}

// refusal is the error of an answer that is not 2xx.
func (c *Client) refusal(ctx context.Context, q request, resp *http.Response) error {
	f := readFailure(resp)
	status := resp.StatusCode
	e := &tracker.Error{Status: status, Call: q.call, Err: c.message(q, f, status)}
	switch {
	case status == http.StatusTooManyRequests:
		e.Kind = tracker.RateLimited
		e.RetryAfter = c.retryAfter(resp.Header, time.Second)
		if c.cfg.Refused != nil {
			c.cfg.Refused(ctx, e.RetryAfter)
		}
	case status == http.StatusServiceUnavailable && (f.own || !q.write):
		e.Kind = tracker.Temporary
		e.RetryAfter = c.retryAfter(resp.Header, 0)
	case status == http.StatusRequestEntityTooLarge:
		e.Kind = tracker.Invalid
	case f.page || status < 400 || status >= 500:
		return q.unknown(status, e.Err)
	default:
		e.Kind = kindOf(status, q.unique)
	}
	return e
}

func kindOf(status int, unique bool) tracker.ErrorKind {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return tracker.Forbidden
	case http.StatusNotFound, http.StatusGone:
		return tracker.NotFound
	case http.StatusConflict:
		if unique {
			return tracker.Duplicate
		}
		return tracker.Conflict
	case http.StatusPreconditionFailed:
		return tracker.Conflict
	case http.StatusLocked:
		return tracker.Frozen
	case http.StatusRequestTimeout:
		return tracker.Temporary // the request did not arrive whole
	}
	return tracker.Invalid
}

// message tells what Tracker said, without what people wrote.
func (c *Client) message(q request, f failure, status int) error {
	if !f.own {
		return errors.New("the answer is not Tracker's: " + http.StatusText(status))
	}
	var parts []string
	if names := fieldNames(f.Errors); len(names) > 0 {
		parts = append(parts, "refused fields: "+strings.Join(names, ", "))
	}
	if len(f.ErrorMessages) > 0 && !q.personal {
		text := printable(f.ErrorMessages[0], 200)
		parts = append(parts, strings.ReplaceAll(text, c.cfg.Token.Reveal(), "[redacted]"))
	}
	if _, err := f.ErrorCode.Int64(); err == nil {
		parts = append(parts, "code "+f.ErrorCode.String())
	}
	if len(parts) == 0 {
		parts = append(parts, http.StatusText(status))
	}
	return errors.New(strings.Join(parts, "; "))
}

// fieldNames are the names in an error that look like names.
func fieldNames(fields map[string]json.RawMessage) []string {
	var names []string
	for name := range fields {
		strange := strings.ContainsFunc(name, func(r rune) bool {
			return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.", r)
		})
		if name != "" && len(name) <= 64 && !strange {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names[:min(len(names), 8)]
}

func printable(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
	if rs := []rune(text); len(rs) > limit {
		return string(rs[:limit]) + "…"
	}
	return text
}

// waitMost is how long a refusal is believed. It pauses everybody, and the header
// is documented nowhere: whatever it says, a call now and then finds out.
const waitMost = 5 * time.Minute

// retryAfter reads the header, in seconds or as a date; at most waitMost.
func (c *Client) retryAfter(h http.Header, fallback time.Duration) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	var wait time.Duration
	if n, err := strconv.ParseInt(text, 10, 32); err == nil {
		wait = time.Duration(n) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		wait = at.Sub(c.cfg.Now())
	}
	if wait <= 0 {
		return fallback
	}
	return min(wait, waitMost)
}

// refuse is the error of a call that is not made because it cannot succeed.
func refuse(call, format string, args ...any) error {
	return &tracker.Error{Kind: tracker.Invalid, Call: call, Err: fmt.Errorf(format, args...)}
}
