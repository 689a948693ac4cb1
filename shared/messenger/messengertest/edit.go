package messengertest

import (
	"github.com/google/go-cmp/cmp"

	"supportbot/shared/messenger"
)

func editScenarios() []scenario {
	return []scenario{
		{name: "text and buttons", run: editsText},
		{name: "formatting", run: editsFormatting},
		{name: "nothing new", run: editsNothing},
		{name: "a caption", run: editsCaption},
		{name: "a message that is gone", run: editsDeleted},
		{name: "to nothing", run: editsToNothing},
	}
}

func editsText(b *bench) {
	c := b.Customer()
	o := text(c, "canary before")
	o.Keyboard = messenger.Keyboard{{{Label: "a", Data: "b"}}}
	id := b.send(c, o).ID
	o.Part.Text, o.Keyboard = nasty, messenger.Keyboard{{{Label: "c", Data: "d"}}}
	b.must(b.bot.Edit(b.ctx, id, o))
	got := c.Seen()[0]
	if diff := cmp.Diff(o.Keyboard, got.Keyboard); diff != "" || got.Text != nasty || !got.Edited {
		b.t.Errorf("got %+v, want the new text; keyboard (-want +got):\n%s", got, diff)
	}
	o.Part.Text, o.Keyboard = "canary after", nil
	b.must(b.bot.Edit(b.ctx, id, o))
	if got := c.Seen()[0]; len(got.Keyboard) != 0 || got.Text != "canary after" {
		b.t.Errorf("got %+v, want no buttons", got)
	}
	b.sees(c, 1)
}

func editsFormatting(b *bench) {
	c := b.Customer()
	id := b.send(c, text(c, "canary")).ID
	for want, part := range map[string]messenger.Part{
		"canary bold": b.bot.Render("canary **bold**")[0],
		"canary":      {Text: "canary <b>", HTML: true, Plain: "canary"}, // refused
	} {
		b.must(b.bot.Edit(b.ctx, id, messenger.Outgoing{Chat: c.Chat(), Part: part}))
		if got := c.Seen()[0].Text; got != want {
			b.t.Errorf("got %q, want %q", got, want)
		}
	}
}

func editsNothing(b *bench) {
	c := b.Customer()
	o := text(c, "canary")
	id := b.send(c, o).ID
	for range 2 {
		b.must(b.bot.Edit(b.ctx, id, o))
	}
}

// editsCaption: the file stays.
func editsCaption(b *bench) {
	c := b.Customer()
	f, _ := file("canary.txt", "text/plain", []byte("canary"))
	o := messenger.Outgoing{Chat: c.Chat(), Part: messenger.Part{Text: "canary before"}, File: f, Key: "k"}
	id := b.send(c, o).ID
	o.Part.Text = "canary after"
	b.must(b.bot.Edit(b.ctx, id, o))
	if got := c.Seen()[0]; got.Text != "canary after" || got.File == nil || string(got.File.Data) != "canary" {
		b.t.Errorf("got %+v, want the file with another caption", got)
	}
	b.sees(c, 1)
}

func editsDeleted(b *bench) {
	c := b.Customer()
	id := b.send(c, text(c, "canary")).ID
	c.Delete(id)
	b.refused(b.bot.Edit(b.ctx, id, text(c, "canary after")), messenger.Invalid)
	b.refused(b.bot.Edit(b.ctx, "canary", text(c, "canary after")), messenger.Invalid)
	b.sees(c, 0)
}

func editsToNothing(b *bench) {
	c := b.Customer()
	id := b.send(c, text(c, "canary")).ID
	b.refused(b.bot.Edit(b.ctx, id, text(c, "")), messenger.Invalid)
}
