package vk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"supportbot/shared/sandbox/fault"
)

// Bounds of uploads (dev.vk.com/api/upload).
const (
	photoMost     = 50 << 20
	docMost       = 200 << 20
	photoSidesSum = 14000
	photoRatio    = 20
)

// forbidden are the kinds of files that VK takes for no document. Published are
// "mp3 and executables"; the list of the latter is a guess.
var forbidden = []string{".mp3", ".exe", ".msi", ".com", ".bat", ".cmd", ".scr", ".apk", ".jar"}

func (s *Server) photoServer(c *call) (any, *apiError) {
	address, fail := s.uploadAddress(c, "photo")
	if fail != nil {
		return nil, fail
	}
	return map[string]any{"album_id": -64, "upload_url": address, "user_id": 0, "group_id": s.cfg.GroupID}, nil
}

func (s *Server) docServer(c *call) (any, *apiError) {
	kind := c.text("type")
	if kind != "" && kind != "doc" && kind != "audio_message" {
		return nil, invalid("type is incorrect")
	}
	address, fail := s.uploadAddress(c, "doc")
	if fail != nil {
		return nil, fail
	}
	return map[string]any{"upload_url": address}, nil
}

// uploadAddress gives the address to send a file to, for a peer that may be
// written to.
func (s *Server) uploadAddress(c *call, kind string) (string, *apiError) {
	if c.has("peer_id") {
		peer, ok := c.number("peer_id")
		if !ok {
			return "", invalid("peer_id is incorrect")
		}
		if fail := s.mayWrite(peer); fail != nil {
			return "", failed(901, "Can't send messages for users without permission")
		}
	}
	return s.base + "/upload/" + kind + "?mid=" + strconv.FormatInt(s.nextID(), 10), nil
}

// slurp reads the body before any fault: a server notices that a caller has given
// up only after that.
func slurp(r *http.Request) error {
	body, err := io.ReadAll(io.LimitReader(r.Body, docMost+maxForm))
	r.Body = io.NopCloser(bytes.NewReader(body))
	return err
}

// serveUpload takes the bytes of a file: field "photo" or "file". What is wrong is
// said in JSON with status 200, which VK calls text/html.
func (s *Server) serveUpload(w http.ResponseWriter, r *http.Request) {
	kind := strings.TrimPrefix(r.URL.Path, "/upload/")
	field := "file"
	if kind == "photo" {
		field = "photo"
	}
	name, data, err := readUpload(r, field)
	entry := fault.Call{Method: "upload", Status: http.StatusOK, Params: shownFile(kind, name, len(data))}
	var answer any
	switch {
	case err != nil:
		answer = map[string]any{"error": "ERR_UPLOAD_BAD_REQUEST", "error_descr": err.Error()}
	case kind == "photo":
		answer = s.takePhoto(data)
	default:
		answer = s.takeDoc(name, data)
	}
	body, err := json.Marshal(answer)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(body)
	entry.At, entry.Result = s.now(), body
	s.cfg.Calls.Add(entry)
}

func shownFile(kind, name string, size int) json.RawMessage {
	b, err := json.Marshal(map[string]any{"type": kind, "file": name, "size": size})
	if err != nil {
		return nil
	}
	return b
}

// readUpload reads the field. Files without a length are refused, as many upload
// servers do.
func readUpload(r *http.Request, field string) (name string, data []byte, err error) {
	if r.ContentLength < 0 {
		return "", nil, errors.New("length required")
	}
	if r.ContentLength > docMost+(1<<16) {
		return "", nil, errors.New("file is too big")
	}
	reader, err := r.MultipartReader()
	if err != nil {
		return "", nil, err
	}
	for {
		part, err := reader.NextPart()
		if err != nil {
			return "", nil, fmt.Errorf("no field %s: %w", field, err)
		}
		if part.FormName() == field {
			return readPart(part)
		}
	}
}

func readPart(part *multipart.Part) (string, []byte, error) {
	data, err := io.ReadAll(part)
	if err != nil {
		return "", nil, err
	}
	return part.FileName(), data, nil
}

// takePhoto answers an empty list for what is no photo.
func (s *Server) takePhoto(data []byte) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.photo(-s.cfg.GroupID, data)
	fits := f.width+f.height <= photoSidesSum && f.width <= photoRatio*f.height && f.height <= photoRatio*f.width
	if !strings.HasPrefix(http.DetectContentType(data), "image/") || len(data) > photoMost || !fits {
		return map[string]any{"server": 1, "photo": "[]", "hash": "0"}
	}
	token := fmt.Sprintf(`[{"photo":"%x:z"}]`, f.id)
	s.uploads[token] = f
	return map[string]any{"server": f.id, "photo": token, "hash": f.key}
}

func (s *Server) takeDoc(name string, data []byte) any {
	ext := strings.ToLower(path.Ext(name))
	switch {
	case len(data) == 0:
		return map[string]any{"error": "ERR_UPLOAD_FILE_NOT_UPLOADED", "error_descr": "file is empty"}
	case ext == "" || slices.Contains(forbidden, ext):
		return map[string]any{"error": "ERR_UPLOAD_BAD_FILE_TYPE", "error_descr": "wrong type of file"}
	case len(data) > docMost:
		return map[string]any{"error": "ERR_UPLOAD_FILE_TOO_BIG", "error_descr": "file is too big"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.hold(&file{owner: -s.cfg.GroupID, kind: "doc", name: name, data: data})
	token := fmt.Sprintf("%d|%x|%s", -s.cfg.GroupID, f.id, f.key)
	s.uploads[token] = f
	return map[string]any{"file": token}
}

// savePhoto is photos.saveMessagesPhoto, once for each upload.
func (s *Server) savePhoto(c *call) (any, *apiError) {
	token := c.text("photo")
	f := s.uploads[token]
	switch {
	case f == nil || f.kind != "photo":
		return nil, invalid("photos_list is invalid")
	case c.text("hash") != f.key:
		return nil, failed(121, "Invalid hash")
	case c.text("server") != strconv.FormatInt(f.id, 10):
		return nil, failed(118, "Invalid server")
	}
	delete(s.uploads, token)
	c.effect = true
	return []any{s.object(f)}, nil
}

// saveDoc is docs.save, once for each upload.
func (s *Server) saveDoc(c *call) (any, *apiError) {
	token := c.text("file")
	f := s.uploads[token]
	if f == nil || f.kind != "doc" {
		return nil, failed(105, "Couldn't save file")
	}
	if utf8.RuneCountInString(c.text("title")) > 255 {
		return nil, invalid("title is incorrect")
	}
	delete(s.uploads, token)
	if title := c.text("title"); title != "" {
		delete(s.files, f.path())
		f.name = title
		s.files[f.path()] = f
	}
	c.effect = true
	return map[string]any{"type": "doc", "doc": s.object(f)}, nil
}
