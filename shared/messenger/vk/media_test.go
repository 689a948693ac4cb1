package vk_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/messenger"
	"supportbot/shared/sandbox/fault"
	sandbox "supportbot/shared/sandbox/vk"
)

func TestReceive_Media(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	events := collect(h)
	c := h.customer()
	me, s := c.Peer(), h.fake
	for name, tt := range map[string]struct {
		sent        sandbox.Attachment
		file        messenger.Attachment // without Ref
		data        string
		note        string
		unsupported string
	}{
		"photo, the largest size": {sent: s.Photo(me, []byte("big")), file: messenger.Attachment{Kind: messenger.Photo, MIME: "image/jpeg"}, data: "big"},
		"document":                {sent: s.Doc(me, "Отчёт 1.xyz", []byte("abc")), file: messenger.Attachment{Kind: messenger.Document, Name: "Отчёт 1.xyz", Size: 3}, data: "abc"},
		"page as a document":      {sent: s.Doc(me, "page.html", []byte("<html>")), file: messenger.Attachment{Kind: messenger.Document, Name: "page.html", MIME: "text/html; charset=utf-8", Size: 6}, data: "<html>"},
		"animation":               {sent: s.Doc(me, "cat.gif", []byte("GIF89a")), file: messenger.Attachment{Kind: messenger.Animation, Name: "cat.gif", MIME: "image/gif", Size: 6}, data: "GIF89a"},
		"voice":                   {sent: s.Voice(me, []byte("OggS"), "hello there"), file: messenger.Attachment{Kind: messenger.Voice, MIME: "audio/ogg"}, data: "OggS", note: "transcript: hello there"},
		"sticker":                 {sent: s.Sticker([]byte("png")), file: messenger.Attachment{Kind: messenger.Sticker, MIME: "image/png"}, data: "png"},
		"graffiti":                {sent: s.Graffiti(me, []byte("png")), file: messenger.Attachment{Kind: messenger.Photo, MIME: "image/png"}, data: "png"},
		"video":                   {sent: sandbox.Object("video", map[string]any{"id": 5, "owner_id": -3, "title": "How it broke"}), note: "video: How it broke https://vk.com/video-3_5"},
		"audio":                   {sent: sandbox.Object("audio", map[string]any{"id": 5, "owner_id": 3, "artist": "A", "title": "B", "url": ""}), note: "audio: A - B"},
		"link":                    {sent: sandbox.Object("link", map[string]any{"url": "https://a.b/c", "title": "Page"}), note: "link: Page https://a.b/c"},
		"post":                    {sent: sandbox.Object("wall", map[string]any{"id": 7, "from_id": -3, "text": "News"}), note: "post: News https://vk.com/wall-3_7"},
		"product":                 {sent: sandbox.Object("market", map[string]any{"id": 7, "owner_id": -3, "title": "Cup", "price": map[string]any{"text": "100 ₽"}}), note: "product: Cup 100 ₽ https://vk.com/market-3?w=product-3_7"},
		"poll":                    {sent: sandbox.Object("poll", map[string]any{"id": 1, "question": "Works?", "answers": []any{map[string]any{"text": "Yes"}, map[string]any{"text": "No"}}}), note: "poll: Works? / Yes / No"},
		"story":                   {sent: sandbox.Object("story", map[string]any{"id": 1, "owner_id": 1}), unsupported: "story"},
	} {
		c.Customer.Send(sandbox.Content{Text: name, Attachments: []sandbox.Attachment{tt.sent}})
		e := <-events
		if e.Text != name {
			t.Errorf("%s: got text %q", name, e.Text)
		}
		if diff := cmp.Diff([]string{tt.note, tt.unsupported}, []string{strings.Join(e.Notes, "|"), strings.Join(e.Unsupported, "|")}); diff != "" {
			t.Errorf("%s: notes and what is not supported (-want +got):\n%s", name, diff)
		}
		if tt.file.Kind == "" {
			if len(e.Attachments) != 0 {
				t.Errorf("%s: got %v, want no file", name, e.Attachments)
			}
			continue
		}
		if len(e.Attachments) != 1 {
			t.Errorf("%s: got %d files, want 1", name, len(e.Attachments))
			continue
		}
		got := e.Attachments[0]
		if data := content(h, got); data != tt.data {
			t.Errorf("%s: got data %q, want %q", name, data, tt.data)
		}
		if got.Name == "" {
			t.Errorf("%s: got no name", name)
		}
		got.Ref = ""
		if tt.file.Name == "" {
			got.Name = ""
		}
		if diff := cmp.Diff(tt.file, got); diff != "" {
			t.Errorf("%s: file (-want +got):\n%s", name, diff)
		}
	}
}

