package sandbox

import (
	"net/url"
	"regexp"
	"strings"
	"unicode/utf16"
)

// node is a part of a formatted text: words, or a tag with parts inside. The
// page makes elements of a closed set of tags of it, so nothing that somebody
// wrote becomes markup. (Text is words; Tag with Inside is an element.)
type node struct {
	Tag    string `json:"t,omitempty"`
	Text   string `json:"x,omitempty"`
	URL    string `json:"u,omitempty"` // of "a"
	Inside []node `json:"c,omitempty"`
}

func words(text string) node { return node{Text: text} }

func tag(name string, inside ...node) node { return node{Tag: name, Inside: inside} }

// safeURL gives an address that a page may link to, else "".
func safeURL(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return ""
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https", "mailto", "tel", "tg":
		return u.String()
	}
	return ""
}

// link is an element with an address, or its parts alone when that is not safe.
func link(address string, inside ...node) node {
	if safe := safeURL(address); safe != "" {
		return node{Tag: "a", URL: safe, Inside: inside}
	}
	return tag("span", inside...)
}

var addresses = regexp.MustCompile(`https?://[^\s<>"]*[^\s<>".,:;!?)\]}']`)

// linkTree is a text without formatting, whose web addresses are links.
func linkTree(text string) []node {
	var nodes []node
	at := 0
	for _, span := range addresses.FindAllStringIndex(text, -1) {
		if span[0] > at {
			nodes = append(nodes, words(text[at:span[0]]))
		}
		address := text[span[0]:span[1]]
		nodes = append(nodes, link(address, words(address)))
		at = span[1]
	}
	if at < len(text) {
		nodes = append(nodes, words(text[at:]))
	}
	return nodes
}

func utf16of(text string) []uint16 { return utf16.Encode([]rune(text)) }
