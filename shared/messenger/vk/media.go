package vk

import (
	"encoding/json"
	"fmt"
	"mime"
	"path"
	"strconv"
	"strings"

	"supportbot/shared/messenger"
)

// media is what attachments turned into.
type media struct {
	files       []messenger.Attachment
	notes       []string
	unsupported []string
}

// owned is what most objects of VK have.
type owned struct {
	ID        int64  `json:"id"`
	OwnerID   int64  `json:"owner_id"`
	FromID    int64  `json:"from_id"`
	AccessKey string `json:"access_key"`
	Title     string `json:"title"`
	Text      string `json:"text"`
	URL       string `json:"url"`
}

// page is the address of an object's page: "https://vk.com/wall-1_2".
func (o owned) page(kind string) string {
	return fmt.Sprintf("https://vk.com/%s%d_%d", kind, o.OwnerID, o.ID)
}

// sized is a picture in one of its sizes.
type sized struct {
	URL    string `json:"url"`
	Width  int64  `json:"width"`
	Height int64  `json:"height"`
}

func translate(attachments []json.RawMessage) media {
	var m media
	for _, raw := range attachments {
		kind, object, ok := unwrapped(raw)
		if !ok {
			m.unsupported = append(m.unsupported, "attachment")
			continue
		}
		if !m.add(kind, object) {
			m.unsupported = append(m.unsupported, kind)
		}
	}
	return m
}

// unwrapped gives what is in {"type":"photo","photo":{...}}.
func unwrapped(raw json.RawMessage) (kind string, object json.RawMessage, ok bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || json.Unmarshal(fields["type"], &kind) != nil {
		return "", nil, false
	}
	return kind, fields[kind], true
}

// add translates one attachment; false means that it cannot be carried.
func (m *media) add(kind string, object json.RawMessage) bool {
	var o owned
	if !isObject(object) || lenient(object, &o) != nil {
		return false
	}
	switch kind {
	case "photo":
		return m.photo(o, object)
	case "doc":
		return m.doc(o, object)
	case "audio_message":
		return m.voice(o, object)
	case "audio":
		return m.audio(o, object)
	case "video":
		return m.video(o, object)
	case "sticker":
		return m.sticker(object)
	case "graffiti":
		return m.file(messenger.Photo, o.URL, fmt.Sprintf("graffiti%d.png", o.ID), "image/png", 0)
	}
	note := describe(kind, o, object)
	if note == "" {
		return false
	}
	m.notes = append(m.notes, note)
	return true
}

func (m *media) file(kind messenger.AttachmentKind, url, name, mimeType string, size int64) bool {
	if url == "" {
		return false
	}
	m.files = append(m.files, messenger.Attachment{Kind: kind, Ref: url, Name: name, MIME: mimeType, Size: size})
	return true
}

// photo takes the largest size; VK gives them in no particular order.
func (m *media) photo(o owned, object json.RawMessage) bool {
	var p struct {
		Sizes    []sized `json:"sizes"`
		Original sized   `json:"orig_photo"`
	}
	_ = json.Unmarshal(object, &p) // without sizes there is nothing to take
	best := largest(append(p.Sizes, p.Original))
	return m.file(messenger.Photo, best.URL, fmt.Sprintf("photo%d.jpg", o.ID), "image/jpeg", 0)
}

func largest(sizes []sized) sized {
	var best sized
	for _, s := range sizes {
		if s.URL != "" && (best.URL == "" || s.Width*s.Height > best.Width*best.Height) {
			best = s
		}
	}
	return best
}

// Types of documents (dev.vk.com/reference/objects/doc).
const (
	docGIF   = 3
	docAudio = 5
	docVideo = 6
)

func (m *media) doc(o owned, object json.RawMessage) bool {
	var d struct {
		Ext  string `json:"ext"`
		Size int64  `json:"size"`
		Type int    `json:"type"`
	}
	_ = json.Unmarshal(object, &d) // the name and the address were read already
	kind := messenger.Document
	switch d.Type {
	case docGIF:
		kind = messenger.Animation
	case docAudio:
		kind = messenger.Audio
	case docVideo:
		kind = messenger.Video
	}
	name := o.Title
	if name == "" {
		name = fmt.Sprintf("document%d", o.ID)
	}
	if d.Ext != "" && !strings.EqualFold(path.Ext(name), "."+d.Ext) {
		name += "." + d.Ext // titles may be free words
	}
	return m.file(kind, o.URL, name, mime.TypeByExtension("."+strings.ToLower(d.Ext)), d.Size)
}

func (m *media) voice(o owned, object json.RawMessage) bool {
	var v struct {
		OGG        string `json:"link_ogg"`
		MP3        string `json:"link_mp3"`
		Transcript string `json:"transcript"`
	}
	_ = json.Unmarshal(object, &v) // without links there is no file
	if v.Transcript != "" {
		m.notes = append(m.notes, "transcript: "+v.Transcript)
	}
	return m.file(messenger.Voice, v.OGG, fmt.Sprintf("voice%d.ogg", o.ID), "audio/ogg", 0) ||
		m.file(messenger.Voice, v.MP3, fmt.Sprintf("voice%d.mp3", o.ID), "audio/mpeg", 0)
}

// audio is a track of VK's music, which comes with an address only for some tokens.
func (m *media) audio(o owned, object json.RawMessage) bool {
	var a struct {
		Artist string `json:"artist"`
	}
	_ = json.Unmarshal(object, &a) // the artist may be missing
	name := joined(" - ", a.Artist, o.Title)
	if name == "" {
		name = fmt.Sprintf("audio%d", o.ID)
	}
	if !m.file(messenger.Audio, o.URL, name+".mp3", "audio/mpeg", 0) {
		m.notes = append(m.notes, "audio: "+name)
	}
	return true
}

// video has files only for some tokens; else its page on VK is told.
func (m *media) video(o owned, object json.RawMessage) bool {
	var v struct {
		Files map[string]json.RawMessage `json:"files"`
	}
	_ = json.Unmarshal(object, &v) // mostly there are none
	best, url := 0, ""
	for quality, raw := range v.Files { // "mp4_720"
		height, err := strconv.Atoi(strings.TrimPrefix(quality, "mp4_"))
		if err != nil || height <= best {
			continue
		}
		if json.Unmarshal(raw, &url) == nil {
			best = height
		}
	}
	if m.file(messenger.Video, url, fmt.Sprintf("video%d.mp4", o.ID), "video/mp4", 0) {
		return true
	}
	m.notes = append(m.notes, joined(" ", "video:", o.Title, o.page("video")))
	return true
}

func (m *media) sticker(object json.RawMessage) bool {
	var s struct {
		ID     int64   `json:"sticker_id"`
		Images []sized `json:"images"`
	}
	_ = json.Unmarshal(object, &s) // without images there is no file
	return m.file(messenger.Sticker, largest(s.Images).URL, fmt.Sprintf("sticker%d.png", s.ID), "image/png", 0)
}

// joined joins what is not empty.
func joined(separator string, parts ...string) string {
	var kept []string
	for _, part := range parts {
		if part != "" {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, separator)
}
