package markup

import (
	"regexp"
	"strings"
)

// flatten says in characters what styles say: the address of a link follows its
// words, a quotation has a ">" before each line.
func flatten(t styledText) styledText {
	var b strings.Builder
	fresh := true // at the beginning of a line
	for i, r := range t {
		if _, quoted := find(r.styles, quote); quoted {
			if fresh {
				b.WriteString("> ")
			}
			b.WriteString(strings.ReplaceAll(r.text, "\n", "\n> "))
		} else {
			b.WriteString(r.text)
		}
		fresh = strings.HasSuffix(r.text, "\n")
		if fresh && i+1 < len(t) {
			_, before := find(r.styles, quote)
			_, after := find(t[i+1].styles, quote)
			fresh = after && !before
		}
		if l, ok := find(r.styles, link); ok && linkEnds(t, i, l) && !sameAddress(words(t, i, l), l.arg) {
			b.WriteString(" (" + l.arg + ")")
		}
	}
	return styledText{{text: b.String()}}
}

func linkEnds(t styledText, i int, l style) bool {
	if i+1 == len(t) {
		return true
	}
	next, ok := find(t[i+1].styles, link)
	return !ok || next != l
}

// words gives the text of the link that ends with run i.
func words(t styledText, i int, l style) string {
	text := ""
	for ; i >= 0; i-- {
		if before, ok := find(t[i].styles, link); !ok || before != l {
			break
		}
		text = t[i].text + text
	}
	return strings.TrimSpace(text)
}

func sameAddress(words, address string) bool {
	for _, scheme := range []string{"", "https://", "http://", "mailto:", "tel:"} {
		if strings.TrimSuffix(scheme+words, "/") == strings.TrimSuffix(address, "/") {
			return true
		}
	}
	return false
}

// mention is text that VK turns into a link to a person or a community, and tells
// them: "[id1|Name]", "@id1 (Name)", "*club1". Behind a slash it is part of an
// address ("vk.com/@club1-article").
var mention = regexp.MustCompile(`(?i)(^|[^/])([\[@*])((?:id|club|public|event|app)-?\d)`)

// Inert breaks VK's mentions by a character of no width.
func Inert(text string) string {
	// Twice, since of two neighbours the second begins with the end of the first.
	for range 2 {
		text = mention.ReplaceAllString(text, "$1$2\u200b$3")
	}
	return text
}
