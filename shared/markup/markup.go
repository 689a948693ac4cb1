// Package markup translates between Markdown, as people write and read it in
// Tracker, and what a messenger can show.
//
// Markdown is parsed first (CommonMark with tables, bare links and what Yandex
// Flavored Markdown adds) into text with styles, and only that is cut into parts:
// so lengths are counted as a messenger counts them, in UTF-16 code units of what
// the customer reads, and no part ends inside a tag, an entity, an emoji or, where
// there is a choice, a word.
package markup

import (
	"strings"

	"supportbot/shared/messenger"
)

// Telegram renders Markdown to Telegram's HTML (core.telegram.org/bots/api#html-style)
// in parts of at most limit code units each. A part without any formatting is
// plain text. There are no parts for a text without anything to read.
func Telegram(markdown string, limit int) []messenger.Part {
	var parts []messenger.Part
	for _, p := range split(parse(markdown), budget{units: limit, bytes: telegramBytes, styles: telegramStyles}) {
		if !p.styled() {
			parts = append(parts, messenger.Part{Text: p.plain()})
			continue
		}
		plain := flatten(p).plain()
		if units(plain) > limit { // the addresses behind words have no room
			plain = p.plain()
		}
		parts = append(parts, messenger.Part{Text: p.html(), HTML: true, Plain: plain})
	}
	return parts
}

// What Telegram takes of one message beside its length: more bytes of markup it
// refuses, more entities it leaves out (core.telegram.org/bots/api, limits of
// message entities). Both with room to spare.
const (
	telegramBytes  = 24_000
	telegramStyles = 90
)

// VK renders Markdown to plain text, since VK shows no formatting: the address of
// a link follows its words, and nothing of it can call a person by an accident.
func VK(markdown string, limit int) []messenger.Part {
	return Plain(Inert(flatten(parse(markdown)).plain()), limit)
}

// Plain cuts text that has no markup.
func Plain(text string, limit int) []messenger.Part {
	var parts []messenger.Part
	for _, p := range split(styledText{{text: clean(text)}}, budget{units: limit}) {
		parts = append(parts, messenger.Part{Text: p.plain()})
	}
	return parts
}

// clean gives text with valid UTF-8 and one kind of line break.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "").Replace(s)
}
