package messengertest

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/jpeg"
	"io"
	"strings"
	"sync/atomic"
	"testing/iotest"

	"supportbot/shared/messenger"
)

func fileScenarios() []scenario {
	return []scenario{
		{name: "a document", run: sendsDocument},
		{name: "a photo", run: sendsPhoto},
		{name: "a photo that is none", run: sendsFalsePhoto},
		{name: "with buttons", run: sendsFileWithButtons},
		{name: "a caption that is too long", needs: nil, run: sendsLongCaption},
		{name: "too large", run: sendsTooLarge},
		{name: "that cannot be opened", run: sendsUnopenable},
		{name: "that breaks off", run: sendsBroken},
		{name: "too large to be read", run: opensTooLarge},
		{name: "that is gone", run: opensGone},
	}
}

// file gives a file to send and counts how often it is open.
func file(name, mime string, data []byte) (*messenger.File, *atomic.Int32) {
	var open atomic.Int32
	return &messenger.File{
		Name: name, MIME: mime, Size: int64(len(data)),
		Open: func(context.Context) (io.ReadCloser, error) {
			open.Add(1)
			return &counted{Reader: bytes.NewReader(data), open: &open}, nil
		},
	}, &open
}

// counted is an open file; closing it twice counts once.
type counted struct {
	io.Reader
	open   *atomic.Int32
	closed atomic.Bool
}

// Close implements io.Closer.
func (c *counted) Close() error {
	if c.closed.CompareAndSwap(false, true) {
		c.open.Add(-1)
	}
	return nil
}

func (b *bench) sendFile(c Customer, f *messenger.File, caption string) Seen {
	b.t.Helper()
	seen := b.send(c, messenger.Outgoing{Chat: c.Chat(), Part: messenger.Part{Text: caption}, File: f, Key: "canary:" + f.Name})
	if seen.File == nil {
		b.t.Fatalf("got %+v, want a file", seen)
	}
	return seen
}

func sendsDocument(b *bench) {
	c := b.Customer()
	data := []byte(strings.Repeat("canary\x00<&>\r\n", 10_000))
	f, open := file("Отчёт canary.pdf", "application/pdf", data)
	got := b.sendFile(c, f, nasty)
	if got.File.Name != f.Name || got.File.Photo || !bytes.Equal(got.File.Data, data) || got.Text != nasty {
		b.t.Errorf("got %q with %d bytes and %q, want %q, %d bytes and the caption", got.File.Name, len(got.File.Data), got.Text, f.Name, len(data))
	}
	if n := open.Load(); n != 0 {
		b.t.Errorf("%d files are still open", n)
	}
}

// picture gives a JPEG.
func (b *bench) picture() []byte {
	b.t.Helper()
	var out bytes.Buffer
	b.must(jpeg.Encode(&out, image.NewGray(image.Rect(0, 0, 64, 48)), nil))
	return out.Bytes()
}

func sendsPhoto(b *bench) {
	c := b.Customer()
	f, _ := file("canary.jpg", "image/jpeg", b.picture())
	if got := b.sendFile(c, f, ""); !got.File.Photo || !bytes.Equal(got.File.Data, b.picture()) || got.Text != "" {
		b.t.Errorf("got %+v, want a photo without words", got)
	}
}

// sendsFalsePhoto: what the messenger does not take for a photo still arrives.
func sendsFalsePhoto(b *bench) {
	c := b.Customer()
	data := []byte("canary: this is no picture")
	f, open := file("canary.png", "image/png", data)
	if got := b.sendFile(c, f, "canary"); got.File.Photo || !bytes.Equal(got.File.Data, data) {
		b.t.Errorf("got %+v, want a document", got.File)
	}
	if n := open.Load(); n != 0 {
		b.t.Errorf("%d files are still open", n)
	}
	b.sees(c, 1)
}

