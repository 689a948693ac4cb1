package dialog

import (
	"embed"
	"encoding/json"
	"strings"
	"sync"
	"unicode/utf16"

	"supportbot/shared/catalogue"
)

//go:embed texts/*.json
var files embed.FS

// books are the phrases by language and key, read once.
var books = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, language := range catalogue.Languages {
		raw, err := files.ReadFile("texts/" + language + ".json")
		if err != nil {
			panic(err) // the file is part of the program
		}
		book := map[string]string{}
		if err := json.Unmarshal(raw, &book); err != nil {
			panic(err)
		}
		all[language] = book
	}
	return all
})

// Text gives a phrase in a language ("ru", "en"; anything else is the default)
// with its placeholders filled from pairs of name and value. Values are put in
// as they are: a value that looks like a placeholder stays what it is.
func Text(locale, key string, pairs ...string) string {
	book, ok := books()[locale]
	if !ok {
		book = books()[catalogue.Russian]
	}
	phrase, ok := book[key]
	if !ok {
		return key
	}
	if len(pairs) == 0 {
		return phrase
	}
	named := make([]string, len(pairs))
	for i := range pairs {
		named[i] = pairs[i]
		if i%2 == 0 {
			named[i] = "{" + pairs[i] + "}"
		}
	}
	return strings.NewReplacer(named...).Replace(phrase)
}

// Locale gives the language to talk in: the person's choice, else what the
// messenger tells, else the default.
func Locale(chosen, told string) string {
	for _, l := range []string{chosen, told} {
		if _, ok := books()[l]; ok {
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
