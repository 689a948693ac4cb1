// Package ycf is the glue between Yandex Cloud Functions and the platform's code:
// dependencies built once per cold start, the events of triggers, and HTTP calls
// in the form in which the cloud passes them on.
//
// In the cloud the runtime decodes events and calls a function's Handler. Serve
// and Gateway do the same for the local run and the tests, with the cloud's
// limits and omissions, so that nothing works here that would not work there.
// The outside facts are from Yandex's documentation of Cloud Functions ("Invoking
// a function", "Trigger for Message Queue", "Timer") and of API Gateway
// ("Integration with Cloud Functions").
package ycf

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"
)

const (
	messageIDAttr = "message_id"
	requestIDAttr = "request_id"

	requestIDHeader = "X-Request-Id"
)

// The names under which the runtime puts what it knows into a call's context:
// plain strings, which is its doing.
const (
	requestIDValue    = "lambdaRuntimeRequestID"
	functionNameValue = "lambdaRuntimeFunctionName"
)

// RequestID is the id that the cloud gave to this call, or "".
func RequestID(ctx context.Context) string { return stringValue(ctx, requestIDValue) }

// WithRequestID puts a call's id where the runtime puts it.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDValue, id) //nolint:staticcheck // the runtime's key is a string
}

// NewRequestID makes a call's id: a UUID of version 4, as the cloud's are.
func NewRequestID() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// requestIDOf also looks at the header: the documentation does not say whether
// the context of an HTTP call has the id.
func requestIDOf(r *http.Request) string {
	if id := RequestID(r.Context()); id != "" {
		return id
	}
	return r.Header.Get(requestIDHeader)
}

func stringValue(ctx context.Context, name string) string {
	s, _ := ctx.Value(name).(string)
	return s
}
