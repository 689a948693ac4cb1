package notification

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// Problem is an error as the caller gets it: application/problem+json, RFC 9457.
type Problem struct {
	Type   string  `json:"type"`
	Title  string  `json:"title"`
	Status int     `json:"status"`
	Detail string  `json:"detail"`
	Errors []Field `json:"errors,omitempty"`
}

// Field is what is wrong with one field of a body, or one parameter of a query.
type Field struct {
	Pointer string `json:"pointer"` // JSON Pointer: "/texts/ru"; "" is the whole body; "/from": a parameter
	Code    string `json:"code"`    // for programs: "required", "too_long", "too_many", "unknown", "duplicate", "bad_markup", "invalid", "past"
	Message string `json:"message"` // for people
}

func (p *Problem) Error() string { return p.Detail }

// refuse makes a problem without fields.
func refuse(status int, detail string) *Problem {
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail}
}

// fieldsMost is how many fields one answer names.
const fieldsMost = 100

// invalid makes a problem of fields, in the order of their pointers; nil when
// nothing is wrong.
func invalid(fields []Field) error {
	if len(fields) == 0 {
		return nil
	}
	slices.SortStableFunc(fields, func(x, y Field) int { return strings.Compare(x.Pointer, y.Pointer) })
	p := refuse(http.StatusUnprocessableEntity, "the body has fields that are wrong; nothing was done")
	p.Errors = fields[:min(len(fields), fieldsMost)]
	return p
}

func (p *Problem) write(w http.ResponseWriter) {
	again := p.Status == http.StatusServiceUnavailable || p.Status == http.StatusTooManyRequests
	if again && w.Header().Get("Retry-After") == "" {
		w.Header().Set("Retry-After", "5")
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p)
}

// respond writes a success; nil is 204.
func respond(w http.ResponseWriter, status int, v any) {
	if v == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
	}
	w.WriteHeader(status)
	switch v := v.(type) {
	case json.RawMessage:
		_, _ = w.Write(v)
	case text:
		_, _ = w.Write(v)
	default:
		_ = json.NewEncoder(w).Encode(v)
	}
}
