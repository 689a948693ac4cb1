package telegram

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"supportbot/shared/markup"
)

// formatted gives a text as Markdown when it has formatting, everything else in
// it escaped; "" when it has none, or none that Markdown can say of these very
// words: the words come first.
func formatted(text string, entities []tgbotapi.MessageEntity) string {
	spans := spansOf(text, entities)
	if len(spans) == 0 || strings.ContainsFunc(text, isMarker) {
		return ""
	}
	want := shown(markup.Escape(text))
	if markdown := blocks(text, spans); shown(markdown) == want {
		return markdown
	}
	// Styles may stand where Markdown sees none ("ha**!**ha"); the rest is sturdier.
	spans = slices.DeleteFunc(spans, func(s span) bool { return s.kind == "" })
	if markdown := blocks(text, spans); len(spans) > 0 && shown(markdown) == want {
		return markdown
	}
	return ""
}

var tag = regexp.MustCompile(`<[^>]*>`)

// shown gives the words that a reader of Markdown sees.
func shown(markdown string) string {
	var b strings.Builder
	for _, p := range markup.Telegram(markdown, 1<<20) {
		text := p.Text
		if p.HTML {
			text = html.UnescapeString(tag.ReplaceAllString(text, ""))
		}
		b.WriteString(text + " ")
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// blocks writes code blocks and quotations as such and what is between them as
// paragraphs.
func blocks(text string, spans []span) string {
	var out []string
	add := func(markdown string) {
		if strings.TrimSpace(markdown) != "" {
			out = append(out, markdown)
		}
	}
	at := 0
	for _, s := range spans {
		if s.start < at || s.kind != "pre" && s.kind != "quote" {
			continue
		}
		add(paragraphs(text, spans, at, s.start))
		if s.kind == "pre" {
			add(fenced(text[s.start:s.end], s.language))
		} else {
			inner := paragraphs(text, spans, s.start, s.end)
			add("> " + strings.ReplaceAll(inner, "\n", "\n> "))
		}
		at = s.end
	}
	add(paragraphs(text, spans, at, len(text)))
	return strings.Join(out, "\n\n")
}

func fenced(code, language string) string {
	fence := "```"
	for strings.Contains(code, fence) {
		fence += "`"
	}
	if strings.ContainsFunc(language, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("+-#.", r)
	}) {
		language = ""
	}
	return fence + language + "\n" + strings.TrimRight(code, "\n") + "\n" + fence
}

// Markers stand for Markdown in a text while it is escaped: characters of a
// private plane that no text has.
const (
	markerFirst = 0xF0000
	markerLast  = 0xFFFFD
)

func isMarker(r rune) bool { return r >= markerFirst && r <= markerLast }

// paragraphs writes the text between two offsets with its styles.
func paragraphs(text string, spans []span, from, to int) string {
	marks := map[int][]string{} // by offset
	covered := from
	var open []span
	for _, s := range spans {
		if s.start < max(from, covered) || s.end > to || s.kind == "pre" || s.kind == "quote" {
			continue
		}
		for len(open) > 0 && open[len(open)-1].end <= s.start {
			open = closeLast(open, marks)
		}
		if len(open) > 0 && open[len(open)-1].end < s.end {
			continue // overlapping, which Telegram never sends
		}
		if s.kind == "code" {
			marks[s.start] = append(marks[s.start], inlineCode(text[s.start:s.end]))
			covered = s.end
			text = text[:s.start] + strings.Repeat("\x00", s.end-s.start) + text[s.end:]
			continue
		}
		marks[s.start] = append(marks[s.start], s.open)
		open = append(open, s)
	}
	for len(open) > 0 {
		open = closeLast(open, marks)
	}
	return escaped(text, marks, from, to)
}

func closeLast(open []span, marks map[int][]string) []span {
	last := open[len(open)-1]
	marks[last.end] = append(marks[last.end], last.shut)
	return open[:len(open)-1]
}

// escaped escapes the text with a marker at each mark, then puts the marks in.
func escaped(text string, marks map[int][]string, from, to int) string {
	var marked strings.Builder
	var replacements []string
	put := func(offset int) {
		for _, mark := range marks[offset] {
			marker := string(rune(markerFirst + len(replacements)/2))
			replacements = append(replacements, marker, mark)
			marked.WriteString(marker)
		}
	}
	for i, r := range text[from:to] {
		put(from + i)
		if r != 0 { // the place of code
			marked.WriteRune(r)
		}
	}
	put(to)
	return strings.NewReplacer(replacements...).Replace(markup.Escape(marked.String()))
}

func inlineCode(code string) string {
	fence := "`"
	for strings.Contains(code, fence) {
		fence += "`"
	}
	if strings.HasPrefix(code, "`") || strings.HasSuffix(code, "`") {
		code = " " + code + " "
	}
	return fence + code + fence
}
