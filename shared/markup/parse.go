package markup

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// parse reads Markdown. What is no markup for it is text: nothing that somebody
// wrote is ever left out but colours and the frames of notes.
func parse(markdown string) styledText {
	source := []byte(clean(markdown))
	if len(source) > parsedMost {
		return styledText{{text: string(source)}}
	}
	b := builder{source: source}
	b.blocks(newParser().Parse(text.NewReader(source)), "\n\n")
	return b.out.joined()
}

// parsedMost is the longest Markdown that is parsed, in bytes: links that are
// never closed take time with the square of their length. A longer text, some ten
// messages, is shown as it is.
const parsedMost = 50_000

// newParser gives CommonMark without HTML (which shows as text) and without link
// reference definitions (which would vanish), with tables, bare links and what
// Tracker's dialect adds.
func newParser() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(directiveParser{}, 50),
			util.Prioritized(parser.NewSetextHeadingParser(), 100),
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(shallow{parser.NewListParser()}, 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(shallow{parser.NewBlockquoteParser()}, 800),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithParagraphTransformers(
			util.Prioritized(smallTables{extension.NewTableParagraphTransformer()}, 200),
		),
		parser.WithASTTransformers(
			util.Prioritized(extension.NewTableASTTransformer(), 0),
		),
		parser.WithInlineParsers(
			util.Prioritized(parser.NewCodeSpanParser(), 100),
			util.Prioritized(imageParser{}, 150),
			util.Prioritized(parser.NewLinkParser(), 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300),
			util.Prioritized(colorParser{}, 400),
			util.Prioritized(parser.NewEmphasisParser(), 500),
			util.Prioritized(pairParser{}, 600),
			util.Prioritized(extension.NewLinkifyParser(), 999),
		),
	)
}

// nestedMost is how deep lists and quotations go inside each other; what would go
// deeper is text. The parser's time and memory grow with the square of the depth.
const nestedMost = 40

// shallow is a parser of blocks that hold others.
type shallow struct{ parser.BlockParser }

// Open implements parser.BlockParser.
func (s shallow) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	depth := 0
	for n := parent; n != nil; n = n.Parent() {
		if depth++; depth > nestedMost {
			return nil, parser.NoChildren
		}
	}
	return s.BlockParser.Open(parent, reader, pc)
}

// cellsMost is how large tables are; a larger one is text. The parser fills each
// row up to the width of the first, so two lines may make cells without end.
const cellsMost = 5_000

// smallTables makes tables of paragraphs.
type smallTables struct{ parser.ParagraphTransformer }

// Transform implements parser.ParagraphTransformer.
func (t smallTables) Transform(n *ast.Paragraph, reader text.Reader, pc parser.Context) {
	widest := 0
	for _, line := range n.Lines().Sliced(0, n.Lines().Len()) {
		widest = max(widest, 1+bytes.Count(line.Value(reader.Source()), []byte("|")))
	}
	if n.Lines().Len()*widest <= cellsMost {
		t.ParagraphTransformer.Transform(n, reader, pc)
	}
}
