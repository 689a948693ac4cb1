package queue

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ErrNotFound is wrapped by errors of both directions: there is no queue of that
// name.
var ErrNotFound = errors.New("queue does not exist")

// ErrNotHint is wrapped by ParseHint's errors. Such a message can never be worked
// on: log it and let it go.
var ErrNotHint = errors.New("message is not a hint")

// maxCorrelation bounds the correlation id, which a caller of the API may have
// chosen, so that any ten hints fit into one batch of 256 KB.
const maxCorrelation = 256

// Body is the hint as a message's body. A correlation id that the queue would
// refuse loses what is wrong with it: it is for logs, and the hint has to arrive.
func (h Hint) Body() string {
	h.CorrelationID = tidy(h.CorrelationID)
	b, err := json.Marshal(h)
	if err != nil {
		panic(fmt.Sprintf("a number and a string cannot be encoded: %v", err))
	}
	return string(b)
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

// tidy cuts to maxCorrelation bytes and drops what a message may not contain:
// U+FFFE and U+FFFF (SendMessage, "A message can include only XML, JSON, and
// unformatted text"; control characters are escaped by JSON).
func tidy(id string) string {
	id = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || r == 0xFFFE || r == 0xFFFF {
			return -1
		}
		return r
	}, id)
	if len(id) <= maxCorrelation {
		return id
	}
	cut := maxCorrelation
	for !utf8.RuneStart(id[cut]) {
		cut--
	}
	return id[:cut]
}
