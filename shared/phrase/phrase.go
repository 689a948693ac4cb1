// Package phrase holds what the platform says, by language: a book of phrases
// with placeholders, one JSON file per language beside the code that speaks.
package phrase

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"supportbot/shared/catalogue"
)

// Book is the phrases of one package. It is read when the first phrase is asked
// for.
type Book struct {
	read func() map[string]map[string]string
}

// Open makes a book of the files "<dir>/<language>.json", which are part of the
// program: one that is missing or broken panics at the first phrase, in any test.
func Open(files fs.FS, dir string) *Book {
	return &Book{read: sync.OnceValue(func() map[string]map[string]string {
		all := map[string]map[string]string{}
		for _, language := range catalogue.Languages {
			raw, err := fs.ReadFile(files, dir+"/"+language+".json")
			if err != nil {
				panic(err)
			}
			book := map[string]string{}
			if err := json.Unmarshal(raw, &book); err != nil {
				panic(fmt.Errorf("phrases in %s: %w", language, err))
			}
			all[language] = book
		}
		return all
	})}
}

// Text gives a phrase in a language ("ru", "en"; anything else is the default)
// with its placeholders filled from pairs of name and value. Values are put in as
// they are: a value that looks like a placeholder stays what it is. A key that
// does not exist gives the key.
func (b *Book) Text(locale, key string, pairs ...string) string {
	book, ok := b.read()[locale]
	if !ok {
		book = b.read()[catalogue.Russian]
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
