package markup

import (
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
	return b.out
}

// parsedMost is the longest Markdown that is parsed, in bytes: some nestings take
// time with the square of their length. A longer text, some twenty messages, is
// shown as it is.
const parsedMost = 100_000

// newParser gives CommonMark without HTML (which shows as text) and without link
// reference definitions (which would vanish), with tables, bare links and what
// Tracker's dialect adds.
func newParser() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(directiveParser{}, 50),
			util.Prioritized(parser.NewSetextHeadingParser(), 100),
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(parser.NewListParser(), 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(parser.NewBlockquoteParser(), 800),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithParagraphTransformers(
			util.Prioritized(extension.NewTableParagraphTransformer(), 200),
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
