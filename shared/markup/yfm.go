package markup

import (
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// What Yandex Flavored Markdown adds to CommonMark (ydocs.tech/en/syntax, and the
// editor of Tracker): notes, cuts and tabs between "{% ... %}", pairs like
// "++underlined++", sizes of images, colours.

// directive is a line "{% ... %}" that begins or ends a frame.
type directive struct {
	ast.BaseBlock
	name, title string
}

var directiveKind = ast.NewNodeKind("Directive")

func (*directive) Kind() ast.NodeKind              { return directiveKind }
func (d *directive) Dump(source []byte, level int) { ast.DumpHelper(d, source, level, nil, nil) }

var directiveLine = regexp.MustCompile(`^\{%-?\s*(note|cut|list|endnote|endcut|endlist)\b\s*(\w*)\s*(?:"([^"]*)")?\s*-?%\}\s*$`)

// directiveParser reads each such line for itself, so that a frame that is never
// closed swallows nothing.
type directiveParser struct{}

func (directiveParser) Trigger() []byte { return []byte{'{'} }

func (directiveParser) Open(_ ast.Node, reader text.Reader, _ parser.Context) (ast.Node, parser.State) {
	line, _ := reader.PeekLine()
	m := directiveLine.FindSubmatch([]byte(strings.TrimLeft(string(line), " ")))
	if m == nil {
		return nil, parser.NoChildren
	}
	reader.AdvanceToEOL()
	name := string(m[1])
	if name == "note" {
		name += " " + string(m[2])
	}
	return &directive{name: name, title: string(m[3])}, parser.NoChildren
}

func (directiveParser) Continue(ast.Node, text.Reader, parser.Context) parser.State {
	return parser.Close
}

func (directiveParser) Close(ast.Node, text.Reader, parser.Context) {}
func (directiveParser) CanInterruptParagraph() bool                 { return true }
func (directiveParser) CanAcceptIndentedLine() bool                 { return false }

// sign stands for the colour of a note.
func (d *directive) sign() string {
	kind, ok := strings.CutPrefix(d.name, "note ")
	switch {
	case !ok:
		return ""
	case kind == "warning":
		return "⚠️ "
	case kind == "alert":
		return "❗ "
	case kind == "tip":
		return "💡 "
	}
	return "ℹ️ "
}

// pair is text between two equal pairs of characters.
type pair struct {
	ast.BaseInline
	style styleKind
}

var pairKind = ast.NewNodeKind("Pair")

func (*pair) Kind() ast.NodeKind              { return pairKind }
func (p *pair) Dump(source []byte, level int) { ast.DumpHelper(p, source, level, nil, nil) }

type pairParser struct{}

func pairStyle(c byte) styleKind {
	switch c {
	case '~':
		return strike
	case '+':
		return underline
	case '#':
		return code
	}
	return bold // "==marked=="
}

func (pairParser) Trigger() []byte { return []byte{'~', '+', '#', '='} }

func (pairParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	if before == rune(line[0]) {
		return nil // inside of a longer row of them
	}
	node := parser.ScanDelimiter(line, before, 2, pairProcessor{line[0]})
	if node == nil || node.OriginalLength != 2 {
		return nil
	}
	node.Segment = segment.WithStop(segment.Start + 2)
	block.Advance(2)
	pc.PushDelimiter(node)
	return node
}

type pairProcessor struct{ char byte }

func (p pairProcessor) IsDelimiter(b byte) bool { return b == p.char }

func (pairProcessor) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char
}

func (p pairProcessor) OnMatch(int) ast.Node { return &pair{style: pairStyle(p.char)} }

// imageParser reads images with a size, "![words](address "title" =100x50)".
type imageParser struct{}

var sizedImage = regexp.MustCompile(`^!\[([^\[\]\n]*)\]\(\s*([^\s()<>]+)(?:\s+"[^"\n]*")?\s+=\d*%?x\d*%?\s*\)`)

func (imageParser) Trigger() []byte { return []byte{'!'} }

func (imageParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, segment := block.PeekLine()
	m := sizedImage.FindSubmatchIndex(line)
	if m == nil {
		return nil
	}
	block.Advance(m[1])
	image := ast.NewImage(ast.NewLink())
	image.Destination = line[m[4]:m[5]]
	image.AppendChild(image, ast.NewTextSegment(text.NewSegment(segment.Start+m[2], segment.Start+m[3])))
	return image
}

// colorParser takes the frame off "{red}(words)".
type colorParser struct{}

var colorOpening = regexp.MustCompile(`^\{(?:gray|grey|yellow|orange|red|green|blue|violet|purple|black|white)\}\(`)

// openColors is how many parentheses are open, per colour from the outside in.
type openColors []int

func (colorParser) Trigger() []byte { return []byte{'{', '(', ')'} }

func (colorParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	open, _ := pc.Get(colorKey).(openColors)
	line, _ := block.PeekLine()
	if line[0] == '{' {
		opening := colorOpening.Find(line)
		if opening == nil || !balanced(line[len(opening):]) {
			return nil
		}
		pc.Set(colorKey, append(open, 0))
		block.Advance(len(opening))
		return ast.NewString(nil)
	}
	if len(open) == 0 {
		return nil
	}
	last := &open[len(open)-1]
	switch {
	case line[0] == '(':
		*last++
	case *last > 0:
		*last--
	default:
		pc.Set(colorKey, open[:len(open)-1])
		block.Advance(1)
		return ast.NewString(nil)
	}
	return nil
}

// CloseBlock implements parser.CloseBlocker: colours end with their paragraph.
func (colorParser) CloseBlock(_ ast.Node, _ text.Reader, pc parser.Context) {
	pc.Set(colorKey, openColors(nil))
}

var colorKey = parser.NewContextKey()

// colorMost is how far away a colour ends, in bytes.
const colorMost = 4096

// balanced reports whether a parenthesis that was opened is closed in line.
func balanced(line []byte) bool {
	depth := 1
	for _, c := range line[:min(len(line), colorMost)] {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 {
			return true
		}
	}
	return false
}
