package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// maxFiles is how many files one message may have, as in both messengers.
const maxFiles = 10

// form is a request's fields and files.
type form struct {
	fields map[string]string
	files  []upload
}

// readForm reads a multipart form whose files are named "file".
func readForm(r *http.Request) (form, error) {
	f := form{fields: map[string]string{}}
	parts, err := r.MultipartReader()
	if err != nil {
		return f, fmt.Errorf("%w form: %w", errInvalid, err)
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return f, nil
		}
		if err != nil {
			return f, badForm(err)
		}
		if err := f.read(part); err != nil {
			return f, err
		}
	}
}

func (f *form) read(part *multipart.Part) error {
	data, err := io.ReadAll(part)
	if err != nil {
		return badForm(err)
	}
	if part.FormName() != "file" {
		f.fields[part.FormName()] = string(data)
		return nil
	}
	if len(f.files) == maxFiles {
		return fmt.Errorf("%w form: more than %d files", errInvalid, maxFiles)
	}
	u := upload{name: part.FileName(), mime: part.Header.Get("Content-Type"), data: data}
	if u.name == "" || u.name == "." {
		u.name = "file"
	}
	if plain, _, err := mime.ParseMediaType(u.mime); err == nil {
		u.mime = plain
	} else {
		u.mime, _, _ = strings.Cut(mime.TypeByExtension(path.Ext(u.name)), ";")
	}
	f.files = append(f.files, u)
	return nil
}

func badForm(err error) error {
	if tooLarge(err) {
		return fmt.Errorf("read form: %w", err)
	}
	return fmt.Errorf("%w form: %w", errInvalid, err)
}

// readOutgoing reads what a customer sends.
func readOutgoing(r *http.Request) (outgoing, error) {
	f, err := readForm(r)
	if err != nil {
		return outgoing{}, err
	}
	m := outgoing{text: f.fields["text"], as: f.fields["as"], files: f.files}
	switch m.as {
	case "", "photo", "document", "voice", "sticker":
	default:
		return m, fmt.Errorf("%w form: as is photo, document, voice, sticker or nothing", errInvalid)
	}
	if id := f.fields["reply_to"]; id != "" {
		if m.replyTo, err = strconv.ParseInt(id, 10, 64); err != nil {
			return m, fmt.Errorf("%w form: reply_to is no number", errInvalid)
		}
	}
	for name, v := range map[string]any{"location": &m.location, "contact": &m.contact} {
		if text := f.fields[name]; text != "" && json.Unmarshal([]byte(text), v) != nil {
			return m, fmt.Errorf("%w form: %s", errInvalid, name)
		}
	}
	if strings.TrimSpace(m.text) == "" && len(m.files) == 0 && m.location == nil && m.contact == nil {
		return m, fmt.Errorf("%w form: there is nothing to send", errInvalid)
	}
	return m, nil
}
