package messengertest

import (
	"strings"
	"sync"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/messenger"
)

func sendScenarios() []scenario {
	return []scenario{
		{name: "plain text is seen as it is", run: sendsText},
		{name: "formatting", run: sendsFormatting},
		{name: "markup that the messenger refuses", run: sendsRefusedMarkup},
		{name: "a long text in parts", run: sendsLongText},
		{name: "a long formatted text in parts", run: sendsLongMarkdown},
		{name: "the longest text", run: sendsLongestText},
		{name: "nothing", run: sendsNothing},
		{name: "rendering is deterministic", run: rendersTheSame},
		{name: "buttons", run: sendsButtons},
		{name: "many buttons", run: sendsManyButtons},
		{name: "buttons that cannot be", run: sendsImpossibleButtons},
		{name: "a repeated key", run: sendsRepeatedKey},
		{name: "other keys and chats", run: sendsOtherKeys},
		{name: "many at once", run: sendsAtOnce},
	}
}

func sendsText(b *bench) {
	c := b.Customer()
	if got := b.send(c, text(c, nasty)); got.Text != nasty || got.Bold != "" || got.Keyboard != nil || got.File != nil || got.Edited {
		b.t.Errorf("got %+v, want the text and nothing else", got)
	}
}

func sendsFormatting(b *bench) {
	c := b.Customer()
	parts := b.bot.Render("canary **bold <b> & [link](https://example.com/?a=1&b=2)** \\*no\\* `code`")
	if len(parts) != 1 {
		b.t.Fatalf("got %d parts, want 1", len(parts))
	}
	got := b.send(c, messenger.Outgoing{Chat: c.Chat(), Part: parts[0], Key: "k"})
	words, bold := "canary bold <b> & link *no* code", "bold <b> & link"
	if !b.Features().Markup { // the address is nowhere else
		words, bold = "canary bold <b> & link (https://example.com/?a=1&b=2) *no* code", ""
	}
	if got.Text != words || got.Bold != bold {
		b.t.Errorf("got %q, bold %q, want %q, bold %q", got.Text, got.Bold, words, bold)
	}
}

// sendsRefusedMarkup: the words are more important than how they look.
func sendsRefusedMarkup(b *bench) {
	c := b.Customer()
	part := messenger.Part{Text: "canary <b>bold <nothing>", HTML: true, Plain: "canary bold"}
	if got := b.send(c, messenger.Outgoing{Chat: c.Chat(), Part: part, Key: "k"}); got.Text != "canary bold" {
		b.t.Errorf("got %q, want the plain text", got.Text)
	}
	b.sees(c, 1)
}

// sendParts sends parts and gives the words that the customer sees of all.
func (b *bench) sendParts(c Customer, parts []messenger.Part) []string {
	b.t.Helper()
	var words []string
	for _, p := range parts {
		got := b.send(c, messenger.Outgoing{Chat: c.Chat(), Part: p, Key: p.Text})
		words = append(words, strings.Fields(got.Text)...)
		if n := units(got.Text); n > b.bot.Limits().Text {
			b.t.Errorf("got a message of %d units, want at most %d", n, b.bot.Limits().Text)
		}
	}
	return words
}

func sendsLongText(b *bench) {
	c := b.Customer()
	long := strings.Repeat(nasty+"\n", 3*b.bot.Limits().Text/units(nasty))
	got := b.sendParts(c, b.bot.Plain(long))
	if diff := cmp.Diff(strings.Fields(long), got); diff != "" {
		b.t.Errorf("words (-want +got):\n%s", diff)
	}
}

func sendsLongMarkdown(b *bench) {
	c := b.Customer()
	line := "* **canary *😀 <b> & 👩‍👩‍👧‍👦* words** `x < y`\n"
	n := 2 * b.bot.Limits().Text / units(line)
	got := b.sendParts(c, b.bot.Render(strings.Repeat(line, n)))
	want := strings.Fields(strings.Repeat("• canary 😀 <b> & 👩‍👩‍👧‍👦 words x < y\n", n))
	if diff := cmp.Diff(want, got); diff != "" {
		b.t.Errorf("words (-want +got):\n%s", diff)
	}
}

func sendsLongestText(b *bench) {
	c := b.Customer()
	longest := strings.Repeat("😀", b.bot.Limits().Text/2)
	if got := b.send(c, text(c, longest)); got.Text != longest {
		b.t.Errorf("got %d units, want %d", units(got.Text), units(longest))
	}
	_, err := b.bot.Send(b.ctx, text(c, longest+"canary"))
	b.refused(err, messenger.Invalid)
	b.sees(c, 1)
}

