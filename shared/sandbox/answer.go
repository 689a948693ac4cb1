package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"supportbot/shared/sandbox/tracker"
)

// problem is the body of every refusal.
type problem struct {
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	var p problem
	p.Error.Code, p.Error.Message = code, message
	answer(w, status, p)
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// action is a handler that gives what to answer, or why not.
type action func(r *http.Request) (any, error)

// api makes a handler of an action.
func (s *Sandbox) api(do action) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := do(r)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		if body == nil {
			body = struct{}{}
		}
		answer(w, http.StatusOK, body)
	}
}

func (s *Sandbox) fail(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, errNotFound), errors.Is(err, tracker.ErrNotFound):
		refuse(w, http.StatusNotFound, "not_found", err.Error())
	case tooLarge(err):
		refuseLarge(w)
	case errors.Is(err, errInvalid):
		refuse(w, http.StatusBadRequest, "invalid", err.Error())
	case errors.Is(err, tracker.ErrRefused):
		refuse(w, http.StatusConflict, "refused", err.Error())
	default:
		s.log.ErrorContext(r.Context(), "sandbox failed", "path", r.URL.Path, "error", err)
		refuse(w, http.StatusInternalServerError, "internal", "the sandbox failed; its log says why")
	}
}

// decode reads a JSON body.
func decode(r *http.Request, v any) error {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("something follows the object")
		}
	}
	switch {
	case tooLarge(err):
		return fmt.Errorf("read body: %w", err)
	case err != nil:
		return fmt.Errorf("%w body: %w", errInvalid, err)
	}
	return nil
}
