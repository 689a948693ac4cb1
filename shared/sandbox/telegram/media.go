package telegram

import (
	"bytes"
	"image"
	"path"
	"strconv"
	"strings"
)

// sendFile is every method that sends one file.
func (s *Server) sendFile(c *call, kind string) (any, *refusal) {
	m := &message{}
	if kind != sticker && kind != videoNote {
		var r *refusal
		if m.text, m.entities, r = s.caption(c); r != nil {
			return nil, r
		}
	}
	ch, r := s.chat(c)
	if r != nil {
		return nil, r
	}
	up, r := s.picked(c, kind, kind, c.text(kind))
	if r != nil {
		return nil, r
	}
	m.media = up
	return s.send(c, ch, m)
}

// picked gives the file that a call sends: an upload in its own field, one that
// value names, or a file that the bot has the id of. Files on the web are not
// fetched.
func (s *Server) picked(c *call, kind, field, value string) (*file, *refusal) {
	up := c.files[field]
	if name, ok := strings.CutPrefix(value, "attach://"); ok {
		up = c.files[name]
	}
	if up != nil {
		return s.uploaded(kind, up)
	}
	what := strings.ReplaceAll(kind, "_", " ")
	switch f := s.files[value]; {
	case value == "" || strings.HasPrefix(value, "attach://"):
		return nil, badf("there is no %s in the request", what)
	case f == nil:
		return nil, bad("wrong file identifier/HTTP URL specified")
	case f.kind != kind:
		return nil, badf("can't use file of type %s as %s", title(f.kind), title(kind))
	default:
		return f, nil
	}
}

// title is a kind of file as errors call it.
func title(kind string) string {
	words := strings.ReplaceAll(kind, "_", "")
	return strings.ToUpper(words[:1]) + words[1:]
}

// uploaded checks an upload and keeps it.
func (s *Server) uploaded(kind string, up *upload) (*file, *refusal) {
	if len(up.data) == 0 {
		return nil, bad("file must be non-empty")
	}
	if kind == photo {
		if r := checkPhoto(up.data); r != nil {
			return nil, r
		}
	}
	return s.keep(&file{kind: kind, name: cleanName(up.name), data: up.data}), nil
}

func checkPhoto(data []byte) *refusal {
	if len(data) > maxPhoto {
		return badf("file of size %d bytes is too big for a photo; the maximum size is %d bytes", len(data), maxPhoto)
	}
	if webp := len(data) > 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP"; webp {
		return nil
	}
	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	switch {
	case err != nil:
		return bad("IMAGE_PROCESS_FAILED")
	case c.Width+c.Height > maxSides || c.Width > maxRatio*c.Height || c.Height > maxRatio*c.Width:
		return bad("PHOTO_INVALID_DIMENSIONS")
	}
	return nil
}

// cleanName is a file's name as Telegram keeps it: no folders, no control
// characters.
func cleanName(name string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	name = strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`<>:"|?*`, r) {
			return ' '
		}
		return r
	}, name)
	return strings.TrimSpace(name)
}

// item is one part of an album that the bot sends.
type item struct {
	Type     string   `json:"type"`
	Media    string   `json:"media"`
	Caption  string   `json:"caption"`
	Mode     string   `json:"parse_mode"`
	Entities []Entity `json:"caption_entities"`
}

// sendMediaGroup sends an album: 2-10 photos and videos, or documents, or audio
// files. A single one is sent as an ordinary message.
func (s *Server) sendMediaGroup(c *call) (any, *refusal) {
	var items []item
	switch there, err := c.object("media", &items); {
	case err != nil:
		return nil, bad("can't parse media JSON object")
	case !there || len(items) == 0:
		return nil, bad("there are no messages to send")
	case len(items) > 10:
		return nil, bad("too many messages to send as an album")
	}
	ch, r := s.chat(c)
	if r != nil {
		return nil, r
	}
	album := ""
	if len(items) > 1 {
		album = s.newAlbum()
	}
	messages := make([]*message, 0, len(items))
	for _, it := range items {
		m, r := s.part(c, it, items[0].Type)
		if r != nil {
			return nil, r
		}
		m.chat, m.album = ch, album
		if r := s.replyTo(c, m); r != nil {
			return nil, r
		}
		messages = append(messages, m)
	}
	if r := ch.writable(); r != nil {
		return nil, r
	}
	if r := s.admit(ch, len(messages)); r != nil {
		return nil, r
	}
	sent := make([]any, 0, len(messages))
	for _, m := range messages {
		sent = append(sent, s.wire(s.store(m)))
	}
	c.effect = true
	return sent, nil
}

func (s *Server) part(c *call, it item, first string) (*message, *refusal) {
	switch it.Type {
	case photo, video:
		if first != photo && first != video {
			return nil, bad(title(first) + " can't be mixed with other media types")
		}
	case document, audio:
		if it.Type != first {
			return nil, bad(title(it.Type) + " can't be mixed with other media types")
		}
	default:
		return nil, badf(`can't parse InputMedia: type "%s" is unsupported`, it.Type)
	}
	own := &call{params: map[string]string{"caption": it.Caption, "parse_mode": it.Mode}}
	if len(it.Entities) > 0 {
		own.params["caption_entities"] = string(marshal(it.Entities))
	}
	text, entities, r := s.caption(own)
	if r != nil {
		return nil, r
	}
	f, r := s.picked(c, it.Type, "", it.Media)
	if r != nil {
		return nil, r
	}
	return &message{text: text, entities: entities, media: f}, nil
}

// newAlbum gives an id for the parts of an album; callers hold s.mu.
func (s *Server) newAlbum() string {
	return strconv.FormatInt(13_500_000_000_000_000+s.nextID(), 10)
}

// NewAlbum gives an id for the parts of an album that a customer sends: see
// Content.Album.
func (s *Server) NewAlbum() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.newAlbum()
}
