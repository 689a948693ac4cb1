package telegram

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"image"
	_ "image/gif" // the formats of photos
	_ "image/jpeg"
	_ "image/png"
	"io"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"supportbot/shared/sandbox/fault"
)

// Kinds of files, as the fields of a message are called.
const (
	photo     = "photo"
	document  = "document"
	video     = "video"
	audio     = "audio"
	voice     = "voice"
	animation = "animation"
	sticker   = "sticker"
	videoNote = "video_note"
)

// Limits of files (core.telegram.org/bots/api#sending-files and #getfile).
const (
	maxPhoto    = 10 << 20  // bytes
	maxSides    = 10_000    // pixels, both sides together
	maxRatio    = 20        // of the sides
	maxDownload = 20 << 20  // bytes
	linkLives   = time.Hour // at least, says the documentation
)

// file is what Telegram keeps of a file.
type file struct {
	id, unique    string // file_id, file_unique_id
	kind          string
	name, mime    string
	data          []byte
	size          int64 // more than data: zeros follow
	width, height int
	duration      int
	small         []*file   // copies of a photo, thumbnails
	path          string    // where it is served; "" before getFile
	linked        time.Time // when getFile last gave the path
	lost          bool
}

// hold keeps a file and names it; callers hold s.mu.
func (s *Server) hold(f *file) *file {
	n := s.nextID()
	f.size = max(f.size, int64(len(f.data)))
	var seed [8]byte
	binary.BigEndian.PutUint64(seed[:], uint64(n))
	sum := sha256.Sum256(seed[:])
	f.id = prefixOf(f.kind) + base64.RawURLEncoding.EncodeToString(append(seed[:], sum[:24]...))
	f.unique = "AgAD" + base64.RawURLEncoding.EncodeToString(sum[24:])
	s.files[f.id] = f
	return f
}

// prefixOf is how the ids of a kind of file begin.
func prefixOf(kind string) string {
	switch kind {
	case photo:
		return "AgACAgIAAxk"
	case voice:
		return "AwACAgIAAxk"
	case video:
		return "BAACAgIAAxk"
	case audio:
		return "CQACAgIAAxk"
	case animation:
		return "CgACAgIAAxk"
	case sticker:
		return "CAACAgIAAxk"
	case videoNote:
		return "DQACAgIAAxk"
	}
	return "BQACAgIAAxk"
}

// keep makes a file of a kind from its bytes. What is measured is measured, the
// rest is made up.
func (s *Server) keep(f *file) *file {
	f.width, f.height = 640, 480
	if c, _, err := image.DecodeConfig(bytes.NewReader(f.data)); err == nil {
		f.width, f.height = c.Width, c.Height
	}
	switch f.kind {
	case photo:
		f.name = ""
		for _, side := range []int{90, 320} {
			if side < f.width {
				f.small = append(f.small, s.hold(&file{kind: photo, data: []byte("a small copy"), width: side, height: max(1, side*f.height/f.width)}))
			}
		}
	case voice:
		f.name, f.duration = "", 3
		setDefault(&f.mime, "audio/ogg")
	case videoNote:
		f.name, f.duration, f.width, f.height = "", 3, 240, 240
	case sticker:
		f.name, f.width, f.height = "", 512, 512
	case audio, video, animation:
		f.duration = 3
	}
	if f.mime == "" {
		f.mime = mime.TypeByExtension(path.Ext(f.name))
		f.mime, _, _ = strings.Cut(f.mime, ";")
	}
	return s.hold(f)
}

// describe adds the file to the message that carries it.
func (f *file) describe(w map[string]any) {
	switch f.kind {
	case photo:
		sizes := make([]map[string]any, 0, len(f.small)+1)
		for _, g := range append(f.small[:len(f.small):len(f.small)], f) {
			size := g.base()
			size["width"], size["height"] = g.width, g.height
			sizes = append(sizes, size)
		}
		w[photo] = sizes
		return
	case animation: // for clients that know no animations
		d := f.base()
		f.nameInto(d)
		w[document] = d
	}
	o := f.base()
	switch f.kind {
	case video, animation:
		o["width"], o["height"], o["duration"] = f.width, f.height, f.duration
		f.nameInto(o)
	case audio:
		o["duration"] = f.duration
		f.nameInto(o)
	case voice:
		o["duration"], o["mime_type"] = f.duration, f.mime
	case videoNote:
		o["length"], o["duration"] = f.width, f.duration
	case sticker:
		o["type"], o["width"], o["height"], o["emoji"] = "regular", f.width, f.height, "👍"
		o["is_animated"], o["is_video"] = strings.HasSuffix(f.mime, "tgsticker"), f.mime == "video/webm"
	default:
		f.nameInto(o)
	}
	w[f.kind] = o
}

func (f *file) base() map[string]any {
	return map[string]any{"file_id": f.id, "file_unique_id": f.unique, "file_size": f.size}
}

func (f *file) nameInto(o map[string]any) {
	if f.name != "" {
		o["file_name"] = f.name
	}
	if f.mime != "" {
		o["mime_type"] = f.mime
	}
}

func (s *Server) getFile(c *call) (any, *refusal) {
	id := c.text("file_id")
	if id == "" {
		return nil, bad("file_id not specified")
	}
	f := s.files[id]
	switch {
	case f == nil:
		return nil, bad("invalid file_id")
	case f.lost:
		return nil, bad("wrong file_id or the file is temporarily unavailable")
	case f.size > maxDownload:
		return nil, bad("file is too big")
	}
	if f.path == "" {
		f.path = fmt.Sprintf("%ss/file_%d%s", f.kind, len(s.paths), f.extension())
		s.paths[f.path] = f
	}
	f.linked = s.now()
	w := f.base()
	w["file_path"] = f.path
	return w, nil
}

// extension of the path: the file's own name is not kept there.
func (f *file) extension() string {
	switch f.kind {
	case photo:
		return ".jpg"
	case voice:
		return ".oga"
	case sticker:
		return ".webp"
	case videoNote:
		return ".mp4"
	}
	return path.Ext(f.name)
}

// serveFile answers a download; rest is "<token>/<path>".
func (s *Server) serveFile(w http.ResponseWriter, r *http.Request, rest string) {
	token, name, _ := strings.Cut(rest, "/")
	next := func(w http.ResponseWriter, r *http.Request) { s.download(w, r, token, name) }
	s.cfg.Faults.Serve(w, r, "file", next, func(w http.ResponseWriter, f fault.Fault) { write(w, injected(f).answer()) })
}

func (s *Server) download(w http.ResponseWriter, r *http.Request, token, name string) {
	s.mu.Lock()
	f := s.paths[name]
	gone := f == nil || f.lost || s.now().Sub(f.linked) > linkLives
	s.mu.Unlock()
	switch {
	case token != s.cfg.Token:
		write(w, refuse(http.StatusUnauthorized, "Unauthorized").answer())
		return
	case gone:
		write(w, refuse(http.StatusNotFound, "Not Found").answer())
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.FormatInt(f.size, 10))
	if r.Method != http.MethodHead {
		_, _ = io.Copy(w, f.reader())
	}
}

// reader gives the bytes of a file.
func (f *file) reader() io.Reader {
	return io.MultiReader(bytes.NewReader(f.data), io.LimitReader(zeros{}, f.size-int64(len(f.data))))
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// Lose makes a file one that Telegram cannot find.
func (s *Server) Lose(fileID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.files[fileID]; f != nil {
		f.lost = true
	}
}