func TestReceive_QuotesAreFlattened(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	events := collect(h)
	c := h.customer()
	r, err := h.bot.Send(h.ctx, text(c.Chat(), "our words", "k"))
	if err != nil {
		t.Fatal(err)
	}
	photo := h.fake.Photo(5, []byte("inner photo"))
	c.Customer.Send(sandbox.Content{
		Text: "look", ReplyTo: number(r.MessageID),
		Forwarded: []sandbox.Forward{
			{From: 1<<40 + 1, Text: "outer", Forwarded: []sandbox.Forward{
				{From: 6, Text: "inner", Attachments: []sandbox.Attachment{photo}, Forwarded: []sandbox.Forward{{From: -9, Text: "innermost"}}},
			}},
			{From: 7, Attachments: []sandbox.Attachment{sandbox.Object("story", map[string]any{"id": 1})}},
		},
	})
	e := <-events
	var got []string
	for _, q := range e.Quotes {
		got = append(got, fmt.Sprintf("%s %s: %s (%d)", q.Kind, q.Author, q.Text, len(q.Attachments)))
	}
	want := []string{
		"reply : our words (0)", "forward vk.com/id1099511627777: outer (0)", "forward vk.com/id6: inner (1)",
		"forward vk.com/club9: innermost (0)", "forward vk.com/id7:  (0)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("quotes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"story"}, e.Unsupported); diff != "" {
		t.Errorf("not supported (-want +got):\n%s", diff)
	}
	if got := content(h, e.Quotes[2].Attachments[0]); got != "inner photo" {
		t.Errorf("got %q, want the inner photo", got)
	}
}

// file is a file to send that counts how often it is opened and closed.
func file(name, mime string, data []byte) *messenger.File {
	return &messenger.File{Name: name, MIME: mime, Size: int64(len(data)), Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}}
}

func picture(t *testing.T, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSend_Files(t *testing.T) {
	t.Parallel()
	small, wide := picture(t, 4, 3), picture(t, 300, 2)
	for name, tt := range map[string]struct {
		file  *messenger.File
		name  string
		photo bool
		data  []byte
	}{
		"picture":                  {file("a.png", "image/png", small), "photo.jpg", true, small},
		"picture by its name":      {file("a.JPG", "", small), "photo.jpg", true, small},
		"picture too wide":         {file("wide.png", "image/png", wide), "wide.png", false, wide},
		"no picture at all":        {file("broken.jpg", "image/jpeg", []byte("text")), "broken.jpg", false, []byte("text")},
		"animation":                {file("a.gif", "image/gif", []byte("GIF89a")), "a.gif", false, []byte("GIF89a")},
		"Cyrillic and quotes":      {file(`Отчёт "за год".pdf`, "application/pdf", []byte("pdf")), `Отчёт "за год".pdf`, false, []byte("pdf")},
		"no extension":             {file("README", "", []byte("x")), "README.bin", false, []byte("x")},
		"a path":                   {file(`C:\docs\a.txt`, "", []byte("x")), "a.txt", false, []byte("x")},
		"music goes in an archive": {file("song.MP3", "audio/mpeg", []byte("music")), "song.MP3.zip", false, []byte("music")},
		"nothing in it":            {file("a.txt", "", nil), "a.txt.zip", false, nil},
		"program too":              {file("setup.exe", "", []byte("MZ")), "setup.exe.zip", false, []byte("MZ")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t)
			c := h.customer()
			o := text(c.Chat(), "caption", "k")
			o.File = tt.file
			r, err := h.bot.Send(h.ctx, o)
			if err != nil {
				t.Fatal(err)
			}
			seen := c.Seen()
			if len(seen) != 1 || seen[0].File == nil || seen[0].Text != "caption" || seen[0].ID != r.MessageID {
				t.Fatalf("got %+v, want one message with a file and the caption", seen)
			}
			got := seen[0].File
			if strings.HasSuffix(got.Name, ".zip") {
				got.Data = unzip(t, got.Data, tt.file.Name)
			}
			if got.Name != tt.name || got.Photo != tt.photo || !bytes.Equal(got.Data, tt.data) {
				t.Errorf("got %q, photo %v, %d bytes, want %q, %v, %d", got.Name, got.Photo, len(got.Data), tt.name, tt.photo, len(tt.data))
			}
		})
	}
}

