package messengertest

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"supportbot/shared/messenger"
)

func contentScenarios() []scenario {
	scenarios := []scenario{
		{name: "formatting", needs: func(f Features) bool { return f.Formatting }, run: receivesFormatting},
		{name: "an album", run: receivesAlbum},
		{name: "a location", run: receivesLocation},
		{name: "a contact", run: receivesContact},
		{name: "a reply", run: receivesReply},
		{name: "a reply to the bot", run: receivesReplyToBot},
		{name: "a forward", run: receivesForward},
		{name: "something peculiar", run: receivesPeculiar},
	}
	for _, kind := range []messenger.AttachmentKind{
		messenger.Photo, messenger.Document, messenger.Voice, messenger.Audio,
		messenger.Video, messenger.VideoNote, messenger.Animation, messenger.Sticker,
	} {
		scenarios = append(scenarios, scenario{
			name:  string(kind),
			needs: func(f Features) bool { return slices.Contains(f.Kinds, kind) },
			run:   func(b *bench) { receivesFile(b, kind) },
		})
	}
	return scenarios
}

func receivesFormatting(b *bench) {
	in, c := b.connect(), b.Customer()
	c.WriteBold("canary is <b> *bold* and so on", "*bold*")
	e := in.next(messenger.EventMessage)
	if want := `canary is \<b\> **\*bold\*** and so on`; e.Markdown != want || e.Text != "canary is <b> *bold* and so on" {
		b.t.Errorf("got text %q, Markdown %q, want %q", e.Text, e.Markdown, want)
	}
}

// picked gives a file of a kind, whose name and content differ from others'.
func picked(kind messenger.AttachmentKind, n int) Picked {
	form := map[messenger.AttachmentKind][2]string{
		messenger.Photo: {".jpg", "image/jpeg"}, messenger.Document: {".pdf", "application/pdf"},
		messenger.Voice: {".ogg", "audio/ogg"}, messenger.Audio: {".mp3", "audio/mpeg"},
		messenger.Video: {".mp4", "video/mp4"}, messenger.VideoNote: {".mp4", "video/mp4"},
		messenger.Animation: {".gif", "image/gif"}, messenger.Sticker: {".webp", "image/webp"},
	}[kind]
	return Picked{
		Kind: kind, Name: fmt.Sprintf("Канарейка canary %d%s", n, form[0]), MIME: form[1],
		Data: []byte(fmt.Sprintf("canary content %d of a %s", n, kind)),
	}
}

// content reads an attachment to its end.
func (b *bench) content(a messenger.Attachment) string {
	b.t.Helper()
	r, err := b.bot.Open(b.ctx, a)
	b.must(err)
	defer func() { _ = r.Close() }()
	data, err := io.ReadAll(r)
	b.must(err)
	return string(data)
}

func receivesFile(b *bench, kind messenger.AttachmentKind) {
	in, c := b.connect(), b.Customer()
	f := picked(kind, 1)
	caption := "canary caption"
	if kind == messenger.Sticker || kind == messenger.VideoNote || kind == messenger.Voice {
		caption = ""
	}
	c.Send(f, caption)
	e := in.next(messenger.EventMessage)
	b.from(e, c)
	if len(e.Attachments) != 1 || e.Text != caption || len(e.Unsupported) != 0 {
		b.t.Fatalf("got %+v, want one file and the caption", e)
	}
	a := e.Attachments[0]
	if a.Kind != kind || a.Size != 0 && a.Size != int64(len(f.Data)) {
		b.t.Errorf("got %+v, want %d bytes of kind %s", a, len(f.Data), kind)
	}
	if slices.Contains(b.Features().Named, kind) && a.Name != f.Name {
		b.t.Errorf("got name %q, want %q", a.Name, f.Name)
	}
	if got := b.content(a); got != string(f.Data) {
		b.t.Errorf("got content %q, want %q", got, f.Data)
	}
}

