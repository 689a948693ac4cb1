package loader

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"supportbot/shared/ycf"
)

// Request is what a call asks for: {"since": "2025-01-01"} a history, anything
// without it the live load. A timer's payload and the body of a direct call have the
// same form.
type Request struct{ Since time.Time }

// ParseRequest reads the event of a call.
func ParseRequest(event []byte) (Request, error) {
	var ev ycf.TimerEvent
	if err := json.Unmarshal(event, &ev); err == nil && len(ev.Messages) > 0 {
		event = []byte(ev.Payload())
	}
	text := strings.TrimSpace(string(event))
	if text == "" {
		return Request{}, nil
	}
	var body struct {
		Since string `json:"since"`
	}
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		return Request{}, errors.New(`read request: it is not of the form {"since": "2025-01-01"}`)
	}
	if body.Since == "" {
		return Request{}, nil
	}
	since, err := ParseSince(body.Since)
	return Request{Since: since}, err
}

// ParseSince reads a day (UTC) or a time (RFC 3339).
func ParseSince(text string) (time.Time, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("read request: since has to be a day like 2025-01-01 or a time like 2025-01-01T00:00:00Z")
}