func unzip(t *testing.T, data []byte, name string) []byte {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	f, err := archive.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	inside, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return inside
}

// Nobody sees an upload: whatever happens to it, the send may be tried again.
func TestSend_FailingUploadIsNeverUncertain(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"upload", "docs.getMessagesUploadServer", "docs.save"} {
		for _, kind := range []fault.Kind{fault.CloseAfter, fault.HTMLAfter, fault.HangBefore} {
			t.Run(method+" "+string(kind), func(t *testing.T) {
				t.Parallel()
				h := newHarness(t)
				c := h.customer()
				h.faults.Add(fault.Fault{Method: method, Kind: kind, Times: 1})
				ctx, cancel := context.WithTimeout(h.ctx, 300*time.Millisecond)
				defer cancel()
				o := text(c.Chat(), "", "k")
				o.File = file("a.txt", "text/plain", []byte("abc"))
				_, err := h.bot.Send(ctx, o)
				kindAndCode(t, err, messenger.Temporary, 0)
				if len(c.Seen()) != 0 {
					t.Errorf("the customer sees %+v, want nothing", c.Seen())
				}
			})
		}
	}
}

func TestSend_FilesThatCannotBeSent(t *testing.T) {
	t.Parallel()
	broken := func(err error) *messenger.File {
		return &messenger.File{Name: "a.txt", Size: 3, Open: func(context.Context) (io.ReadCloser, error) { return nil, err }}
	}
	short := file("a.txt", "text/plain", []byte("abc"))
	short.Size = 10
	for name, tt := range map[string]struct {
		file *messenger.File
		kind messenger.ErrorKind
	}{
		"too large":             {&messenger.File{Name: "a.txt", Size: 201 << 20}, messenger.Invalid},
		"source is away":        {broken(errors.New("connection refused")), messenger.Temporary},
		"gone at the source":    {broken(&messenger.Error{Kind: messenger.Invalid, Err: errors.New("gone")}), messenger.Invalid},
		"ends before it should": {short, messenger.Temporary},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t)
			o := text(h.customer().Chat(), "", "k")
			o.File = tt.file
			_, err := h.bot.Send(h.ctx, o)
			kindAndCode(t, err, tt.kind, 0)
		})
	}
}

func TestOpen_Errors(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	a := func(path string, size int64) messenger.Attachment {
		return messenger.Attachment{Kind: messenger.Document, Ref: h.url + path, Name: "a.bin", Size: size}
	}
	open := func(a messenger.Attachment) error {
		_, err := h.bot.Open(h.ctx, a)
		return err
	}
	kindAndCode(t, open(a("/file/doc/1/gone/a.bin", 5)), messenger.Invalid, 404)
	kindAndCode(t, open(a("/file/doc/1/x/a.bin", 201<<20)), messenger.Invalid, 0)
	kindAndCode(t, open(messenger.Attachment{Ref: "file:///etc/passwd", Name: "a"}), messenger.Invalid, 0)
	h.faults.Add(fault.Fault{Method: "file", Kind: fault.Status, Status: 503, Times: 1})
	kindAndCode(t, open(a("/file/doc/1/x/a.bin", 5)), messenger.Temporary, 503)
	h.faults.Add(fault.Fault{Method: "file", Kind: fault.CloseBefore, Times: 2}) // the client tries a GET again by itself
	err := open(a("/file/doc/1/canary-key/a.bin", 5))
	kindAndCode(t, err, messenger.Temporary, 0)
	if strings.Contains(err.Error(), "canary") {
		t.Errorf("got %q, want no address in it", err)
	}
}

// For an address that has expired VK shows a page.
func TestOpen_PageInsteadOfTheFile(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	events := collect(h)
	c := h.customer()
	c.Customer.Send(sandbox.Content{Attachments: []sandbox.Attachment{h.fake.Doc(c.Peer(), "page.html", []byte("<html>expired"))}})
	a := (<-events).Attachments[0]
	a.Name = "report.pdf"
	_, err := h.bot.Open(h.ctx, a)
	kindAndCode(t, err, messenger.Invalid, 200)
}