func sendsNothing(b *bench) {
	c := b.Customer()
	_, err := b.bot.Send(b.ctx, text(c, ""))
	b.refused(err, messenger.Invalid)
	if got := len(b.bot.Plain(" \n ")) + len(b.bot.Render("")); got != 0 {
		b.t.Errorf("got %d parts of nothing, want none", got)
	}
}

func rendersTheSame(b *bench) {
	markdown := strings.Repeat("> **canary** [x](https://example.com) [id1|y]\n\n", 300)
	if diff := cmp.Diff(b.bot.Render(markdown), b.bot.Render(markdown)); diff != "" {
		b.t.Errorf("two renderings differ:\n%s", diff)
	}
	if diff := cmp.Diff(b.bot.Plain(markdown), b.bot.Plain(markdown)); diff != "" {
		b.t.Errorf("two splittings differ:\n%s", diff)
	}
}

func sendsButtons(b *bench) {
	c := b.Customer()
	o := text(c, "canary?")
	o.Keyboard = messenger.Keyboard{
		{{Label: "Да <&>", Data: strings.Repeat("x", 64)}, {Label: "Нет 😀", Data: "no"}}, {},
		{{Label: "Site", URL: "https://example.com/?a=1&b=2"}},
	}
	want := messenger.Keyboard{o.Keyboard[0], o.Keyboard[2]} // an empty row is none
	if diff := cmp.Diff(want, b.send(c, o).Keyboard); diff != "" {
		b.t.Errorf("keyboard (-want +got):\n%s", diff)
	}
}

func sendsManyButtons(b *bench) {
	c := b.Customer()
	o := text(c, "canary?")
	for range b.bot.Limits().Buttons {
		o.Keyboard = append(o.Keyboard, []messenger.Button{{Label: "x", Data: "y"}})
	}
	got := 0
	for _, row := range b.send(c, o).Keyboard {
		got += len(row)
	}
	if got != b.bot.Limits().Buttons {
		b.t.Errorf("got %d buttons, want %d", got, b.bot.Limits().Buttons)
	}
	o.Keyboard = append(o.Keyboard, o.Keyboard[0])
	_, err := b.bot.Send(b.ctx, o)
	b.refused(err, messenger.Invalid)
	b.sees(c, 1)
}

func sendsImpossibleButtons(b *bench) {
	c := b.Customer()
	for _, button := range []messenger.Button{
		{Label: "canary", Data: strings.Repeat("canary", 50)}, {Data: "canary"}, {Label: "canary"},
		{Label: "canary", Data: "canary", URL: "https://example.com"},
	} {
		o := text(c, "canary?")
		o.Keyboard = messenger.Keyboard{{button}}
		_, err := b.bot.Send(b.ctx, o)
		b.refused(err, messenger.Invalid)
	}
	b.sees(c, 0)
}

func sendsRepeatedKey(b *bench) {
	c := b.Customer()
	for range 2 {
		_, err := b.bot.Send(b.ctx, text(c, "canary"))
		b.must(err)
	}
	if b.bot.Limits().Idempotent {
		b.sees(c, 1)
		return
	}
	b.sees(c, 2)
}

// sendsOtherKeys: the same words are another message under another key, and the
// same key is another one in another chat.
func sendsOtherKeys(b *bench) {
	c, other := b.Customer(), b.Customer()
	first, second := text(c, "canary"), text(c, "canary")
	second.Key += "2"
	if b.send(c, first).ID == b.send(c, second).ID {
		b.t.Error("two keys gave one message")
	}
	b.sees(c, 2)
	b.send(other, text(other, "canary"))
	b.sees(other, 1)
}

func sendsAtOnce(b *bench) {
	var group sync.WaitGroup
	for range 16 {
		c := b.Customer()
		group.Add(1)
		go func() {
			defer group.Done()
			words := "canary " + c.Chat()
			_, err := b.bot.Send(b.ctx, text(c, words))
			if seen := c.Seen(); err != nil || len(seen) != 1 || seen[0].Text != words {
				b.t.Errorf("got %v and %+v, want one message", err, seen)
			}
		}()
	}
	group.Wait()
}

func units(s string) int { return len(utf16.Encode([]rune(s))) }
