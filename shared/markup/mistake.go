package markup

import (
	"fmt"
	"slices"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// Mistakes tells an author what of their Markdown would not come out as it was
// meant: signs that stayed signs, links that lead nowhere. Whoever means the signs
// themselves writes a backslash before them. The sentences repeat nothing of the
// text.
func Mistakes(markdown string) (all []string) {
	source := []byte(clean(markdown))
	if len(source) > parsedMost {
		return nil // shown as it is
	}
	_ = ast.Walk(newParser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		var found string
		switch n := n.(type) {
		case *ast.CodeSpan:
			return ast.WalkSkipChildren, nil
		case *ast.Link:
			found = deadLink(n.Destination)
		case *ast.Image:
			found = deadLink(n.Destination)
		case *ast.Text:
			found = leftover(joint(n, source))
		}
		if found != "" && !slices.Contains(all, found) {
			all = append(all, found)
		}
		return ast.WalkContinue, nil
	})
	return all
}

func deadLink(destination []byte) string {
	if reachable(unescape(string(destination))) {
		return ""
	}
	return "a link leads to an address that no messenger opens; one begins with https://, mailto: or tel:"
}

// joint is what is written from a text to the end of those that follow it without a
// gap: the parser takes some signs for texts of their own.
func joint(n *ast.Text, source []byte) []byte {
	stop := n.Segment.Stop
	for next, ok := n.NextSibling().(*ast.Text); ok && next.Segment.Start == stop; next, ok = next.NextSibling().(*ast.Text) {
		stop = next.Segment.Stop
	}
	return source[n.Segment.Start:stop]
}

// leftover finds markup among what is shown as it was written.
func leftover(shown []byte) string {
	for i := 0; i+1 < len(shown); i++ {
		switch pair := string(shown[i : i+2]); {
		case pair[0] == '\\':
			i++
		case pair == "**" || pair == "~~":
			return fmt.Sprintf("%s is not closed, or has a space on its inner side; \\%c\\%c shows the signs themselves", pair, pair[0], pair[1])
		case pair == "](":
			return "the address of a link is not complete: [words](https://...)"
		}
	}
	return ""
}
