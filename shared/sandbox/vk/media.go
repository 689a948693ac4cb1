package vk

import (
	"bytes"
	"fmt"
	"image"
	_ "image/gif" // the formats of photos
	_ "image/jpeg"
	_ "image/png"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
)

// Attachment is something below a message: a file, or an object of VK's that has
// none. Make one with the Server's methods.
type Attachment struct {
	Kind   string // VK's type: "photo", "doc", "audio_message", "link"...
	file   *file
	object map[string]any // for those without a file
}

// file is bytes that the server holds.
type file struct {
	id, owner  int64
	kind       string // as Attachment.Kind
	name       string
	data       []byte
	key        string // access key
	date       int64
	width      int
	height     int
	transcript string
	thumb      *file // the small copy of a photo
}

// hold keeps a file of owner's and makes an address for it; callers hold s.mu.
func (s *Server) hold(f *file) *file {
	f.id, f.date = s.nextID(), s.now().Unix()
	f.key = fmt.Sprintf("k%06x", f.id*7919)
	s.files[f.path()] = f
	s.media[fmt.Sprintf("%s%d_%d", f.kind, f.owner, f.id)] = f
	return f
}

func (f *file) path() string {
	return fmt.Sprintf("/file/%s/%d/%s/%s", f.kind, f.id, f.key, f.name)
}

func (s *Server) address(f *file) string {
	base := s.base
	if base == "" {
		base = "http://vk.invalid"
	}
	return base + (&url.URL{Path: f.path()}).EscapedPath()
}

// serveFile answers the download of a file; the address is its own permission.
func (s *Server) serveFile(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	f := s.files[r.URL.Path]
	s.mu.Unlock()
	if f == nil {
		http.NotFound(w, r)
		return
	}
	http.ServeContent(w, r, f.name, time.Unix(f.date, 0), bytes.NewReader(f.data))
}

// Photo makes a photo of a customer's. Data that is no picture is taken for one.
func (s *Server) Photo(owner int64, data []byte) Attachment {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Attachment{Kind: "photo", file: s.photo(owner, data)}
}

func (s *Server) photo(owner int64, data []byte) *file {
	f := &file{owner: owner, kind: "photo", name: "photo.jpg", data: data, width: 1280, height: 960}
	if c, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil {
		f.width, f.height = c.Width, c.Height
	}
	f.thumb = s.hold(&file{owner: owner, kind: "thumb", name: "photo.jpg", data: []byte("a small copy")})
	return s.hold(f)
}

// Doc makes a document of a customer's.
func (s *Server) Doc(owner int64, name string, data []byte) Attachment {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Attachment{Kind: "doc", file: s.hold(&file{owner: owner, kind: "doc", name: name, data: data})}
}

// Voice makes a voice message of a customer's; transcript may be empty.
func (s *Server) Voice(owner int64, data []byte, transcript string) Attachment {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &file{owner: owner, kind: "audio_message", name: "voice.ogg", data: data, transcript: transcript}
	return Attachment{Kind: f.kind, file: s.hold(f)}
}

// Sticker makes a sticker with this picture.
func (s *Server) Sticker(data []byte) Attachment {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Attachment{Kind: "sticker", file: s.hold(&file{kind: "sticker", name: "sticker.png", data: data})}
}

// Graffiti makes a drawing.
func (s *Server) Graffiti(owner int64, data []byte) Attachment {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Attachment{Kind: "graffiti", file: s.hold(&file{owner: owner, kind: "graffiti", name: "graffiti.png", data: data, width: 300, height: 200})}
}

// Object makes an attachment that has no file from the fields of VK's object, of
// kind "video", "audio", "link", "wall", "market", "poll", "story"...
func Object(kind string, fields map[string]any) Attachment {
	return Attachment{Kind: kind, object: fields}
}

// attachments is the wire form of a message's media; callers hold s.mu.
func (s *Server) attachments(media []Attachment) []map[string]any {
	list := make([]map[string]any, 0, len(media))
	for _, a := range media {
		object := a.object
		if a.file != nil {
			object = s.object(a.file)
		}
		list = append(list, map[string]any{"type": a.Kind, a.Kind: object})
	}
	return list
}

// object is a file as VK describes it.
func (s *Server) object(f *file) map[string]any {
	o := map[string]any{"id": f.id, "owner_id": f.owner, "access_key": f.key, "date": f.date}
	switch f.kind {
	case "photo":
		o["album_id"], o["has_tags"], o["text"] = -3, false, ""
		o["sizes"] = s.sizes(f) // in no particular order, as the original
	case "doc":
		ext := strings.TrimPrefix(path.Ext(f.name), ".")
		o["title"], o["ext"], o["size"], o["url"] = f.name, ext, len(f.data), s.address(f)
		o["type"] = docType(ext)
	case "audio_message":
		o["duration"], o["waveform"] = 3, []int{0, 9, 31, 12}
		o["link_ogg"], o["link_mp3"] = s.address(f), s.address(f)
		if f.transcript != "" {
			o["transcript"], o["transcript_state"] = f.transcript, "done"
		}
	case "sticker":
		image := map[string]any{"url": s.address(f), "width": 512, "height": 512}
		return map[string]any{"inner_type": "base_sticker_new", "sticker_id": f.id, "product_id": 1, "is_allowed": true,
			"images": []any{image}, "images_with_background": []any{image}}
	case "graffiti":
		o["url"], o["width"], o["height"] = s.address(f), f.width, f.height
	}
	return o
}

func (s *Server) sizes(f *file) []map[string]any {
	small := s.address(f.thumb)
	return []map[string]any{
		{"type": "s", "url": small, "width": 75, "height": 56},
		{"type": "z", "url": s.address(f), "width": f.width, "height": f.height},
		{"type": "m", "url": small, "width": min(130, f.width-1), "height": min(97, f.height-1)},
	}
}

// docType is VK's number for what a document is.
func docType(ext string) int {
	switch strings.ToLower(ext) {
	case "txt", "doc", "docx", "pdf", "csv", "rtf", "md", "xls", "xlsx", "html":
		return 1
	case "zip", "rar", "7z", "gz", "tar":
		return 2
	case "gif":
		return 3
	case "jpg", "jpeg", "png", "webp", "heic":
		return 4
	case "mp3", "ogg", "wav", "flac", "m4a":
		return 5
	case "mp4", "mov", "avi", "mkv", "webm":
		return 6
	case "epub", "fb2":
		return 7
	}
	return 8
}
