package messengertest

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"testing"
	"time"

	"supportbot/shared/messenger"
)

// Answers is a messenger that says anything: the first call gets the first body, each
// later one the next, the last one all that come after it. What it says should hold
// the word "canary": it may be in no error.
type Answers struct {
	Status int
	Header http.Header
	Bodies [][]byte

	calls int
}

// Client is an HTTP client all of whose calls get these answers, one after the other,
// and which is at once on a connection.
func (a *Answers) Client() *http.Client { return &http.Client{Transport: a} }

// RoundTrip implements http.RoundTripper.
func (a *Answers) RoundTrip(r *http.Request) (*http.Response, error) {
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil && trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{})
	}
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
	body := a.Bodies[min(a.calls, len(a.Bodies)-1)]
	a.calls++
	return &http.Response{
		StatusCode: a.Status, Status: strconv.Itoa(a.Status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.Header.Clone(), Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: r,
	}, nil
}

// waitMost is the longest wait that an adapter passes on: nobody parks a job for longer
// because of one answer.
const waitMost = 24 * time.Hour

// Known checks an error of a call that got any answer: it is nil or of one of these
// kinds, says how long to wait where that is its kind, and holds nothing of the answer.
func Known(t testing.TB, what string, err error, kinds ...messenger.ErrorKind) {
	t.Helper()
	if err == nil {
		return
	}
	var e *messenger.Error
	if !errors.As(err, &e) {
		t.Fatalf("%s: got %v, which is no error of the port", what, err)
	}
	known := false
	for _, k := range kinds {
		known = known || k == e.Kind
	}
	switch {
	case !known:
		t.Errorf("%s: got %v, want one of %v", what, err, kinds)
	case e.Kind == messenger.RateLimited && (e.RetryAfter <= 0 || e.RetryAfter > waitMost):
		t.Errorf("%s: to wait for %s", what, e.RetryAfter)
	case e.Kind == messenger.Moved && e.NewChat == "":
		t.Errorf("%s: moved to nowhere", what)
	case strings.Contains(err.Error(), "canary"):
		t.Errorf("%s: the error repeats what was said: %v", what, err)
	}
}

// Harmless are the kinds of errors of a call that no customer sees.
func Harmless() []messenger.ErrorKind {
	return []messenger.ErrorKind{messenger.RateLimited, messenger.Temporary, messenger.Blocked, messenger.Invalid, messenger.Moved}
}

// Visible are those of a call that a customer sees: of it nobody may know how it ended.
func Visible() []messenger.ErrorKind { return append(Harmless(), messenger.Uncertain) }

// Numbered checks the receipt of a send that succeeded.
func Numbered(t testing.TB, what string, r messenger.Receipt, err error) {
	t.Helper()
	Known(t, what, err, Visible()...)
	if n, bad := strconv.ParseInt(r.MessageID, 10, 64); err == nil && (bad != nil || n <= 0) {
		t.Errorf("%s: sent as %q", what, r.MessageID)
	}
}
