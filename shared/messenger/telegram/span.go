package telegram

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"
)

// span is formatting of a part of a text, by byte offsets.
type span struct {
	start, end int
	open, shut string // Markdown around it; the same for code, where nothing inside is escaped
	kind       string // "pre", "quote", "code", "link", or "" for styles
	language   string
}

// spansMost is more than a message has of 4096 characters in four styles at once;
// the formatting of one that has more is not worth its time.
const spansMost = 10_000

// spansOf gives the formatting that Markdown knows, outer spans before inner
// ones. Styles end at line breaks, and around words instead of spaces.
func spansOf(text string, entities []tgbotapi.MessageEntity) []span {
	at := offsets(text)
	var spans []span
	for _, e := range entities {
		if e.Offset < 0 || e.Length <= 0 || e.Offset >= len(at) || e.Length >= len(at)-e.Offset {
			continue
		}
		s, ok := spanOf(e)
		if !ok {
			continue
		}
		s.start, s.end = at[e.Offset], at[e.Offset+e.Length]
		if s.kind == "pre" || s.kind == "quote" {
			spans = append(spans, s)
			continue
		}
		if spans = append(spans, perLine(text, s)...); len(spans) > spansMost {
			return nil
		}
	}
	slices.SortStableFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end))
	})
	return spans
}

func spanOf(e tgbotapi.MessageEntity) (span, bool) {
	switch e.Type {
	case "bold":
		return span{open: "**", shut: "**"}, true
	case "italic":
		return span{open: "_", shut: "_"}, true
	case "strikethrough":
		return span{open: "~~", shut: "~~"}, true
	case "underline":
		return span{open: "++", shut: "++"}, true
	case "code":
		return span{kind: "code"}, true
	case "pre":
		return span{kind: "pre", language: e.Language}, true
	case "blockquote", "expandable_blockquote":
		return span{kind: "quote"}, true
	case "text_link":
		return link(e.URL)
	case "text_mention":
		if e.User != nil {
			return link("tg://user?id=" + decimal(e.User.ID))
		}
	}
	return span{}, false
}

func link(address string) (span, bool) {
	if address == "" || strings.ContainsAny(address, "<>\\\n\r") {
		return span{}, false
	}
	return span{kind: "link", open: "[", shut: "](<" + address + ">)"}, true
}

// offsets gives for each UTF-16 offset the byte offset of the character there.
func offsets(text string) []int {
	at := make([]int, 0, len(text)+1)
	for i, r := range text {
		at = append(at, i)
		if utf16.RuneLen(r) == 2 {
			at = append(at, i)
		}
	}
	return append(at, len(text))
}

func perLine(text string, s span) []span {
	var lines []span
	start := s.start
	for _, line := range strings.SplitAfter(text[s.start:s.end], "\n") {
		trimmed := strings.TrimLeftFunc(line, unicode.IsSpace)
		part := s
		part.start = start + len(line) - len(trimmed)
		part.end = part.start + len(strings.TrimRightFunc(trimmed, unicode.IsSpace))
		if part.start < part.end {
			lines = append(lines, part)
		}
		start += len(line)
	}
	return lines
}

// part gives a part of a text by UTF-16 offsets, "" where there is none.
func part(text string, offset, length int) string {
	at := offsets(text)
	if offset < 0 || length < 0 || offset >= len(at) || length >= len(at)-offset {
		return ""
	}
	return strings.ToValidUTF8(text[at[offset]:at[offset+length]], string(utf8.RuneError))
}
