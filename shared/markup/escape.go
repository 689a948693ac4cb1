package markup

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape gives Markdown that shows exactly this text, in CommonMark as well as in
// Tracker's dialect: nothing in it is markup, calls a person or closes a frame,
// line breaks and indentation stay. Web addresses stay links. It shows nothing for
// the white space at both ends.
func Escape(text string) string {
	text = strings.TrimRightFunc(strings.TrimLeft(breaks.Replace(clean(text)), "\n"), unicode.IsSpace)
	var b strings.Builder
	blank := true // the line before
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		switch empty := line == ""; {
		case i == 0 || blank && !empty:
		case empty && !blank:
			b.WriteString("\n\n") // a paragraph ends at its first empty line
		default:
			b.WriteString("\\\n") // a break that no dialect takes for a space
		}
		escapeLine(&b, line)
		blank = line == ""
	}
	return b.String()
}

// breaks makes line breaks of what is shown as one.
var breaks = strings.NewReplacer("\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n\n")

// address is a web address without characters that could mean anything else
// between "<" and ">", nor punctuation at its end.
var address = regexp.MustCompile(`^https?://[\pL\pN][\pL\pN\-._~:/?#@!$&'()*+,;=%\[\]]*[\pL\pN/=#&_-]`)

// findAddress gives the address with which line begins, "" for none. A closing
// parenthesis at its end belongs to it if it was opened inside.
func findAddress(line string) string {
	a := address.FindString(line)
	if a != "" && strings.HasPrefix(line[len(a):], ")") && strings.Count(a, "(") > strings.Count(a, ")") {
		a += ")"
	}
	return a
}

var listNumber = regexp.MustCompile(`^[0-9]{1,9}[.)]`)

func escapeLine(b *strings.Builder, line string) {
	line = indented(b, line)
	if m := listNumber.FindString(line); m != "" {
		b.WriteString(m[:len(m)-1] + `\` + m[len(m)-1:])
		line = line[len(m):]
	}
	before := '\n'
	for line != "" {
		if a := findAddress(line); a != "" && !letter(before) {
			b.WriteString("<" + a + ">")
			before, line = 'a', line[len(a):]
			continue
		}
		r, size := utf8.DecodeRuneInString(line)
		next, _ := utf8.DecodeRuneInString(line[size:])
		switch {
		case r == '\\' && size == len(line):
			b.WriteString("&#92;") // not to be counted with that of a break
			return
		case r == ' ' && next == ' ':
			r = '\u00a0' // of several spaces only one would be seen
		case special(r, before, next), r == '.' && strings.HasSuffix(b.String()[max(0, b.Len()-3):], "www"):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
		before, line = r, line[size:]
	}
}

// indented writes the indentation of a line so that it is seen, and makes no code
// of what follows.
func indented(b *strings.Builder, line string) string {
	rest := strings.TrimLeft(line, " \t")
	for _, r := range line[:len(line)-len(rest)] {
		if r == '\t' {
			b.WriteString("\u00a0\u00a0\u00a0")
		}
		b.WriteRune('\u00a0')
	}
	return rest
}

// special reports whether r could mean something between these neighbours.
func special(r, before, next rune) bool {
	switch r {
	case '\\', '`', '*', '_', '{', '}', '[', ']', '<', '>', '#', '+', '|', '~', '^', '=', '$', '%', '@', '&':
		return true
	case '-':
		return before == '\n' || before == '-' || before == '\u00a0'
	case ':': // ":smile:", ":)", "https:", ": a definition"
		return before == '\n' || next != utf8.RuneError && !unicode.IsSpace(next) && !unicode.IsDigit(next)
	}
	return false
}

func letter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
