package messenger

import "errors"

// Errors of Receiver.Receive; the adapter wraps them with what was wrong.
var (
	ErrForbidden = errors.New("webhook secret is wrong")
	ErrTooLarge  = errors.New("webhook body is too large")
	ErrMalformed = errors.New("webhook body cannot be read")
)
