package sandbox

import (
	"bufio"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
)

// fileURL is where the page finds a file of a chat, relative to the page.
func fileURL(messenger string, chat, message int64, n int) string {
	return fmt.Sprintf("api/chats/%s/%d/files/%d/%d", messenger, chat, message, n)
}

// getChatFile serves a file of a message.
func (s *Sandbox) getChatFile(w http.ResponseWriter, r *http.Request) {
	t, err := s.target(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil {
		n = -1
	}
	d, err := t.phone.file(t.chat, t.message, n)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	serveFile(w, d)
}

// getFile serves a file of the tracker.
func (s *Sandbox) getFile(w http.ResponseWriter, r *http.Request) {
	if s.tracker == nil {
		s.fail(w, r, fmt.Errorf("tracker: %w", errNotFound))
		return
	}
	f, body, err := s.tracker.Open(r.PathValue("id"))
	if err != nil {
		s.fail(w, r, fmt.Errorf("file: %w", errNotFound))
		return
	}
	serveFile(w, download{f.Name, f.MIME, body})
}

// shown are the types that a browser shows or plays and that carry no code.
var shown = map[string]bool{
	"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true, "image/bmp": true,
	"audio/ogg": true, "audio/mpeg": true, "audio/wave": true, "audio/wav": true, "audio/webm": true, "audio/mp4": true,
	"application/ogg": true, "video/mp4": true, "video/webm": true,
}

// serveFile sends a file that may hold anything: its type goes by its bytes, and
// what is not shown is to be saved.
func serveFile(w http.ResponseWriter, d download) {
	body := bufio.NewReaderSize(d.body, 512)
	start, _ := body.Peek(512)
	kind := http.DetectContentType(start)
	disposition := "inline"
	switch {
	case kind == "application/ogg":
		kind = "audio/ogg"
	case !shown[kind]:
		kind, disposition = "application/octet-stream", "attachment"
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Cache-Control", "private, max-age=3600")
	if v := mime.FormatMediaType(disposition, map[string]string{"filename": d.name}); v != "" {
		disposition = v
	} else if d.name != "" {
		disposition += "; filename*=UTF-8''" + url.PathEscape(d.name)
	}
	h.Set("Content-Disposition", disposition)
	_, _ = io.Copy(w, body) // who went away needs no answer
}
