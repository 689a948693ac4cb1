package env

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"log/slog"
	"unique"
)

const redacted = "[redacted]"

// Secret is a value that must not be seen. It prints as [redacted] in logs, JSON
// and by any fmt verb; where fmt or a debugger's printer goes past these methods
// (unexported fields of a struct, verbs that do not exist) it finds an address and
// not the value. Secrets may be compared with ==; the zero Secret is none.
type Secret struct {
	// A handle and not a pointer, so that equal secrets are equal.
	value unique.Handle[string]
}

// NewSecret hides a value; the empty one gives the zero Secret.
func NewSecret(value string) Secret {
	if value == "" {
		return Secret{}
	}
	return Secret{unique.Make(value)}
}

// Reveal gives the value, for the one place that sends it.
func (s Secret) Reveal() string {
	if s.Empty() {
		return ""
	}
	return s.value.Value()
}

// Empty reports whether there is no value.
func (s Secret) Empty() bool { return s == Secret{} }

// Equal is ==, for those who compare by methods (go-cmp).
func (s Secret) Equal(other Secret) bool { return s == other }

// Match reports whether given is one of the secrets, in a time that tells nothing of
// them: digests hide the lengths, and every secret is compared. Without secrets, and
// to an empty one, nothing matches.
func Match(secrets []Secret, given string) bool {
	got := sha256.Sum256([]byte(given))
	found := 0
	for _, s := range secrets {
		if s.Empty() {
			continue
		}
		want := sha256.Sum256([]byte(s.Reveal()))
		found |= subtle.ConstantTimeCompare(got[:], want[:])
	}
	return found == 1
}

// The methods by which others would show it.
func (Secret) String() string               { return redacted }
func (Secret) GoString() string             { return redacted }
func (Secret) LogValue() slog.Value         { return slog.StringValue(redacted) }
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }
func (Secret) Format(f fmt.State, _ rune)   { _, _ = f.Write([]byte(redacted)) }
