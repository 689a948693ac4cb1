package dialog

import (
	"embed"
	"slices"
	"strings"
	"unicode/utf16"

	"supportbot/shared/catalogue"
	"supportbot/shared/phrase"
)

//go:embed texts/*.json
var files embed.FS

var book = phrase.Open(files, "texts")

// Text gives a phrase in a language ("ru", "en"; anything else is the default)
// with its placeholders filled from pairs of name and value (phrase.Book).
func Text(locale, key string, pairs ...string) string { return book.Text(locale, key, pairs...) }

// Locale gives the language to talk in: the person's choice, else what the
// messenger tells, else the default.
func Locale(chosen, told string) string {
	for _, l := range []string{chosen, told} {
		if slices.Contains(catalogue.Languages, l) {
			return l
		}
	}
	return catalogue.Russian
}

// cut shortens s to n UTF-16 code units, the unit in which messengers count.
func cut(s string, n int) string {
	if units(s) <= n {
		return s
	}
	var b strings.Builder
	used := 0
	for _, r := range s {
		w := utf16.RuneLen(r)
		if w < 0 {
			w = 1
		}
		if used+w > n-1 {
			break
		}
		used += w
		b.WriteRune(r)
	}
	return strings.TrimRight(b.String(), " ") + "…"
}

func units(s string) int {
	n := 0
	for _, r := range s {
		if w := utf16.RuneLen(r); w > 0 {
			n += w
		} else {
			n++
		}
	}
	return n
}

// line makes one line of s: what stands in a list or on a button.
func line(s string, n int) string {
	return cut(strings.Join(strings.Fields(s), " "), n)
}

// firstLine is the first line of s that is not blank.
func firstLine(s string) string {
	for _, l := range strings.Split(s, "\n") {
		if l = strings.TrimSpace(l); l != "" {
			return l
		}
	}
	return ""
}
