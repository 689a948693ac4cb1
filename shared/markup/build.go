package markup

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// indentMost bounds the indentation of lists inside lists.
const indentMost = 24

// builder turns a document into text with styles.
type builder struct {
	source []byte
	out    styledText
	styles []style // as they are nested in the document
	indent string  // of lines that are not the first of their list item

	gap       string  // line breaks to write before the next text
	gapStyles []style // and how: inside a quotation they belong to it
}

// blocks writes the blocks inside parent with gap between them.
func (b *builder) blocks(parent ast.Node, gap string) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if d, ok := n.(*directive); ok {
			b.directive(d)
			continue
		}
		b.block(n)
		b.separate(gap)
	}
}

// separate asks for line breaks before whatever comes next.
func (b *builder) separate(gap string) {
	if len(gap) >= len(b.gap) {
		b.gap, b.gapStyles = gap, b.shown()
	}
}

func (b *builder) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		b.within(style{kind: bold}, func() { b.inline(n) })
	case *ast.List:
		b.list(n)
	case *ast.Blockquote:
		b.within(style{kind: quote}, func() { b.blocks(n, "\n\n") })
	case *ast.FencedCodeBlock:
		info := ""
		if n.Info != nil {
			info = strings.TrimSpace(string(n.Info.Segment.Value(b.source)))
		}
		b.code(n, info)
	case *ast.CodeBlock:
		b.code(n, "")
	case *ast.ThematicBreak:
		b.write("———")
	case *extast.Table:
		b.blocks(n, "\n")
	case *extast.TableHeader:
		b.within(style{kind: bold}, func() { b.row(n) })
	case *extast.TableRow:
		b.row(n)
	default: // paragraphs
		b.inline(n)
	}
}

func (b *builder) directive(d *directive) {
	if sign := d.sign(); sign != "" {
		b.write(sign)
		b.gap = "" // the words of the note follow in the same line
	}
	if d.title != "" {
		b.within(style{kind: bold}, func() { b.write(d.title) })
		b.separate("\n")
	}
}

func (b *builder) list(n *ast.List) {
	number := n.Start
	outer := b.indent
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "• "
		if n.IsOrdered() {
			mark = strconv.Itoa(number) + string(n.Marker) + " "
			number++
		}
		b.write(mark)
		if len(outer) < indentMost {
			b.indent = outer + "   "
		}
		b.blocks(item, "\n")
		b.indent = outer
		b.separate("\n")
	}
}

// row writes a row of a table as a line.
func (b *builder) row(n ast.Node) {
	for cell := n.FirstChild(); cell != nil; cell = cell.NextSibling() {
		if cell != n.FirstChild() {
			b.write(" | ")
		}
		b.inline(cell)
	}
}

// code writes a block of code, which keeps its own indentation. What stands
// behind the fence is the language, or words that nobody should lose.
func (b *builder) code(n ast.Node, info string) {
	var text bytes.Buffer
	if len(info) > languageMost || strings.ContainsFunc(info, notLanguage) {
		text.WriteString(unescape(info) + "\n")
		info = ""
	}
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		text.Write(line.Value(b.source))
	}
	b.flush()
	outer := b.indent
	b.indent = ""
	b.within(style{pre, info}, func() { b.write(strings.TrimRight(text.String(), "\n")) })
	b.indent = outer
}

const languageMost = 30

func notLanguage(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("+-_.#", r)
}

// within writes what f writes in one style more.
func (b *builder) within(s style, f func()) {
	b.styles = append(b.styles, s)
	f()
	b.styles = b.styles[:len(b.styles)-1]
}

// write writes text in the styles that are open.
func (b *builder) write(text string) {
	if text == "" {
		return
	}
	b.flush()
	b.out = b.out.add(strings.ReplaceAll(text, "\n", "\n"+b.indent), b.shown())
}

// flush writes the gap that was asked for; none at the beginning.
func (b *builder) flush() {
	if b.gap != "" && len(b.out) > 0 {
		shown := b.shown()
		b.out = b.out.add(b.gap+b.indent, onlyQuote(b.gapStyles[:common(b.gapStyles, shown)]))
	}
	b.gap = ""
}

func onlyQuote(styles []style) []style {
	if q, ok := find(styles, quote); ok {
		return []style{q}
	}
	return nil
}

// shown gives the open styles as Telegram can nest them: a quotation outermost
// and once, code without any other style, a link without code.
func (b *builder) shown() []style {
	var shown []style
	if q, ok := find(b.styles, quote); ok {
		shown = append(shown, q)
	}
	if p, ok := find(b.styles, pre); ok {
		return append(shown, p)
	}
	_, linked := find(b.styles, link)
	if c, ok := find(b.styles, code); ok && !linked {
		return append(shown, c)
	}
	for _, s := range b.styles {
		if s.kind != quote && s.kind != code && !slices.Contains(shown, s) {
			shown = append(shown, s)
		}
	}
	return shown
}
