package markup_test

import (
	"bytes"
	"html"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"supportbot/shared/markup"
)

func TestEscape(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, want string }{
		"words":               {"Не работает касса, срочно!", "Не работает касса, срочно!"},
		"markup":              {"<b>&amp; *_[x](y)`", "\\<b\\>\\&amp; \\*\\_\\[x\\](y)\\`"},
		"two lines":           {"one\ntwo", "one\\\ntwo"},
		"two paragraphs":      {"one\n\ntwo", "one\n\ntwo"},
		"many empty lines":    {"one\n\n\n \ntwo", "one\n\n\\\n\\\ntwo"},
		"carriage returns":    {"one\r\ntwo\rthree", "one\\\ntwo\\\nthree"},
		"a list":              {"- a\n2. b\n+ c", "\\- a\\\n2\\. b\\\n\\+ c"},
		"hyphens in words":    {"все-таки 10-20", "все-таки 10-20"},
		"indentation":         {"if:\n    x  y", "if:\\\n\u00a0\u00a0\u00a0\u00a0x\u00a0 y"},
		"a mention":           {"@ivanov, me@a.ru", "\\@ivanov, me\\@a.ru"},
		"a frame":             {`{% note "x" %}`, `\{\% note "x" \%\}`},
		"an address":          {"see https://a.ru/x_y_z?a=1&copy=2.", "see <https://a.ru/x_y_z?a=1&copy=2>."},
		"address in brackets": {"(https://ru.wikipedia.org/wiki/Foo_(bar))", "(<https://ru.wikipedia.org/wiki/Foo_(bar)>)"},
		"no address":          {"xhttps://a.ru http:// ftp://a.b www.a_b.ru", "xhttps\\://a.ru http\\:// ftp\\://a.b www\\.a\\_b.ru"},
		"an emoticon":         {"hi :) at 12:30: no", "hi \\:) at 12:30: no"},
		"nothing":             {" \n\t\n ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := markup.Escape(tt.text)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			showsExactly(t, tt.text)
		})
	}
}

// What the customer wrote is what the agent reads, to the last character.
func TestEscape_LongAndNasty(t *testing.T) {
	t.Parallel()
	const nasty = "<&_*[ `~]>😀#|!{%}@\\-+=^$:\"'().1"
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var b strings.Builder
		for n := 0; n < 4096; {
			r := []rune(nasty)[random.IntN(len([]rune(nasty)))]
			b.WriteRune(r)
			n += len(utf16.Encode([]rune{r}))
		}
		showsExactly(t, b.String())
	}
}

func FuzzEscape(f *testing.F) {
	for _, seed := range []string{
		"a *b* _c_ <d> &amp; [e](f) `g`\n- h\n1. i\n\n\n    j\n> k\n# l\n---\n===\n|m|n|\n|-|-|", "https://a.b/(x)_y*z*",
		"[a]: http://b\n[^1]: c\n: d", "www.a.b ftp://c.d e@f.g", "\\\n\\\\\n`", "{% cut %}\n{red}(x)\n++a++ ##b##", "\u2028\v\f\r\x00\xff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { showsExactly(t, text) })
}

// showsExactly renders escaped text with a Markdown implementation that knows
// more than CommonMark, and with this package's own.
func showsExactly(t *testing.T, text string) {
	t.Helper()
	escaped := markup.Escape(text)
	want := visible(text)
	if diff := cmp.Diff(want, read(t, escaped)); diff != "" {
		t.Errorf("%q escaped as %q is read as (-want +got):\n%s", text, escaped, diff)
	}
	own := ""
	for _, p := range markup.VK(escaped, 1<<20) {
		own += p.Text
	}
	if diff := cmp.Diff(visible(markup.Inert(want)), visible(own)); diff != "" {
		t.Errorf("%q escaped as %q is read here as (-want +got):\n%s", text, escaped, diff)
	}
}

// visible is what a person sees of a text: no white space at the ends of lines,
// and of the text.
func visible(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "", "\v", "\n", "\f", "\n", "\u0085", "\n",
		"\u2028", "\n", "\u2029", "\n\n").Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		rest := strings.TrimLeft(line, " \t")
		lines[i] = strings.ReplaceAll(line[:len(line)-len(rest)], "\t", "    ") + rest
	}
	return strings.ReplaceAll(strings.TrimRight(strings.TrimLeft(strings.Join(lines, "\n"), "\n"), "\n \u00a0"), "\u00a0", " ")
}

var (
	tag      = regexp.MustCompile(`</?([a-z0-9]+)[^>]*>`)
	expected = regexp.MustCompile(`^(p|br|a)$`)
)

// read renders Markdown and reads the page.
func read(t *testing.T, markdown string) string {
	t.Helper()
	var page bytes.Buffer
	md := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote, extension.DefinitionList, extension.NewCJK()))
	if err := md.Convert([]byte(markdown), &page); err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("<br />\n", "\n", "<br>\n", "\n", "</p>\n<p>", "\n\n").Replace(page.String())
	for _, m := range tag.FindAllStringSubmatch(text, -1) {
		if !expected.MatchString(m[1]) {
			t.Errorf("%q is shown with %s", markdown, m[0])
		}
	}
	return visible(html.UnescapeString(tag.ReplaceAllString(text, "")))
}
