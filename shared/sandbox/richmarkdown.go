package sandbox

import (
	"bytes"
	"html"
	"strconv"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdownTree is Markdown as the tracker shows it: a line break is one, HTML is
// text, pictures are links.
func markdownTree(markdown string) []node {
	source := []byte(markdown)
	md := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Linkify))
	return markdownBuilder{source}.inside(md.Parser().Parse(text.NewReader(source)))
}

type markdownBuilder struct{ source []byte }

func (b markdownBuilder) inside(parent ast.Node) []node {
	var nodes []node
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		for _, one := range b.node(n) {
			if last := len(nodes) - 1; last >= 0 && one.Tag == "" && nodes[last].Tag == "" {
				nodes[last].Text += one.Text
				continue
			}
			nodes = append(nodes, one)
		}
	}
	return nodes
}

func (b markdownBuilder) node(n ast.Node) []node {
	switch n := n.(type) {
	case *ast.Text:
		return b.text(n)
	case *ast.String:
		return []node{words(string(n.Value))}
	case *ast.CodeSpan:
		return []node{tag("code", words(string(b.raw(n))))}
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		return []node{tag("pre", words(b.lines(n)))}
	case *ast.HTMLBlock:
		return []node{tag("p", words(b.lines(n)))}
	case *ast.RawHTML:
		return []node{words(string(n.Segments.Value(b.source)))}
	case *ast.AutoLink:
		address := string(n.URL(b.source))
		if n.AutoLinkType == ast.AutoLinkEmail {
			address = "mailto:" + address
		}
		return []node{link(address, words(string(n.Label(b.source))))}
	case *ast.Link:
		return []node{link(string(n.Destination), b.inside(n)...)}
	case *ast.Image:
		return []node{link(string(n.Destination), append([]node{words("🖼 ")}, b.inside(n)...)...)}
	case *ast.ThematicBreak:
		return []node{tag("hr")}
	}
	if name := elementOf(n); name != "" {
		return []node{tag(name, b.inside(n)...)}
	}
	return b.inside(n)
}

// elementOf names the element of a node that has nothing but others inside.
func elementOf(n ast.Node) string {
	switch n := n.(type) {
	case *ast.Paragraph:
		return "p"
	case *ast.Heading:
		return "h" + strconv.Itoa(n.Level)
	case *ast.Blockquote:
		return "quote"
	case *ast.List:
		if n.IsOrdered() {
			return "ol"
		}
		return "ul"
	case *ast.ListItem:
		return "li"
	case *ast.Emphasis:
		if n.Level > 1 {
			return "b"
		}
		return "i"
	case *extast.Strikethrough:
		return "s"
	case *extast.Table:
		return "table"
	case *extast.TableHeader, *extast.TableRow:
		return "tr"
	case *extast.TableCell:
		if _, header := n.Parent().(*extast.TableHeader); header {
			return "th"
		}
		return "td"
	}
	return ""
}

func (b markdownBuilder) text(n *ast.Text) []node {
	value := n.Segment.Value(b.source)
	if !n.IsRaw() {
		value = plain(value)
	}
	nodes := []node{words(string(value))}
	if n.SoftLineBreak() || n.HardLineBreak() {
		nodes = append(nodes, tag("br"))
	}
	return nodes
}

// plain resolves escapes and character references, in one go: an escaped "&"
// begins none.
func plain(source []byte) []byte {
	var out []byte
	for len(source) > 0 {
		switch {
		case source[0] == '\\' && len(source) > 1 && util.IsPunct(source[1]):
			out, source = append(out, source[1]), source[2:]
			continue
		case source[0] == '&':
			if n := bytes.IndexByte(source, ';'); n > 0 && n < 40 {
				out, source = append(out, html.UnescapeString(string(source[:n+1]))...), source[n+1:]
				continue
			}
		}
		out, source = append(out, source[0]), source[1:]
	}
	return out
}

// raw is the text of a node without any meaning.
func (b markdownBuilder) raw(n ast.Node) []byte {
	var out []byte
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			out = append(out, t.Segment.Value(b.source)...)
		}
	}
	return out
}

func (b markdownBuilder) lines(n ast.Node) string {
	return string(n.Lines().Value(b.source))
}
