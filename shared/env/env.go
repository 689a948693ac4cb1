// Package env reads configuration from environment variables. Each package owns
// its Config and fills it from a Reader; the Reader collects every problem, so
// that a person mends them all at once.
package env

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

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

// RequiredSecret is Required for values that must not be seen.
func (r *Reader) RequiredSecret(name string) Secret { return NewSecret(r.Required(name)) }

// Secrets gives a comma-separated list of secrets, all of them valid: two while
// one is rotated. Unset gives none.
func (r *Reader) Secrets(name string) []Secret { return split(r.String(name, "")) }

// RequiredSecrets is Secrets; none at all is a problem.
func (r *Reader) RequiredSecrets(name string) []Secret {
	list := split(r.String(name, ""))
	if len(list) == 0 {
		r.problem(name, "is not set")
	}
	return list
}

func split(values string) []Secret {
	var list []Secret
	for _, s := range strings.Split(values, ",") {
		if s = strings.TrimSpace(s); s != "" {
			list = append(list, NewSecret(s))
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

// Zone gives the variable as a time zone by its IANA name ("Europe/Moscow").
func (r *Reader) Zone(name, fallback string) *time.Location {
	zone, err := time.LoadLocation(r.String(name, fallback))
	if err != nil {
		r.problem(name, `is not a time zone like "Europe/Moscow"`)
		return time.UTC
	}
	return zone
}

// Err gives all problems, naming variables and never their values.
func (r *Reader) Err() error { return errors.Join(r.problems...) }

func (r *Reader) problem(name, what string) {
	r.problems = append(r.problems, fmt.Errorf("environment variable %s %s", name, what))
}