func sendsFileWithButtons(b *bench) {
	c := b.Customer()
	f, _ := file("canary.txt", "text/plain", []byte("canary"))
	got := b.send(c, messenger.Outgoing{Chat: c.Chat(), File: f, Key: "k", Keyboard: messenger.Keyboard{{{Label: "x", Data: "y"}}}})
	if got.File == nil || len(got.Keyboard) != 1 {
		b.t.Errorf("got %+v, want a file with a button", got)
	}
}

func sendsLongCaption(b *bench) {
	c := b.Customer()
	most := b.bot.Limits().Caption
	if most == 0 {
		b.t.Skip("does not apply: captions are as long as texts")
	}
	f, open := file("canary.txt", "text/plain", []byte("canary"))
	b.sendFile(c, f, strings.Repeat("ы", most))
	_, err := b.bot.Send(b.ctx, messenger.Outgoing{Chat: c.Chat(), Part: messenger.Part{Text: strings.Repeat("ы", most+1)}, File: f, Key: "k"})
	b.refused(err, messenger.Invalid)
	b.sees(c, 1)
	if n := open.Load(); n != 0 {
		b.t.Errorf("%d files are still open", n)
	}
}

func sendsTooLarge(b *bench) {
	c := b.Customer()
	f := &messenger.File{Name: "canary.bin", Size: b.bot.Limits().Upload + 1, Open: func(context.Context) (io.ReadCloser, error) {
		b.t.Error("a file that is too large was opened")
		return nil, io.EOF
	}}
	_, err := b.bot.Send(b.ctx, messenger.Outgoing{Chat: c.Chat(), File: f, Key: "k"})
	b.refused(err, messenger.Invalid)
	b.sees(c, 0)
}

// sendsUnopenable: the source's own verdict counts, else it may mend itself.
func sendsUnopenable(b *bench) {
	c := b.Customer()
	for kind, problem := range map[messenger.ErrorKind]error{
		messenger.Temporary: errors.New("source is away"),
		messenger.Invalid:   &messenger.Error{Kind: messenger.Invalid, Err: errors.New("source is gone")},
	} {
		f := &messenger.File{Name: "canary.bin", Size: 10, Open: func(context.Context) (io.ReadCloser, error) { return nil, problem }}
		_, err := b.bot.Send(b.ctx, messenger.Outgoing{Chat: c.Chat(), File: f, Key: "k"})
		if b.refused(err, kind); !errors.Is(err, problem) {
			b.t.Errorf("got %v, want it to tell of %v", err, problem)
		}
	}
	b.sees(c, 0)
}

// sendsBroken: of a file that cannot be read to its end nothing is sent.
func sendsBroken(b *bench) {
	c := b.Customer()
	for _, name := range []string{"canary.bin", "canary.jpg"} {
		whole := strings.Repeat("canary", 50_000)
		for _, source := range []io.Reader{
			io.MultiReader(strings.NewReader(whole[:100_000]), iotest.ErrReader(errors.New("source broke off"))),
			strings.NewReader(whole[:100_000]), // ends too early
		} {
			f := &messenger.File{Name: name, Size: int64(len(whole)), Open: func(context.Context) (io.ReadCloser, error) {
				return io.NopCloser(source), nil
			}}
			_, err := b.bot.Send(b.ctx, messenger.Outgoing{Chat: c.Chat(), File: f, Key: "k"})
			b.refused(err, messenger.Temporary)
		}
	}
	b.sees(c, 0)
}

func opensTooLarge(b *bench) {
	most := b.bot.Limits().Download
	if most == 0 {
		b.t.Skip("does not apply: the messenger has no limit")
	}
	_, err := b.bot.Open(b.ctx, messenger.Attachment{Kind: messenger.Document, Ref: "canary", Name: "canary.bin", Size: most + 1})
	b.refused(err, messenger.Invalid)
}

func opensGone(b *bench) {
	for _, ref := range []string{"", "canary", "https://127.0.0.1:1/canary"} {
		_, err := b.bot.Open(b.ctx, messenger.Attachment{Kind: messenger.Document, Ref: ref, Name: "canary.bin"})
		b.refused(err, messenger.Invalid, messenger.Temporary)
	}
}
