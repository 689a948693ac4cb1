package markup

import "strings"

// html writes the text in Telegram's HTML, each tag closed and well nested.
func (t styledText) html() string {
	var b strings.Builder
	var open []style
	for _, r := range t {
		kept := common(open, r.styles)
		closeTags(&b, open[kept:])
		for _, s := range r.styles[kept:] {
			b.WriteString(openTag(s))
		}
		open = r.styles
		b.WriteString(escapeHTML(r.text))
	}
	closeTags(&b, open)
	return b.String()
}

func closeTags(b *strings.Builder, styles []style) {
	for i := len(styles) - 1; i >= 0; i-- {
		b.WriteString(closeTag(styles[i]))
	}
}

func openTag(s style) string {
	switch {
	case s.kind == link:
		return `<a href="` + escapeHTML(s.arg) + `">`
	case s.kind == pre && s.arg != "":
		return `<pre><code class="language-` + escapeHTML(s.arg) + `">`
	}
	return "<" + tagName(s.kind) + ">"
}

func closeTag(s style) string {
	if s.kind == pre && s.arg != "" {
		return "</code></pre>"
	}
	return "</" + tagName(s.kind) + ">"
}

func tagName(kind styleKind) string {
	switch kind {
	case bold:
		return "b"
	case italic:
		return "i"
	case underline:
		return "u"
	case strike:
		return "s"
	case code:
		return "code"
	case pre:
		return "pre"
	case link:
		return "a"
	}
	return "blockquote"
}

// escapeHTML escapes what Telegram's parser takes for markup, in the only named
// entities that it knows.
func escapeHTML(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
}

// cost gives the bytes that a character takes in HTML.
func cost(r rune, size int) int {
	switch r {
	case '&':
		return len("&amp;")
	case '<', '>':
		return len("&lt;")
	case '"':
		return len("&quot;")
	}
	return size
}
