package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// budget is what one part may take; 0 means as much as it likes.
type budget struct {
	units  int // UTF-16 code units of text
	bytes  int // of HTML
	styles int // that begin in the part
}

// split cuts text into parts within the budget: at the end of a paragraph, else
// of a line, else of a word, else between two characters as people see them.
// White space at the cuts is left out, and so are parts in which nothing is seen.
func split(t styledText, b budget) []styledText {
	text := t.plain()
	var parts []styledText
	for start := 0; start < len(text); {
		end := fit(t, start, b)
		next := end
		if end < len(text) {
			end, next = cut(text, start, end)
		}
		if strings.ContainsFunc(text[start:end], visible) {
			end = start + len(strings.TrimRightFunc(text[start:end], unicode.IsSpace))
			parts = append(parts, t.slice(start+blankLines(text[start:end]), end))
		}
		start = next
	}
	return parts
}

// visible: a message of nothing else is empty for a messenger. The blank of
// Braille and the place of an object are symbols that show nothing.
func visible(r rune) bool {
	return !unicode.IsSpace(r) && !unicode.In(r, unicode.Cc, unicode.Cf) && r != '\u2800' && r != '\uFFFC'
}

// blankLines gives the length of the empty lines with which text begins. The
// indentation of its first line stays.
func blankLines(text string) int {
	rest := strings.TrimLeftFunc(text, unicode.IsSpace)
	return strings.LastIndexByte(text[:len(text)-len(rest)], '\n') + 1
}

// fit gives the end of the longest part that begins at start, at least one
// character behind it.
func fit(t styledText, start int, b budget) int {
	var used budget
	var open []style
	at := 0
	for _, r := range t {
		if at+len(r.text) <= start {
			at += len(r.text)
			continue
		}
		for _, s := range r.styles[common(open, r.styles):] {
			used.styles++
			used.bytes += len(openTag(s)) + len(closeTag(s))
		}
		open = r.styles
		from := max(start-at, 0)
		for i, c := range r.text[from:] {
			used.units += width(c)
			used.bytes += cost(c, utf8.RuneLen(c))
			if used.over(b) {
				return max(at+from+i, start+first(t, start))
			}
		}
		at += len(r.text)
	}
	return at
}

func (b budget) over(most budget) bool {
	return b.units > most.units ||
		most.bytes > 0 && b.bytes > most.bytes ||
		most.styles > 0 && b.styles > most.styles
}

// first gives the length of the character at start.
func first(t styledText, start int) int {
	_, size := utf8.DecodeRuneInString(t.slice(start, start+utf8.UTFMax).plain())
	return size
}

// cut gives where to end a part that may reach to end, and where the next one
// begins. Breaks in the first half of a part are no good: they make many parts.
func cut(text string, start, end int) (stop, next int) {
	part, rest := text[start:end], text[end:]
	half := len(part) / 2
	if i := lastBreak(part, rest, "\n\n"); i > half {
		return start + i, start + i + len(text[start+i:]) - len(strings.TrimLeft(text[start+i:], "\n"))
	}
	if i := lastBreak(part, rest, "\n"); i > half {
		return start + i, start + i + 1
	}
	if i := lastSpace(part, rest); i > 0 {
		tail := text[start+i:]
		return start + i, start + i + len(tail) - len(strings.TrimLeftFunc(tail, inlineSpace))
	}
	end = start + whole(part, rest)
	return end, end
}

// lastBreak gives the last place of sep in part, also where it begins right
// behind it or at its last character.
func lastBreak(part, rest, sep string) int {
	return strings.LastIndex(part+rest[:min(len(sep), len(rest))], sep)
}

func lastSpace(part, rest string) int {
	if r, _ := utf8.DecodeRuneInString(rest); inlineSpace(r) || r == '\n' {
		return len(part)
	}
	return strings.LastIndexFunc(part, func(r rune) bool { return inlineSpace(r) || r == '\n' })
}

// inlineSpace is where lines are broken: not a space that says not to.
func inlineSpace(r rune) bool {
	return r != '\n' && r != '\u00a0' && r != '\u202f' && r != '\u2007' && unicode.IsSpace(r)
}

// units counts UTF-16 code units.
func units(s string) int {
	n := 0
	for _, r := range s {
		n += width(r)
	}
	return n
}

func width(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}
