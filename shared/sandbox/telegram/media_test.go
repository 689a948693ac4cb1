package telegram_test

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"supportbot/shared/sandbox/telegram"
)

func picture(t *testing.T, width, height int) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := png.Encode(&buf, image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.Black, color.White})); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// download gives the bytes behind a file_id, through getFile.
func (b *bundle) download(fileID string) (status int, path string, data []byte) {
	b.t.Helper()
	var f struct {
		Path string `json:"file_path"`
		Size int64  `json:"file_size"`
	}
	b.result("getFile", fields{"file_id": fileID}, &f)
	resp, err := http.Get(b.url + "/file/bot" + token + "/" + f.Path)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err = io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode == http.StatusOK && int64(len(data)) != f.Size {
		b.t.Errorf("got %d bytes and %v, want %d", len(data), err, f.Size)
	}
	return resp.StatusCode, f.Path, data
}

func TestMedia_EveryKind(t *testing.T) {
	t.Parallel()
	for kind, method := range map[string]string{
		"photo": "sendPhoto", "document": "sendDocument", "video": "sendVideo", "audio": "sendAudio", "voice": "sendVoice",
		"animation": "sendAnimation", "sticker": "sendSticker", "video_note": "sendVideoNote",
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			c := b.started()
			data := picture(t, 640, 480)
			params := map[string]string{"chat_id": id(c)}
			if kind != "sticker" && kind != "video_note" {
				params["caption"], params["parse_mode"] = "<b>cap</b>", "HTML"
			}
			b.decode(method, b.upload(method, kind, "отчёт?.bin", data, params), &sent{})
			// By file_id, and from elsewhere in the form.
			first := b.Chat(c.Chat())[0]
			b.result(method, fields{"chat_id": c.Chat(), kind: first.File.ID}, &sent{})
			params[kind] = "attach://elsewhere"
			b.decode(method, b.upload(method, "elsewhere", "x.bin", data, params), &sent{})
			list := b.Chat(c.Chat())
			if len(list) != 3 {
				t.Fatalf("got %d messages, want 3", len(list))
			}
			for i, m := range list {
				if m.File == nil || m.File.Kind != kind || !bytes.Equal(m.File.Data, data) {
					t.Errorf("message %d: got %+v", i, m.File)
				}
			}
			if params["caption"] != "" && first.HTML != "<b>cap</b>" {
				t.Errorf("got caption %q", first.HTML)
			}
			if _, _, got := b.download(first.File.ID); !bytes.Equal(got, data) {
				t.Error("the download differs")
			}
			if kind == "document" && first.File.Name != "отчёт .bin" {
				t.Errorf("got name %q", first.File.Name)
			}
		})
	}
}

func TestMedia_Refused(t *testing.T) {
	t.Parallel()
	wide := picture(t, 9000, 1001)
	for name, tt := range map[string]struct {
		method, field string
		data          []byte
		most          int64 // of the server; 0: the original's
		code          int
		want          string
	}{
		"photo too big":    {"sendPhoto", "photo", append(picture(t, 10, 10), make([]byte, 10<<20)...)[:10<<20+1], 0, 400, "Bad Request: file of size 10485761 bytes is too big for a photo; the maximum size is 10485760 bytes"},
		"photo too wide":   {"sendPhoto", "photo", wide, 0, 400, "Bad Request: PHOTO_INVALID_DIMENSIONS"},
		"photo too narrow": {"sendPhoto", "photo", picture(t, 1, 21), 0, 400, "Bad Request: PHOTO_INVALID_DIMENSIONS"},
		"photo is none":    {"sendPhoto", "photo", []byte("%PDF-1.7"), 0, 400, "Bad Request: IMAGE_PROCESS_FAILED"},
		"empty":            {"sendDocument", "document", nil, 0, 400, "Bad Request: file must be non-empty"},
		"upload too large": {"sendDocument", "document", make([]byte, 1<<20+1), 1 << 20, 413, "Request Entity Too Large"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, func(c *telegram.Config) { c.MaxUpload = tt.most })
			c := b.started()
			a := b.upload(tt.method, tt.field, "x.bin", tt.data, map[string]string{"chat_id": id(c)})
			if a.Code != tt.code || a.Description != tt.want {
				t.Errorf("got %d %q, want %d %q", a.Code, a.Description, tt.code, tt.want)
			}
			if got := b.Chat(c.Chat()); len(got) != 0 {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestMedia_LargestUpload(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *telegram.Config) { c.MaxUpload = 1 << 20 })
	c := b.started()
	var m sent
	b.decode("sendDocument", b.upload("sendDocument", "document", "x.bin", make([]byte, 1<<20), map[string]string{"chat_id": id(c)}), &m)
	if m.Document == nil || m.Document.Size != 1<<20 {
		t.Errorf("got %+v", m.Document)
	}
}

func TestGetFile_Limits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.started()
	c.Send(telegram.Content{File: &telegram.File{Kind: "document", Name: "big.zip", Size: 20 << 20}})
	c.Send(telegram.Content{File: &telegram.File{Kind: "document", Name: "bigger.zip", Size: 20<<20 + 1}})
	c.Send(telegram.Content{File: &telegram.File{Kind: "photo", Data: picture(t, 800, 600)}})
	list := b.updates(nil)
	if _, _, data := b.download(list[0].Message.Document.ID); len(data) != 20<<20 {
		t.Errorf("got %d bytes", len(data))
	}
	if a := b.call("getFile", fields{"file_id": list[1].Message.Document.ID}); a.Description != "Bad Request: file is too big" {
		t.Errorf("got %+v", a)
	}
	sizes := list[2].Message.Photo
	if len(sizes) != 3 || sizes[2].Size <= sizes[0].Size {
		t.Errorf("got %+v", sizes)
	}
	status, path, _ := b.download(sizes[2].ID)
	if status != http.StatusOK || !strings.HasPrefix(path, "photos/") {
		t.Errorf("got %d for %s", status, path)
	}
	b.clock.move(time.Hour + time.Second)
	resp, err := http.Get(b.url + "/file/bot" + token + "/" + path)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("got %d for a link of an hour ago, want 404", resp.StatusCode)
	}
	if status, _, _ := b.download(sizes[2].ID); status != http.StatusOK {
		t.Errorf("got %d for a new link, want 200", status)
	}
	b.Lose(sizes[2].ID)
	if a := b.call("getFile", fields{"file_id": sizes[2].ID}); a.Description != "Bad Request: wrong file_id or the file is temporarily unavailable" {
		t.Errorf("got %+v", a)
	}
}

