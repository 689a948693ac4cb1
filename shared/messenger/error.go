package messenger

import (
	"errors"
	"fmt"
	"time"
)

// ErrorKind is the closed set of what can go wrong with a call, by what the
// caller has to do.
type ErrorKind string

// The kinds of errors.
const (
	// RateLimited: nothing was done; try again after Error.RetryAfter.
	RateLimited ErrorKind = "rate_limited"
	// Temporary: nothing was done (refused connection, an error answer that
	// says so); try again with backoff.
	Temporary ErrorKind = "temporary"
	// Uncertain: the call was started and nobody knows how it ended (time-out,
	// broken connection, an answer that cannot be read).
	Uncertain ErrorKind = "uncertain"
	// Blocked: this customer cannot be written to until they write again.
	Blocked ErrorKind = "blocked"
	// Invalid: the messenger refuses this request for good.
	Invalid ErrorKind = "invalid"
	// Moved: the chat has a new id, Error.NewChat.
	Moved ErrorKind = "moved"
)

// Error is the failure of a call to a messenger. Its text holds neither tokens
// nor anything that a customer wrote.
type Error struct {
	Kind       ErrorKind
	Code       int           // the messenger's own error code; 0 when there was no answer
	RetryAfter time.Duration // for RateLimited
	NewChat    string        // for Moved
	Err        error
}

func (e *Error) Error() string {
	if e.Code != 0 {
		return fmt.Sprintf("%s (%d): %v", e.Kind, e.Code, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.Kind, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Refused says that the messenger itself asked to wait, so that all others have to
// wait too. A call that found no place within our own limits has no Code.
func (e *Error) Refused() bool { return e.Kind == RateLimited && e.Code != 0 }

// KindOf gives the kind of err. Any error that is not an *Error counts as
// Uncertain: the careful choice.
func KindOf(err error) ErrorKind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Uncertain
}
