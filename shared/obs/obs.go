// Package obs is how the platform tells what it does: JSON lines on standard
// output in the form that Cloud Logging reads, with attributes (above all the
// correlation id) that travel in the context from the webhook to the last send.
//
// Never in a log: message text, names, phone numbers, tokens.
package obs

import (
	"context"
	"io"
	"log/slog"
)

// The keys of attributes, the same everywhere.
const (
	Function      = "function"
	CorrelationID = "correlation_id"
	Messenger     = "messenger"
	Chat          = "chat"
	Job           = "job"
	Kind          = "kind"
	Lane          = "lane"
	Attempt       = "attempt"
	Outcome       = "outcome"
	Error         = "error"
	Duration      = "duration_ms"
)

type attrsKey struct{}

type correlationKey struct{}

// With returns a context whose log records carry attrs too.
func With(ctx context.Context, attrs ...slog.Attr) context.Context {
	old, _ := ctx.Value(attrsKey{}).([]slog.Attr)
	return context.WithValue(ctx, attrsKey{}, append(old[:len(old):len(old)], attrs...))
}

// WithCorrelation returns a context that carries the correlation id, also into
// its log records.
func WithCorrelation(ctx context.Context, id string) context.Context {
	if id == "" || id == Correlation(ctx) {
		return ctx
	}
	return context.WithValue(ctx, correlationKey{}, id)
}

// Correlation gives the context's correlation id, or "".
func Correlation(ctx context.Context) string {
	id, _ := ctx.Value(correlationKey{}).(string)
	return id
}

// NewLogger writes JSON lines to w, each with the attributes of its context and
// the function's name.
func NewLogger(w io.Writer, function string, level slog.Leveler) *slog.Logger {
	h := slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})
	return slog.New(contextHandler{h}).With(slog.String(Function, function))
}

type contextHandler struct{ slog.Handler }

func (h contextHandler) Handle(ctx context.Context, r slog.Record) error {
	if id := Correlation(ctx); id != "" {
		r.AddAttrs(slog.String(CorrelationID, id))
	}
	if attrs, ok := ctx.Value(attrsKey{}).([]slog.Attr); ok {
		r.AddAttrs(attrs...)
	}
	return h.Handler.Handle(ctx, r)
}

func (h contextHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return contextHandler{h.Handler.WithAttrs(attrs)}
}

func (h contextHandler) WithGroup(name string) slog.Handler {
	return contextHandler{h.Handler.WithGroup(name)}
}
