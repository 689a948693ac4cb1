package markup

import (
	"html"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// inline writes what is inside a paragraph, a heading or a cell.
func (b *builder) inline(parent ast.Node) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			if next, ok := n.NextSibling().(*ast.Text); ok && !n.SoftLineBreak() && !n.HardLineBreak() && next.Segment.Start == n.Segment.Stop {
				next.Segment.Start = n.Segment.Start // one text that the parser took for more
				continue
			}
			b.text(n)
		case *ast.String:
			b.write(string(n.Value))
		case *ast.CodeSpan:
			b.within(style{kind: code}, func() { b.codeSpan(n) })
		case *ast.Emphasis:
			kind := italic
			if n.Level > 1 {
				kind = bold
			}
			b.within(style{kind: kind}, func() { b.inline(n) })
		case *pair:
			b.within(style{kind: n.style}, func() { b.inline(n) })
		case *ast.Link:
			b.link(n, string(n.Destination))
		case *ast.Image:
			b.link(n, string(n.Destination))
		case *ast.AutoLink:
			b.autoLink(n)
		default:
			b.inline(n)
		}
	}
}

// text: people who press Enter in a comment mean it, so a soft break is one too.
func (b *builder) text(n *ast.Text) {
	b.write(unescape(string(n.Segment.Value(b.source))))
	if n.SoftLineBreak() || n.HardLineBreak() {
		b.write("\n")
	}
}

func (b *builder) codeSpan(n *ast.CodeSpan) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.write(strings.ReplaceAll(string(t.Segment.Value(b.source)), "\n", " "))
		}
	}
}

// link writes words that lead to an address. A picture without words is named by
// its address, and so is a link; an address that leads nowhere outside of Tracker
// ("/ajax/v2/attachments/1") is left out.
func (b *builder) link(n ast.Node, destination string) {
	address := unescape(destination)
	if !reachable(address) {
		b.inline(n)
		return
	}
	b.within(style{link, address}, func() {
		b.inline(n)
		if !n.HasChildren() {
			b.write(address)
		}
	})
}

// autoLink is plain text: every messenger finds addresses by itself.
func (b *builder) autoLink(n *ast.AutoLink) { b.write(string(n.Label(b.source))) }

// addressMost is the longest address that is put behind words.
const addressMost = 2000

func reachable(address string) bool {
	u, err := url.Parse(address)
	if err != nil || len(address) > addressMost || strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' }) {
		return false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		return u.Host != ""
	case "mailto", "tel", "tg":
		return true
	}
	return false
}

// unescape resolves backslashes and entities, which the parser leaves in place.
func unescape(s string) string {
	if !strings.ContainsAny(s, `\&`) {
		return s
	}
	var b strings.Builder
	for s != "" {
		switch {
		case s[0] == '\\' && len(s) > 1 && util.IsPunct(s[1]):
			b.WriteByte(s[1])
			s = s[2:]
			continue
		case s[0] == '&':
			if text, size := entity(s); size > 0 {
				b.WriteString(text)
				s = s[size:]
				continue
			}
		}
		_, size := utf8.DecodeRuneInString(s)
		b.WriteString(s[:size])
		s = s[size:]
	}
	return b.String()
}

// entityMost is the length of the longest entity, "&CounterClockwiseContourIntegral;".
const entityMost = 33

// entity gives the text and the length of the entity with which s begins; the
// length is 0 when it begins with none.
func entity(s string) (text string, size int) {
	end := strings.IndexByte(s[:min(len(s), entityMost)], ';')
	if end < 2 {
		return "", 0
	}
	name := s[1:end]
	if name[0] == '#' {
		return html.UnescapeString(s[:end+1]), end + 1
	}
	e, ok := util.LookUpHTML5EntityByName(name)
	if !ok {
		return "", 0
	}
	return string(e.Characters), end + 1
}
