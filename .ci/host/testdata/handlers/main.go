// Command handlers has a handler of each form that the runtime accepts, and some
// that it does not.
package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
)

// Event is a body.
type Event struct {
	Name string `json:"name"`
}

// Function is an HTTP handler by its form: it gives back what came.
func Function(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Add("X-Many", "1")
	w.Header().Add("X-Many", "2")
	w.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(w, strings.Join([]string{r.Method, r.URL.String(), r.Host, r.Header.Get("X-Secret"), string(body)}, " "))
}

// Object is an HTTP handler by its methods. Its pattern is of Go 1.22.
var Object http.Handler = mux()

func mux() *http.ServeMux {
	m := http.NewServeMux()
	m.HandleFunc("GET /v1/{id}", func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.PathValue("id")) })
	return m
}

// Trigger is the form for triggers.
func Trigger(ctx context.Context, ev *Event) error {
	if _, ok := ctx.Deadline(); !ok {
		return errors.New("no deadline")
	}
	_, _ = io.WriteString(os.Stdout, "logged "+ev.Name+"\n")
	if ev.Name == "" {
		return errors.New("no name")
	}
	return nil
}

// Value takes the body as a value.
func Value(ev Event) (*Event, error) { return &Event{Name: ev.Name + "!"}, nil }

// Bytes takes the body as it is.
func Bytes(ctx context.Context, body []byte) (any, error) {
	return map[string]any{"size": len(body), "function": ctx.Value("lambdaRuntimeFunctionName")}, nil
}

// Text takes the body as text.
func Text(body string) (string, error) { return body, nil }

// Nothing takes nothing.
func Nothing() error { return nil }

// Panics does.
func Panics(context.Context) error { panic("as it does") }

// NoError is of no documented form.
func NoError(context.Context) {}

// TooMuch is of no documented form.
func TooMuch(context.Context, string, string) error { return nil }

func main() {}
