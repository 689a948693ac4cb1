package telegram

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"supportbot/shared/sandbox/fault"
)

// maxFields is how long a field may be that is no file, in bytes.
const maxFields = 4 << 20

// call is one call of a method.
type call struct {
	method string // as it is spelt in the documentation
	params map[string]string
	files  map[string]*upload // by form field
	effect bool               // something changed
	at     time.Time          // when it was judged; zero: it was not
	from   string             // whom it asked: the server's address
	fault  fault.Kind
}

// upload is a file that came with a call.
type upload struct {
	name, mime string
	data       []byte
}

// drained is how much of a request that is too large is still read, so that its
// sender comes to reading the answer.
const drained = 64 << 20

// errTooLarge: the request is larger than the server reads.
var errTooLarge = errors.New("request is too large")

// parse reads the parameters from the query and the body: a form, a multipart
// form with files of so many bytes at most, or JSON.
func (c *call) parse(query url.Values, contentType string, body io.Reader, most int64) error {
	c.params, c.files = map[string]string{}, map[string]*upload{}
	take(c.params, query)
	kind, options, _ := mime.ParseMediaType(contentType)
	var err error
	switch kind {
	case "application/json":
		err = c.parseJSON(body)
	case "multipart/form-data":
		err = c.parseMultipart(multipart.NewReader(body, options["boundary"]), most)
	default:
		err = c.parseForm(body)
	}
	if err != nil {
		return err
	}
	for _, value := range c.params {
		if !utf8.ValidString(value) {
			return errors.New("strings must be encoded in UTF-8")
		}
	}
	return nil
}

func take(params map[string]string, form url.Values) {
	for key, values := range form {
		params[key] = values[0]
	}
}

func (c *call) parseForm(body io.Reader) error {
	raw, err := readAtMost(body, maxFields)
	if err != nil {
		return err
	}
	form, err := url.ParseQuery(string(raw))
	if err != nil {
		return errors.New("can't parse request")
	}
	take(c.params, form)
	return nil
}

// parseJSON takes text as it is and everything else as the JSON that a form
// would carry.
func (c *call) parseJSON(body io.Reader) error {
	raw, err := readAtMost(body, maxFields)
	if err != nil || len(bytes.TrimSpace(raw)) == 0 {
		return err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return errors.New("can't parse JSON encoded request")
	}
	for key, value := range fields {
		var text string
		switch {
		case json.Unmarshal(value, &text) != nil:
			c.params[key] = string(value)
		case string(value) != "null":
			c.params[key] = text
		}
	}
	return nil
}

func (c *call) parseMultipart(parts *multipart.Reader, left int64) error {
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if part.FileName() == "" {
			value, err := readAtMost(part, maxFields)
			if err != nil {
				return err
			}
			c.params[part.FormName()] = string(value)
			continue
		}
		data, err := readAtMost(part, left)
		if err != nil {
			return err
		}
		left -= int64(len(data))
		c.files[part.FormName()] = &upload{name: part.FileName(), mime: part.Header.Get("Content-Type"), data: data}
	}
}

func readAtMost(r io.Reader, most int64) ([]byte, error) {
	var buf bytes.Buffer // grows in fewer steps than io.ReadAll: files are large
	if _, err := buf.ReadFrom(io.LimitReader(r, most+1)); err != nil {
		return nil, err
	}
	if int64(buf.Len()) > most {
		return nil, errTooLarge
	}
	return buf.Bytes(), nil
}

// text gives a parameter; "null" is none, as in JSON.
func (c *call) text(name string) string {
	if v := c.params[name]; v != "null" {
		return v
	}
	return ""
}

// number gives a whole number, or fallback where there is none that can be read:
// the original does not complain.
func (c *call) number(name string, fallback int64) int64 {
	if n, err := strconv.ParseInt(strings.TrimSpace(c.text(name)), 10, 64); err == nil {
		return n
	}
	return fallback
}

func (c *call) flag(name string) bool {
	switch strings.ToLower(c.text(name)) {
	case "true", "yes", "1":
		return true
	}
	return false
}

// object decodes a parameter that is JSON; false when it is not there.
func (c *call) object(name string, v any) (bool, error) {
	text := c.text(name)
	if text == "" {
		return false, nil
	}
	return true, json.Unmarshal([]byte(text), v)
}

// shown is the call for the log: a file is its name and size.
func (c *call) shown() json.RawMessage {
	shown := map[string]any{}
	for key, value := range c.params {
		if key != "secret_token" {
			shown[key] = value
		}
	}
	for key, f := range c.files {
		shown[key] = map[string]any{"file": f.name, "size": len(f.data)}
	}
	return marshal(shown)
}

// marshal encodes what is made of maps, text and numbers.
func marshal(v any) json.RawMessage {
	var buf bytes.Buffer
	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSpace(buf.Bytes())
}
