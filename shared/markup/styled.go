package markup

import (
	"slices"
	"strings"
)

// style is a way in which text is shown.
type style struct {
	kind styleKind
	arg  string // link: the address; pre: the language, may be empty
}

type styleKind int

const (
	bold styleKind = iota + 1
	italic
	underline
	strike
	code
	pre
	link
	quote
)

// run is text in one combination of styles, the outermost first.
type run struct {
	text   string
	styles []style
}

// styledText is what Markdown means: text and how it is shown. Line breaks are
// part of the text.
type styledText []run

func (t styledText) styled() bool {
	return slices.ContainsFunc(t, func(r run) bool { return len(r.styles) > 0 })
}

// plain gives the text alone.
func (t styledText) plain() string {
	var b strings.Builder
	for _, r := range t {
		b.WriteString(r.text)
	}
	return b.String()
}

// add appends text.
func (t styledText) add(text string, styles []style) styledText {
	if text == "" {
		return t
	}
	return append(t, run{text, styles})
}

// joined makes one run of neighbours that look the same.
func (t styledText) joined() styledText {
	var out styledText
	for len(t) > 0 {
		n := 1
		for n < len(t) && slices.Equal(t[n].styles, t[0].styles) {
			n++
		}
		out = append(out, run{t[:n].plain(), t[0].styles})
		t = t[n:]
	}
	return out
}

// slice gives the bytes from start to end.
func (t styledText) slice(start, end int) styledText {
	var part styledText
	at := 0
	for _, r := range t {
		from, to := max(start-at, 0), min(end-at, len(r.text))
		if from < to {
			part = append(part, run{r.text[from:to], r.styles})
		}
		at += len(r.text)
	}
	return part
}

// common gives how many styles a and b share from the outside in.
func common(a, b []style) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// find gives the style of a kind.
func find(styles []style, kind styleKind) (style, bool) {
	i := slices.IndexFunc(styles, func(s style) bool { return s.kind == kind })
	if i < 0 {
		return style{}, false
	}
	return styles[i], true
}
