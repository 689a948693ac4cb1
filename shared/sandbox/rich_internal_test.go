package sandbox

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/sandbox/telegram"
)

func TestEntityTree(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text     string
		entities []telegram.Entity
		want     string
	}{
		"none":   {"a <b>", nil, `[{"x":"a \u003cb\u003e"}]`},
		"nested": {"abcd", []telegram.Entity{{Type: "italic", Offset: 1, Length: 2}, {Type: "bold", Offset: 0, Length: 4}}, `[{"t":"b","c":[{"x":"a"},{"t":"i","c":[{"x":"bc"}]},{"x":"d"}]}]`},
		"emoji":  {"😀 a", []telegram.Entity{{Type: "bold", Offset: 3, Length: 1}}, `[{"x":"😀 "},{"t":"b","c":[{"x":"a"}]}]`},
		"link":   {"here", []telegram.Entity{{Type: "text_link", Offset: 0, Length: 4, URL: "https://example.com/"}}, `[{"t":"a","u":"https://example.com/","c":[{"x":"here"}]}]`},
		"code":   {"here", []telegram.Entity{{Type: "text_link", Offset: 0, Length: 4, URL: "javascript:alert(1)"}}, `[{"t":"span","c":[{"x":"here"}]}]`},
		"bare":   {"example.com", []telegram.Entity{{Type: "url", Offset: 0, Length: 11}}, `[{"t":"a","u":"https://example.com","c":[{"x":"example.com"}]}]`},
		"beyond": {"ab", []telegram.Entity{{Type: "bold", Offset: 1, Length: 5}, {Type: "bold", Offset: -1, Length: 1}}, `[{"x":"ab"}]`},
		"across": {"abcd", []telegram.Entity{{Type: "bold", Offset: 0, Length: 3}, {Type: "italic", Offset: 2, Length: 2}}, `[{"t":"b","c":[{"x":"ab"},{"t":"i","c":[{"x":"c"}]}]},{"x":"d"}]`},
		"same":   {"ab", []telegram.Entity{{Type: "bold", Offset: 0, Length: 2}, {Type: "code", Offset: 0, Length: 2}}, `[{"t":"b","c":[{"t":"code","c":[{"x":"ab"}]}]}]`},
	} {
		got, err := json.Marshal(entityTree(c.text, c.entities))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, string(got)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestLinkTree(t *testing.T) {
	t.Parallel()
	got, err := json.Marshal(linkTree("(см. https://example.com/a?b=1), да javascript:alert(1)"))
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"x":"(см. "},{"t":"a","u":"https://example.com/a?b=1","c":[{"x":"https://example.com/a?b=1"}]},{"x":"), да javascript:alert(1)"}]`
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Error(d)
	}
}

// FuzzEntityTree: whatever the entities are, the words are the text.
func FuzzEntityTree(f *testing.F) {
	f.Add("a😀b https://example.com", 0, 3, 2, 5)
	f.Add("ab", -1, 9, 1, 1)
	f.Fuzz(func(t *testing.T, text string, a, b, c, d int) {
		if !utf8.ValidString(text) {
			t.Skip("Telegram's texts are valid")
		}
		tree := entityTree(text, []telegram.Entity{{Type: "bold", Offset: a, Length: b}, {Type: "text_link", Offset: c, Length: d, URL: text}})
		if got := wordsOf(tree); strings.ReplaceAll(got, "\ufffd", "") != strings.ReplaceAll(text, "\ufffd", "") && !halves(text) {
			t.Errorf("got %q, want %q", got, text)
		}
	})
}

// halves reports whether an entity could end inside a character.
func halves(text string) bool { return len(utf16of(text)) != utf8.RuneCountInString(text) }

// FuzzMarkdownTree: nothing but known tags and safe addresses comes out.
func FuzzMarkdownTree(f *testing.F) {
	f.Add("**a** [b](javascript:x) <script> `c`\n\n| a |\n|---|\n| b |\n\n* x\n  1. y")
	f.Add("&#0; \\& &lt; <https://example.com> <a@example.com>")
	f.Fuzz(func(t *testing.T, markdown string) { checkTree(t, markdownTree(markdown)) })
}

func checkTree(t *testing.T, nodes []node) {
	t.Helper()
	for _, n := range nodes {
		switch n.Tag {
		case "", "a", "b", "i", "s", "p", "br", "hr", "ul", "ol", "li", "span", "code", "pre", "quote", "table", "tr", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6":
		default:
			t.Errorf("got tag %q", n.Tag)
		}
		if n.URL != "" && (n.Tag != "a" || n.URL != safeURL(n.URL)) {
			t.Errorf("got address %q on %q", n.URL, n.Tag)
		}
		checkTree(t, n.Inside)
	}
}

func wordsOf(nodes []node) string {
	var b strings.Builder
	for _, n := range nodes {
		b.WriteString(n.Text + wordsOf(n.Inside))
	}
	return b.String()
}
