package telegram

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"supportbot/shared/messenger"
)

// files gives the files; those without a name get one of their kind and the
// message's number. Telegram loses names and types on the way through getFile,
// so that what the message says of them is all there is.
func (m media) files(number int) []messenger.Attachment {
	var files []messenger.Attachment
	add := func(kind messenger.AttachmentKind, ref string, size int64, mime, name, ext string) {
		if ref == "" {
			return
		}
		if name = baseName(name); name == "" {
			name = fmt.Sprintf("%s_%d%s", kind, number, ext)
		}
		files = append(files, messenger.Attachment{Kind: kind, Ref: ref, Name: name, MIME: mime, Size: size})
	}
	if p, ok := largest(m.Photo); ok {
		add(messenger.Photo, p.FileID, int64(p.FileSize), "image/jpeg", "", ".jpg")
	}
	if v := m.Voice; v != nil {
		add(messenger.Voice, v.FileID, int64(v.FileSize), cmp.Or(v.MimeType, "audio/ogg"), "", ".ogg")
	}
	if a := m.Audio; a != nil {
		add(messenger.Audio, a.FileID, int64(a.FileSize), a.MimeType, cmp.Or(a.FileName, trackName(a)), ".mp3")
	}
	if v := m.Video; v != nil {
		ref, size := v.smallEnough()
		add(messenger.Video, ref, size, v.MimeType, v.FileName, ".mp4")
	}
	if v := m.VideoNote; v != nil {
		add(messenger.VideoNote, v.FileID, int64(v.FileSize), "video/mp4", "", ".mp4")
	}
	switch a, d := m.Animation, m.Document; {
	case a != nil: // Telegram repeats it as a document
		add(messenger.Animation, a.FileID, int64(a.FileSize), cmp.Or(a.MimeType, "video/mp4"), a.FileName, ".mp4")
	case d != nil:
		add(messenger.Document, d.FileID, int64(d.FileSize), d.MimeType, d.FileName, "")
	}
	if s := m.Sticker; s != nil {
		mime, ext := s.format()
		add(messenger.Sticker, s.FileID, int64(s.FileSize), mime, "", ext)
	}
	if l := m.LivePhoto; l != nil {
		if p, ok := largest(l.Photo); ok && len(m.Photo) == 0 {
			add(messenger.Photo, p.FileID, int64(p.FileSize), "image/jpeg", "", ".jpg")
		}
		add(messenger.Video, l.FileID, l.FileSize, cmp.Or(l.MimeType, "video/mp4"), "", ".mp4")
	}
	return files
}

// largest gives the photo itself; the other sizes are previews.
func largest(sizes []tgbotapi.PhotoSize) (tgbotapi.PhotoSize, bool) {
	if len(sizes) == 0 {
		return tgbotapi.PhotoSize{}, false
	}
	return slices.MaxFunc(sizes, func(a, b tgbotapi.PhotoSize) int { return a.Width*a.Height - b.Width*b.Height }), true
}

// smallEnough gives the video, or if it is larger than bots may get, the best
// smaller version that is not.
func (v *video) smallEnough() (ref string, size int64) {
	ref, size = v.FileID, int64(v.FileSize)
	if size <= limits.Download {
		return ref, size
	}
	best := int64(0)
	for _, q := range v.Qualities {
		if q.FileID != "" && q.FileSize > best && q.FileSize <= limits.Download {
			ref, size, best = q.FileID, q.FileSize, q.FileSize
		}
	}
	return ref, size
}

func (s *sticker) format() (mime, ext string) {
	switch {
	case s.IsAnimated:
		return "application/x-tgsticker", ".tgs"
	case s.IsVideo:
		return "video/webm", ".webm"
	}
	return "image/webp", ".webp"
}

func trackName(a *tgbotapi.Audio) string {
	if name := joined(" - ", a.Performer, a.Title); name != "" {
		return strings.ReplaceAll(name, "/", "_") + ".mp3"
	}
	return ""
}

// baseName keeps what can be the name of a file anywhere.
func baseName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	if name == "." || name == "/" || name == ".." {
		return ""
	}
	return name
}

// joined puts what there is of parts together.
func joined(sep string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return strings.TrimSpace(s) == "" }), sep)
}