func TestMedia_WrongKindOfID(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.started()
	b.decode("sendDocument", b.upload("sendDocument", "document", "x", []byte("x"), map[string]string{"chat_id": id(c)}), &sent{})
	file := b.Chat(c.Chat())[0].File.ID
	if a := b.call("sendPhoto", fields{"chat_id": c.Chat(), "photo": file}); a.Description != "Bad Request: can't use file of type Document as Photo" {
		t.Errorf("got %+v", a)
	}
}

func TestSendMediaGroup(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.started()
	for range 2 {
		b.decode("sendPhoto", b.upload("sendPhoto", "photo", "x", picture(t, 100, 100), map[string]string{"chat_id": id(c)}), &sent{})
	}
	b.decode("sendDocument", b.upload("sendDocument", "document", "x", []byte("x"), map[string]string{"chat_id": id(c)}), &sent{})
	files := b.Chat(c.Chat())
	item := func(kind string, n int) fields {
		return fields{"type": kind, "media": files[n].File.ID, "caption": "<b>a</b>", "parse_mode": "HTML"}
	}
	var album []sent
	b.result("sendMediaGroup", fields{"chat_id": c.Chat(), "media": []fields{item("photo", 0), item("photo", 1)}}, &album)
	if len(album) != 2 || album[0].Album == "" || album[0].Album != album[1].Album || album[1].Caption != "a" {
		t.Errorf("got %+v", album)
	}
	var single []sent
	b.result("sendMediaGroup", fields{"chat_id": c.Chat(), "media": []fields{item("document", 2)}}, &single)
	if len(single) != 1 || single[0].Album != "" {
		t.Errorf("got %+v for an album of one", single)
	}
	for want, list := range map[string][]fields{
		"Bad Request: Document can't be mixed with other media types":          {item("photo", 0), item("document", 2)},
		"Bad Request: Audio can't be mixed with other media types":             {item("document", 2), item("audio", 0)},
		`Bad Request: can't parse InputMedia: type "animation" is unsupported`: {item("animation", 0), item("photo", 0)},
		"Bad Request: there is no photo in the request":                        {{"type": "photo", "media": "attach://x"}, item("photo", 0)},
		"Bad Request: message caption is too long":                             {item("photo", 0), {"type": "photo", "media": files[0].File.ID, "caption": strings.Repeat("x", 1025)}},
	} {
		if a := b.call("sendMediaGroup", fields{"chat_id": c.Chat(), "media": list}); a.Description != want {
			t.Errorf("got %q, want %q", a.Description, want)
		}
	}
	if got := len(b.Chat(c.Chat())); got != 6 {
		t.Errorf("got %d messages, want 6", got)
	}
}

func TestMedia_JPEG(t *testing.T) {
	t.Parallel()
	var buf bytes.Buffer
	if err := jpeg.Encode(&buf, image.NewGray(image.Rect(0, 0, 1000, 500)), nil); err != nil {
		t.Fatal(err)
	}
	b := setup(t)
	c := b.started()
	var m sent
	b.decode("sendPhoto", b.upload("sendPhoto", "photo", "x.jpg", buf.Bytes(), map[string]string{"chat_id": id(c)}), &m)
	if len(m.Photo) != 3 {
		t.Errorf("got %+v", m.Photo)
	}
	b.decode("sendPhoto", b.upload("sendPhoto", "photo", "x.webp", []byte("RIFF\x00\x00\x00\x00WEBPVP8 "), map[string]string{"chat_id": id(c)}), &m)
}
