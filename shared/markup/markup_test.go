package markup_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/markup"
	"supportbot/shared/messenger"
)

func TestRender(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ markdown, html, plain string }{
		"words":             {"Hello, мир!", "Hello, мир!", "Hello, мир!"},
		"what HTML escapes": {"a < b && c > \"d\"", "a < b && c > \"d\"", "a < b && c > \"d\""},
		"escaped in markup": {"**a < b & c > \"d\"**", "<b>a &lt; b &amp; c &gt; &quot;d&quot;</b>", "a < b & c > \"d\""},
		"bold and italic":   {"**a *b* c** __d__ _e_", "<b>a <i>b</i> c</b> <b>d</b> <i>e</i>", "a b c d e"},
		"strike, underline": {"~~a~~ ++b++ ==c== ~d~ 1+1", "<s>a</s> <u>b</u> <b>c</b> ~d~ 1+1", "a b c ~d~ 1+1"},
		"code":              {"`a <b> **c**` ##d##", "<code>a &lt;b&gt; **c**</code> <code>d</code>", "a <b> **c** d"},
		"code inside bold":  {"**a `b` c**", "<b>a </b><code>b</code><b> c</b>", "a b c"},
		"names of functions": {
			"use my_long_name and __init__.py, 2*3*4", "use my_long_name and <b>init</b>.py, 2<i>3</i>4", "use my_long_name and init.py, 234",
		},
		"a block of code": {
			"look:\n\n```go\nif a < b {\n\n\tc()\n}\n```\nend",
			"look:\n\n<pre><code class=\"language-go\">if a &lt; b {\n\n\tc()\n}</code></pre>\n\nend", "look:\n\nif a < b {\n\n\tc()\n}\n\nend",
		},
		"code without a language":    {"```\na\n```", "<pre>a</pre>", "a"},
		"a language that is none":    {"```\"><x\na\n```", "<pre>&quot;&gt;&lt;x\na</pre>", "\"><x\na"},
		"code that is not closed":    {"```\na", "<pre>a</pre>", "a"},
		"a link":                     {"see [the *docs*](https://a.ru/x?a=1&b=2 \"title\").", `see <a href="https://a.ru/x?a=1&amp;b=2">the <i>docs</i></a>.`, "see the docs (https://a.ru/x?a=1&b=2)."},
		"a link that names itself":   {"[a.ru](https://a.ru/) [https://b.ru](https://b.ru)", `<a href="https://a.ru/">a.ru</a> <a href="https://b.ru">https://b.ru</a>`, "a.ru https://b.ru"},
		"a link without words":       {"[](https://a.ru)", `<a href="https://a.ru">https://a.ru</a>`, "https://a.ru"},
		"bare addresses":             {"https://a.ru/__init__/x_y_z, www.b.ru/_c_ <https://d.ru> me_too_@e.ru", "https://a.ru/__init__/x_y_z, www.b.ru/_c_ https://d.ru me_too_@e.ru", "https://a.ru/__init__/x_y_z, www.b.ru/_c_ https://d.ru me_too_@e.ru"},
		"an address inside Tracker":  {"[file](/ajax/v2/attachments/1) [x](javascript:alert(1))", "file x", "file x"},
		"an address with a quote":    {`[a](https://a.ru/"onclick=1)`, `<a href="https://a.ru/&quot;onclick=1">a</a>`, `a (https://a.ru/"onclick=1)`},
		"a picture":                  {"![the button](https://a.ru/b.png)", `<a href="https://a.ru/b.png">the button</a>`, "the button (https://a.ru/b.png)"},
		"a picture with a size":      {"![a_b_](https://a.ru/b.png =300x200) ![x](/ajax/1 \"t\" =50%x)", `<a href="https://a.ru/b.png">a_b_</a> x`, "a_b_ (https://a.ru/b.png) x"},
		"a reference is no link":     {"[1]: https://a.ru\n\nsee [1]", "[1]: https://a.ru\n\nsee [1]", "[1]: https://a.ru\n\nsee [1]"},
		"headings":                   {"# A *b*\ntext\n\nC\n---\nd", "<b>A <i>b</i></b>\n\ntext\n\n<b>C</b>\n\nd", "A b\n\ntext\n\nC\n\nd"},
		"line breaks":                {"a\nb  \nc\\\nd\n\n\ne", "a\nb\nc\nd\n\ne", "a\nb\nc\nd\n\ne"},
		"a line":                     {"a\n\n---\n\nb", "a\n\n———\n\nb", "a\n\n———\n\nb"},
		"a list":                     {"- a\n- b\n  c\n\nd", "• a\n• b\n   c\n\nd", "• a\n• b\n   c\n\nd"},
		"a numbered list":            {"3. a\n4. b\n   1) c\n      - d\n5. e", "3. a\n4. b\n   1) c\n      • d\n5. e", "3. a\n4. b\n   1) c\n      • d\n5. e"},
		"a list with paragraphs":     {"* a\n\n  b\n\n* **c**\n", "• a\n   b\n• <b>c</b>", "• a\n   b\n• c"},
		"code in a list":             {"- a\n  ```\n  x\n    y\n  ```\n- b", "• a\n   <pre>x\n  y</pre>\n• b", "• a\n   x\n  y\n• b"},
		"a quotation":                {"> a\n> **b**\n>\n> > c\n\nd", "<blockquote>a\n<b>b</b>\n\nc</blockquote>\n\nd", "> a\n> b\n> \n> c\n\nd"},
		"two quotations":             {"> a\n\n<!-- -->\n\n> b", "<blockquote>a</blockquote>\n\n&lt;!-- --&gt;\n\n<blockquote>b</blockquote>", "> a\n\n<!-- -->\n\n> b"},
		"a link in a quotation":      {"> [a](https://b.ru)", `<blockquote><a href="https://b.ru">a</a></blockquote>`, "> a (https://b.ru)"},
		"HTML is text":               {"<b>a</b> <script>*b*</script>\n\n<div>\n**c**\n</div>", "&lt;b&gt;a&lt;/b&gt; &lt;script&gt;<i>b</i>&lt;/script&gt;\n\n&lt;div&gt;\n<b>c</b>\n&lt;/div&gt;", "<b>a</b> <script>b</script>\n\n<div>\nc\n</div>"},
		"entities":                   {"&lt;b&gt; &copy; &#8212; &unknown; &amp;amp; \\&amp;", "<b> © — &unknown; &amp; &amp;", "<b> © — &unknown; &amp; &amp;"},
		"a table":                    {"| A | B |\n|---|:-:|\n| c | **d** |\n| [e](https://f.ru) | g \\| h |", "<b>A | B</b>\nc | <b>d</b>\n<a href=\"https://f.ru\">e</a> | g | h", "A | B\nc | d\ne (https://f.ru) | g | h"},
		"a note":                     {"{% note warning \"Careful\" %}\n\nDo *not*.\n\n{% endnote %}\n\nend", "⚠️ <b>Careful</b>\nDo <i>not</i>.\n\nend", "⚠️ Careful\nDo not.\n\nend"},
		"a note without blank lines": {"a\n{% note alert %}\nb\n{% endnote %}\nc", "a\n\n❗ b\n\nc", "a\n\n❗ b\n\nc"},
		"a cut":                      {"{% cut \"More\" %}\n\na\n\n{% endcut %}", "<b>More</b>\na", "More\na"},
		"a frame that is none":       {"{% include x %}\n\n{% note", "{% include x %}\n\n{% note", "{% include x %}\n\n{% note"},
		"colours":                    {"{red}(a (b) **c**) {x}(d) {red}(e", "a (b) <b>c</b> {x}(d) {red}(e", "a (b) c {x}(d) {red}(e"},
		"emoji":                      {"**👩‍👩‍👧‍👦** 🇷🇺", "<b>👩‍👩‍👧‍👦</b> 🇷🇺", "👩‍👩‍👧‍👦 🇷🇺"},
		"broken UTF-8":               {"a\xffb\x00c\r\nd", "a\uFFFDbc\nd", "a\uFFFDbc\nd"},
		"nothing":                    {" \n\n{% endcut %}\n", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var html, fallback, plain string
			for _, p := range markup.Telegram(tt.markdown, 4096) {
				html += p.Text
				fallback = p.Plain
				if !p.HTML {
					fallback = p.Text
				}
			}
			for _, p := range markup.VK(tt.markdown, 4096) {
				plain += p.Text
			}
			if diff := cmp.Diff([]string{tt.html, tt.plain, tt.plain}, []string{html, fallback, plain}); diff != "" {
				t.Errorf("Telegram, its fallback, VK (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTelegram_SaysWhetherItIsHTML(t *testing.T) {
	t.Parallel()
	got := append(markup.Telegram("a < b", 100), markup.Telegram("**a** < b", 100)...)
	want := []messenger.Part{{Text: "a < b"}, {Text: "<b>a</b> &lt; b", HTML: true, Plain: "a < b"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestVK_MentionsAreInert(t *testing.T) {
	t.Parallel()
	for markdown, want := range map[string]string{
		"\\[id1|Pavel\\], @id5 (x) \\*club7 [id2|y]":  "[\u200bid1|Pavel], @\u200bid5 (x) *\u200bclub7 [\u200bid2|y]",
		"[CLUB1|x] [@id1]":                            "[\u200bCLUB1|x] [@\u200bid1]",
		"https://vk.com/@club1-article me@ideal.ru":   "https://vk.com/@club1-article me@ideal.ru",
		"[docs](https://vk.com/@club1-article) [a|b]": "docs (https://vk.com/@club1-article) [a|b]",
	} {
		parts := markup.VK(markdown, 4096)
		if len(parts) != 1 || parts[0].Text != want || parts[0].HTML {
			t.Errorf("%q: got %+v, want %q", markdown, parts, want)
		}
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text  string
		limit int
		want  []string
	}{
		"one":                        {"  *a* <b> ", 20, []string{"  *a* <b>"}},
		"exactly":                    {"abcde", 5, []string{"abcde"}},
		"at a paragraph":             {"aaaa\nbb\n\ncc dd", 12, []string{"aaaa\nbb", "cc dd"}},
		"many empty lines":           {"aaaaaaaa\n\n\n\n\nbbb", 10, []string{"aaaaaaaa", "bbb"}},
		"a paragraph that just fits": {"aaaa bbbb\n\ncc", 9, []string{"aaaa bbbb", "cc"}},
		"at a line":                  {"aaaa bb\n  cc dd", 12, []string{"aaaa bb", "  cc dd"}},
		"at a word":                  {"aaaa bbbb cccc", 11, []string{"aaaa bbbb", "cccc"}},
		"a word that just fits":      {"aaaa bbbb cccc", 9, []string{"aaaa bbbb", "cccc"}},
		"early paragraphs":           {"a\n\nbbbb bbbb bbbb", 11, []string{"a\n\nbbbb", "bbbb bbbb"}},
		"inside a word":              {"aaaaaaaaaa", 4, []string{"aaaa", "aaaa", "aa"}},
		"not at a no-break space":    {"aaa b\u00a0c d", 6, []string{"aaa", "b\u00a0c d"}},
		"surrogate pairs":            {"😀😀😀", 5, []string{"😀😀", "😀"}},
		"a pair over the limit":      {"😀😀", 1, []string{"😀", "😀"}},
		"a family":                   {"aa👩‍👩‍👧", 9, []string{"aa", "👩‍👩‍👧"}},
		"a family over the limit":    {"👩‍👩‍👧", 5, []string{"👩‍👩", "‍👧"}},
		"skin":                       {"aa👍🏽", 4, []string{"aa", "👍🏽"}},
		"accents":                    {"aae\u0301", 3, []string{"aa", "e\u0301"}},
		"flags":                      {"🇷🇺🇷🇺", 7, []string{"🇷🇺", "🇷🇺"}},
		"only white space":           {" \n \t\u2003 ", 10, nil},
		"only what is not seen":      {"\u200b\u202e\ufeff\x01", 10, nil},
		"much that is not seen":      {"a " + strings.Repeat("\u202e", 30) + " b", 10, []string{"a", "b"}},
		"much white space":           {"a" + strings.Repeat(" ", 30) + "b", 10, []string{"a", "b"}},
		"nothing":                    {"", 10, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, p := range markup.Plain(tt.text, tt.limit) {
				got = append(got, p.Text)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTelegram_SplitsInsideMarkup(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		markdown string
		limit    int
		want     []string
	}{
		"tags are closed and opened again": {
			"x **aaa *bbb ccc* ddd**", 9, []string{"x <b>aaa <i>bbb</i></b>", "<b><i>ccc</i> ddd</b>"},
		},
		"a link":              {"[aaa bbb](https://c.ru)", 4, []string{`<a href="https://c.ru">aaa</a>`, `<a href="https://c.ru">bbb</a>`}},
		"code keeps its form": {"```go\naaaa\n  bb\n```", 6, []string{`<pre><code class="language-go">aaaa</code></pre>`, `<pre><code class="language-go">  bb</code></pre>`}},
		"entities count once": {"**&&&&**", 4, []string{"<b>&amp;&amp;&amp;&amp;</b>"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, p := range markup.Telegram(tt.markdown, tt.limit) {
				got = append(got, p.Text)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
