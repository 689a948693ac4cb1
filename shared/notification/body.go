package notification

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strconv"
	"unicode/utf8"
)

// BodyMost is the largest body; a hundred thousand ids of customers fit.
const BodyMost = 1 << 20

// keyMost is the longest Idempotency-Key, in characters.
const keyMost = 200

// decode reads the JSON body strictly: what is not known is an error, because a
// misspelt criterion would send to everybody.
func (c *call) decode(v any) error {
	raw, err := c.body()
	if err != nil {
		return err
	}
	if err := invalid(mismatches(raw, v)); err != nil {
		return err
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return refuse(http.StatusBadRequest, "the body is not JSON")
	}
	return nil
}

// body reads the body once, which has to be one JSON value; decode and idempotency
// share it. An empty one is an empty object.
func (c *call) body() ([]byte, error) {
	if given := c.r.Header.Get("Content-Type"); given != "" {
		if kind, _, err := mime.ParseMediaType(given); err != nil || kind != "application/json" {
			return nil, refuse(http.StatusUnsupportedMediaType, "the body has to be application/json")
		}
	}
	raw, err := io.ReadAll(io.LimitReader(c.r.Body, BodyMost+1))
	switch {
	case err != nil:
		return nil, refuse(http.StatusBadRequest, "the body could not be read")
	case len(raw) > BodyMost:
		return nil, refuse(http.StatusRequestEntityTooLarge, "the body is larger than 1 MiB")
	}
	switch raw = bytes.TrimSpace(raw); {
	case len(raw) == 0:
		raw = []byte("{}")
	case !utf8.Valid(raw):
		return nil, refuse(http.StatusBadRequest, "the body is not UTF-8")
	case !json.Valid(raw):
		return nil, refuse(http.StatusBadRequest, "the body is not JSON")
	}
	c.r.Body = io.NopCloser(bytes.NewReader(raw))
	return raw, nil
}

// idempotency gives the key that the caller chose, with what its request is. The
// key is the caller's own: another one's is another key.
func (c *call) idempotency() (key, fingerprint string, err error) {
	chosen := c.r.Header.Get("Idempotency-Key")
	if n := utf8.RuneCountInString(chosen); n == 0 || n > keyMost || !utf8.ValidString(chosen) {
		return "", "", refuse(http.StatusBadRequest, "the header Idempotency-Key is needed: up to 200 characters that name this request, so that it can be repeated")
	}
	raw, err := c.body()
	if err != nil {
		return "", "", err
	}
	var compact bytes.Buffer
	_ = json.Compact(&compact, raw) // it is valid
	sum := sha256.Sum256([]byte(c.r.Method + " " + c.r.URL.Path + "\n" + compact.String()))
	return "api:" + c.caller.name + ":" + chosen, hex.EncodeToString(sum[:]), nil
}

// number reads a number of the query.
func (c *call) number(name string, fallback, most int64) (int64, error) {
	text := c.r.URL.Query().Get(name)
	if text == "" {
		return fallback, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || n > most {
		return 0, refuse(http.StatusBadRequest, name+" has to be a number from 1 to "+strconv.FormatInt(most, 10))
	}
	return n, nil
}
