// Package env reads configuration from environment variables. Each package owns
// its Config and fills it from a Reader; the Reader collects every problem, so
// that a person mends them all at once.
package env

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"
)

// Secret is a value that must not be seen: it prints as [redacted] in logs, JSON
// and any fmt verb, also inside other values. The exceptions are Go's: fmt asks
// neither a struct's unexported fields nor for verbs that vet refuses, and JSON
// does not ask a map's keys.
type Secret string

const redacted = "[redacted]"

// String and the methods below hide the value; Reveal gives it.
func (Secret) String() string               { return redacted }
func (Secret) GoString() string             { return redacted }
func (Secret) LogValue() slog.Value         { return slog.StringValue(redacted) }
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
func (Secret) Format(f fmt.State, _ rune)   { _, _ = f.Write([]byte(redacted)) }

// Reveal gives the value, for the one place that sends it.
func (s Secret) Reveal() string { return string(s) }

// Reader reads variables and remembers what was wrong with them.
type Reader struct {
	lookup   func(string) (string, bool)
	problems []error
}

// NewReader reads the process's environment.
func NewReader() *Reader { return &Reader{lookup: os.LookupEnv} }

// NewReaderFrom reads from a function of os.LookupEnv's form.
func NewReaderFrom(lookup func(string) (string, bool)) *Reader { return &Reader{lookup: lookup} }

// String gives the variable, or fallback when it is unset or empty.
func (r *Reader) String(name, fallback string) string {
	if v, ok := r.lookup(name); ok && v != "" {
		return v
	}
	return fallback
}

// Required gives the variable; unset or empty is a problem.
func (r *Reader) Required(name string) string {
	v := r.String(name, "")
	if v == "" {
		r.problem(name, "is not set")
	}
	return v
}

// Secret is String for values that must not be seen.
func (r *Reader) Secret(name string) Secret { return Secret(r.String(name, "")) }

// RequiredSecret is Required for values that must not be seen.
func (r *Reader) RequiredSecret(name string) Secret { return Secret(r.Required(name)) }

// RequiredSecrets gives a comma-separated list of secrets, all of them valid: two
// while one is rotated.
func (r *Reader) RequiredSecrets(name string) []Secret {
	var list []Secret
	for _, s := range strings.Split(r.Required(name), ",") {
		if s = strings.TrimSpace(s); s != "" {
			list = append(list, Secret(s))
		}
	}
	return list
}

// Int gives the variable as a number.
func (r *Reader) Int(name string, fallback int) int {
	v := r.String(name, "")
	if v == "" {
		return fallback
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		r.problem(name, "is not a whole number")
		return fallback
	}
	return n
}

// Duration gives the variable in Go's syntax ("90s", "5m").
func (r *Reader) Duration(name string, fallback time.Duration) time.Duration {
	v := r.String(name, "")
	if v == "" {
		return fallback
	}
	d, err := time.ParseDuration(v)
	if err != nil {
		r.problem(name, `is not a duration like "90s"`)
		return fallback
	}
	return d
}

// Err gives all problems, naming variables and never their values.
func (r *Reader) Err() error { return errors.Join(r.problems...) }

func (r *Reader) problem(name, what string) {
	r.problems = append(r.problems, fmt.Errorf("environment variable %s %s", name, what))
}
