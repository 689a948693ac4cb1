package telegram

import (
	"cmp"
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Entity is a part of a text that means something (core.telegram.org/bots/api#messageentity).
type Entity struct {
	Type     string `json:"type"`
	Offset   int    `json:"offset"` // UTF-16 code units
	Length   int    `json:"length"` // UTF-16 code units
	URL      string `json:"url,omitempty"`
	User     *User  `json:"user,omitempty"` // for text_mention
	Language string `json:"language,omitempty"`
	Emoji    string `json:"custom_emoji_id,omitempty"`
	UnixTime int64  `json:"unix_time,omitempty"`
	Format   string `json:"date_time_format,omitempty"`
}

// In gives the part of a text that the entity covers.
func (e Entity) In(text string) string { return cut(text, e.Offset, e.end()) }

func (e Entity) end() int { return e.Offset + e.Length }

// units gives the length of a text as Telegram counts it.
func units(text string) int {
	n := 0
	for _, r := range text {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// cut gives the part of a text between two offsets in UTF-16 code units; it
// widens to whole characters.
func cut(text string, from, to int) string {
	start, end, at := len(text), len(text), 0
	for i, r := range text {
		if at >= from && i < start {
			start = i
		}
		if at >= to {
			end = i
			break
		}
		at += max(1, utf16.RuneLen(r))
	}
	return text[min(start, end):end]
}

// head gives as much of the beginning of a text as fits into so many UTF-16 code
// units.
func head(text string, most int) string {
	at := 0
	for i, r := range text {
		if at += max(1, utf16.RuneLen(r)); at > most {
			return text[:i]
		}
	}
	return text
}

// boundaries tells for each offset whether a character begins there.
func boundaries(text string) []bool {
	starts := make([]bool, 0, len(text)+1)
	for _, r := range text {
		starts = append(starts, true)
		if utf16.RuneLen(r) == 2 {
			starts = append(starts, false)
		}
	}
	return append(starts, true)
}

// checkEntities holds the entities of a call against its text. The original
// drops what is out of bounds in silence or moves it; nobody wants either, so
// here it is an error.
func checkEntities(text string, entities []Entity) *refusal {
	starts := boundaries(text)
	for _, e := range entities {
		switch {
		case e.Length <= 0:
			return badf("can't parse entities: entity length %d is invalid", e.Length)
		case e.Offset < 0 || e.end() >= len(starts):
			return badf("can't parse entities: entity beginning at UTF-16 offset %d ends after the end of the text at UTF-16 offset %d", e.Offset, e.end())
		case !starts[e.Offset]:
			return badf("can't parse entities: entity begins in a middle of a UTF-16 symbol at byte offset %d", e.Offset)
		case !starts[e.end()]:
			return badf("can't parse entities: entity ends in a middle of a UTF-16 symbol at byte offset %d", e.end())
		case tagOf(e.Type) == "" && !found(e.Type):
			return bad("can't parse MessageEntity: Unsupported type specified")
		case e.Type == "text_link":
			if _, problem := checkURL(e.URL); problem != "" {
				return badf("entity URL '%s' is invalid: %s", e.URL, problem)
			}
		}
	}
	return nil
}

// found reports whether a kind of entity is found by the server itself.
func found(kind string) bool {
	switch kind {
	case "mention", "hashtag", "cashtag", "bot_command", "url", "email", "phone_number":
		return true
	}
	return false
}

// sortEntities puts outer entities before inner ones, as the original does.
func sortEntities(entities []Entity) {
	slices.SortStableFunc(entities, func(a, b Entity) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(b.Length, a.Length))
	})
}

// tidy cleans a text as the original does: other control characters than line
// breaks become spaces, carriage returns go, space around the text goes, but not
// space that is formatted at the beginning. The entities move along; what
// becomes empty goes.
func tidy(text string, entities []Entity) (string, []Entity) {
	var b strings.Builder
	moved := make([]int, 0, len(text)+1) // old offset -> new offset
	at := 0
	for _, r := range text {
		kept := clean(r)
		for range max(1, utf16.RuneLen(r)) {
			moved = append(moved, at)
			if kept >= 0 {
				at++
			}
		}
		if kept >= 0 {
			b.WriteRune(kept)
		}
	}
	moved = append(moved, at)
	cleaned := b.String()
	trimmed := strings.TrimRight(cleaned, " \n")
	lead := len(trimmed) - len(strings.TrimLeft(trimmed, " \n"))
	for _, e := range entities {
		lead = min(lead, moved[e.Offset])
	}
	trimmed = trimmed[lead:]
	length := units(trimmed)
	kept := entities[:0:0]
	for _, e := range entities {
		from, to := moved[e.Offset]-lead, moved[e.end()]-lead
		e.Offset = max(0, from)
		e.Length = min(to, length) - e.Offset
		if e.Length > 0 {
			kept = append(kept, e)
		}
	}
	sortEntities(kept)
	return trimmed, kept
}

// clean gives what becomes of a character; below 0: nothing.
func clean(r rune) rune {
	switch {
	case r == '\n':
		return r
	case r == '\r' || r >= 0x2028 && r <= 0x202e:
		return -1
	case r < ' ':
		return ' '
	}
	return r
}

// tagOf gives the HTML tag of a kind of formatting, "" for none.
func tagOf(kind string) string {
	switch kind {
	case "bold":
		return "b"
	case "italic":
		return "i"
	case "underline":
		return "u"
	case "strikethrough":
		return "s"
	case "spoiler":
		return "tg-spoiler"
	case "blockquote", "expandable_blockquote":
		return "blockquote"
	case "code", "pre":
		return kind
	case "text_link", "text_mention":
		return "a"
	case "custom_emoji":
		return "tg-emoji"
	case "date_time":
		return "tg-time"
	}
	return ""
}

// HTML renders a text with its formatting in Telegram's HTML, safe to be shown
// in a page.
func HTML(text string, entities []Entity) string {
	sorted := slices.Clone(entities)
	sortEntities(sorted)
	var b strings.Builder
	var open []Entity
	at := 0
	closeUntil := func(offset int) {
		for len(open) > 0 && open[len(open)-1].end() <= offset {
			b.WriteString("</" + tagOf(open[len(open)-1].Type) + ">")
			open = open[:len(open)-1]
		}
	}
	for _, r := range text {
		closeUntil(at)
		for len(sorted) > 0 && sorted[0].Offset <= at {
			e := sorted[0]
			sorted = sorted[1:]
			if tagOf(e.Type) == "" || len(open) > 0 && e.end() > open[len(open)-1].end() {
				continue // found by the server itself, or crossing another one
			}
			b.WriteString(startTag(e))
			open = append(open, e)
		}
		b.WriteString(html.EscapeString(string(r)))
		at += max(1, utf16.RuneLen(r))
	}
	closeUntil(at)
	return b.String()
}

func startTag(e Entity) string {
	attribute := ""
	switch {
	case e.Type == "text_link":
		attribute = ` href="` + html.EscapeString(e.URL) + `"`
	case e.Type == "pre" && e.Language != "":
		attribute = ` data-language="` + html.EscapeString(e.Language) + `"`
	case e.Type == "expandable_blockquote":
		attribute = " expandable"
	}
	return "<" + tagOf(e.Type) + attribute + ">"
}

// valid reports whether a text has at least one character that is seen.
func valid(text string) bool {
	return strings.ContainsFunc(text, seen) && utf8.ValidString(text)
}

func seen(r rune) bool {
	return !unicode.IsSpace(r) && !unicode.In(r, unicode.Cc, unicode.Cf) && r != '\u2800' && r != '\uFFFC'
}