// receivesAlbum: all of the photos, in one event or as parts that say so; the
// caption is there once.
func receivesAlbum(b *bench) {
	in, c := b.connect(), b.Customer()
	var files []Picked
	for n := range 5 {
		files = append(files, picked(messenger.Photo, n))
	}
	c.Album(files, "canary caption")
	events := []messenger.Event{in.next(messenger.EventMessage)}
	if b.Features().AlbumParts {
		for range len(files) - 1 {
			events = append(events, in.next(messenger.EventMessage))
		}
	}
	var got, want, captions []string
	for _, e := range events {
		if e.Album != events[0].Album || (e.Album == "") == b.Features().AlbumParts {
			b.t.Errorf("got album %q, want that of the first part", e.Album)
		}
		for _, a := range e.Attachments {
			got = append(got, b.content(a))
		}
		if e.Text != "" {
			captions = append(captions, e.Text)
		}
	}
	for _, f := range files {
		want = append(want, string(f.Data))
	}
	if !slices.Equal(got, want) || !slices.Equal(captions, []string{"canary caption"}) {
		b.t.Errorf("got %q with captions %q, want %q", got, captions, want)
	}
}

func receivesLocation(b *bench) {
	in, c := b.connect(), b.Customer()
	c.Locate(messenger.Location{Latitude: 55.751244, Longitude: 37.618423})
	l := in.next(messenger.EventMessage).Location
	if l == nil || math.Abs(l.Latitude-55.751244) > 1e-6 || math.Abs(l.Longitude-37.618423) > 1e-6 {
		b.t.Errorf("got %+v, want 55.751244, 37.618423", l)
	}
	named := messenger.Location{Latitude: -1.5, Longitude: 2.25, Title: "Canary", Address: "Canary street, 1"}
	c.Locate(named)
	if l := in.next(messenger.EventMessage).Location; l == nil || *l != named {
		b.t.Errorf("got %+v, want %+v", l, named)
	}
}

// receivesContact: a messenger without cards gives the words.
func receivesContact(b *bench) {
	in, c := b.connect(), b.Customer()
	c.Share(messenger.Contact{Name: "Canary Ivanova", Phone: "+79990000001"})
	e := in.next(messenger.EventMessage)
	said := e.Text
	if e.Contact != nil {
		said = e.Contact.Name + " " + e.Contact.Phone
	}
	if said != "Canary Ivanova +79990000001" {
		b.t.Errorf("got %q, want name and phone", said)
	}
}

func (b *bench) quotes(e messenger.Event, kind, words string) messenger.Quote {
	b.t.Helper()
	if len(e.Quotes) != 1 || e.Quotes[0].Kind != kind || e.Quotes[0].Text != words {
		b.t.Fatalf("got quotes %+v, want one of kind %s with %q", e.Quotes, kind, words)
	}
	return e.Quotes[0]
}

func receivesReply(b *bench) {
	in, c := b.connect(), b.Customer()
	id := c.Write("canary question")
	in.next(messenger.EventMessage)
	c.Reply(id, "canary more")
	e := in.next(messenger.EventMessage)
	if b.quotes(e, "reply", "canary question"); e.Text != "canary more" {
		b.t.Errorf("got text %q, want the reply's", e.Text)
	}
}

func receivesReplyToBot(b *bench) {
	in, c := b.connect(), b.Customer()
	answer := b.send(c, text(c, "canary answer"))
	c.Reply(answer.ID, "/cancel canary")
	e := in.next(messenger.EventMessage)
	if q := b.quotes(e, "reply", "canary answer"); q.Author != "" {
		b.t.Errorf("got author %q, want none for the bot's own words", q.Author)
	}
}

// receivesForward: somebody else's words are not the customer's.
func receivesForward(b *bench) {
	in, c := b.connect(), b.Customer()
	c.Forward("Canary Petrov", "/cancel canary")
	e := in.next(messenger.EventMessage)
	q := b.quotes(e, "forward", "/cancel canary")
	if strings.TrimSpace(q.Author) == "" || e.Text != "" || e.Command != "" {
		b.t.Errorf("got %+v, want a quotation with its author alone", e)
	}
}

func receivesPeculiar(b *bench) {
	in, c := b.connect(), b.Customer()
	c.Peculiar()
	if e := in.next(messenger.EventMessage); !e.Empty() || len(e.Unsupported) != 1 || e.Unsupported[0] == "" {
		b.t.Errorf("got %+v, want the name of what cannot be carried", e)
	}
}
