package queue

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// ErrNotHint is wrapped by ParseHint's errors. Such a message can never be worked
// on: log it and let it go.
var ErrNotHint = errors.New("message is not a hint")

// maxCorrelation bounds the correlation id, which a caller of the API may have
// chosen, so that any ten hints fit into one batch of 256 KB.
const maxCorrelation = 256

// Body is the hint as a message's body: JSON in ASCII, because a queue refuses
// some characters, emulators more of them, and one refused hint would be refused
// for ever. A long correlation id is cut: it is for logs, and the hint has to
// arrive.
func (h Hint) Body() string {
	h.CorrelationID = tidy(h.CorrelationID)
	b, err := json.Marshal(h)
	if err != nil {
		panic(fmt.Sprintf("a number and a string cannot be encoded: %v", err))
	}
	var ascii strings.Builder
	for _, r := range string(b) {
		if r < utf8.RuneSelf {
			ascii.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&ascii, `\u%04x`, unit)
		}
	}
	return ascii.String()
}

// ParseHint reads a message's body. Fields that it does not know are a newer
// producer's and do no harm.
func ParseHint(body string) (Hint, error) {
	var h Hint
	if err := json.Unmarshal([]byte(body), &h); err != nil {
		return Hint{}, fmt.Errorf("parse hint: %w", ErrNotHint) // the cause may quote the body
	}
	if h.Job <= 0 {
		return Hint{}, fmt.Errorf("parse hint: %w: it names no job", ErrNotHint)
	}
	h.CorrelationID = tidy(h.CorrelationID)
	return h, nil
}

// tidy cuts to maxCorrelation bytes of valid UTF-8.
func tidy(id string) string {
	return strings.ToValidUTF8(id[:min(len(id), maxCorrelation)], "")
}
