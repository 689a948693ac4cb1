package markup_test

import (
	"fmt"
	"html"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"supportbot/shared/markup"
	"supportbot/shared/messenger"
)

// writer writes random Markdown whose words are numbered, so that a lost or a
// moved one is noticed.
type writer struct {
	*rand.Rand
	words []string
}

func (w *writer) word() string {
	word := fmt.Sprintf("w%dя", len(w.words))
	w.words = append(w.words, word)
	return word + []string{"", "<", "&", "😀", "👩‍👩‍👧‍👦", "&amp;", "\\*", ">"}[w.IntN(8)]
}

func (w *writer) phrase(depth int) string {
	var parts []string
	for range 1 + w.IntN(4) {
		format := []string{"%s", "%s", "**%s**", "*%s*", "~~%s~~", "++%s++", "[%s](https://a.ru/b?c=1&d=2)", "{red}(%s)"}[w.IntN(8)]
		if depth > 3 {
			format = "%s"
		}
		if depth <= 3 && w.IntN(3) == 0 && !strings.HasPrefix(format, "[") {
			parts = append(parts, fmt.Sprintf(format, w.phrase(depth+1)))
			continue
		}
		parts = append(parts, fmt.Sprintf(format, w.word()))
	}
	return strings.Join(parts, " ")
}

func (w *writer) block(depth int) string {
	switch w.IntN(9) {
	case 0:
		return "# " + w.phrase(0)
	case 1:
		return "- " + w.phrase(0) + "\n- " + w.phrase(0) + "\n  1. " + w.phrase(0)
	case 2:
		if depth < 3 {
			return "> " + strings.ReplaceAll(w.block(depth+1), "\n", "\n> ")
		}
	case 3:
		return "```go\n" + w.word() + "\n  " + w.word() + "\n```"
	case 4:
		return "| " + w.phrase(0) + " | " + w.phrase(0) + " |\n|---|---|\n| " + w.phrase(0) + " | " + w.phrase(0) + " |"
	case 5:
		return "{% note tip \"" + w.word() + "\" %}\n\n" + w.phrase(0) + "\n\n{% endnote %}"
	case 6:
		return w.phrase(0) + "\n" + w.phrase(0)
	}
	return w.phrase(0)
}

func (w *writer) document() string {
	var blocks []string
	for range 1 + w.IntN(8) {
		blocks = append(blocks, w.block(0))
	}
	return strings.Join(blocks, "\n\n")
}

// Whatever the markup and wherever it is cut: every word arrives, in order and
// whole, in well-formed parts within the limit.
func TestRender_LosesNoWords(t *testing.T) {
	t.Parallel()
	numbered := regexp.MustCompile(`w\d+я`)
	for seed := range uint64(200) {
		w := &writer{Rand: rand.New(rand.NewPCG(seed, 7))}
		document := w.document()
		limit := 12 + w.IntN(120)
		readings := map[string]string{}
		for _, p := range markup.Telegram(document, limit) {
			readings["Telegram"] += checked(t, p, limit) + "\n"
			if p.HTML {
				readings["its fallback"] += p.Plain + "\n"
			} else {
				readings["its fallback"] += p.Text + "\n"
			}
		}
		for _, p := range markup.VK(document, limit) {
			readings["VK"] += checked(t, p, limit) + "\n"
		}
		for name, reading := range readings {
			if got := numbered.FindAllString(reading, -1); !slices.Equal(got, w.words) {
				t.Fatalf("%s, limit %d: %q\ngot words %v\nwant %v", name, limit, document, got, w.words)
			}
		}
	}
}

func FuzzRender(f *testing.F) {
	for seed := range uint64(5) {
		w := &writer{Rand: rand.New(rand.NewPCG(seed, 3))}
		f.Add(w.document(), 40)
	}
	f.Add("{red}((]\\&#10;[![]", 1)
	f.Fuzz(func(t *testing.T, markdown string, limit int) {
		limit = 20 + max(limit, -limit)&0xFFF
		for _, parts := range [][]messenger.Part{markup.Telegram(markdown, limit), markup.VK(markdown, limit), markup.Plain(markdown, limit)} {
			for _, p := range parts {
				checked(t, p, limit)
			}
		}
	})
}

// Telegram refuses much markup in one message, and leaves out what goes beyond a
// hundred entities.
func TestTelegram_BoundsMarkup(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("*a* ", 1000)
	long := strings.Repeat("[a](https://a.ru/"+strings.Repeat("x", 1500)+") ", 32)
	for name, markdown := range map[string]string{"many": many, "long": long, "characters": "**" + strings.Repeat("&", 4096) + "**"} {
		read := ""
		for _, p := range markup.Telegram(markdown, 4096) {
			read += checked(t, p, 4096)
			if n := strings.Count(p.Text, "<") / 2; n > 100 || len(p.Text) > 30_000 {
				t.Errorf("%s: got a part with %d tags and %d bytes, want at most 100 and 30,000", name, n, len(p.Text))
			}
		}
		if got, want := strings.Count(read, "a")+strings.Count(read, "&"), strings.Count(markdown, "a]")+strings.Count(markdown, "*a")+strings.Count(markdown, "&"); got != want {
			t.Errorf("%s: got %d characters, want %d", name, got, want)
		}
	}
}

// Hostile texts take no more time and memory than others of their length.
func TestRender_HostileTextsEnd(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{"[", "![](", "*a", "**_", "> ", ">", "- ", "{red}(", "`", "++", "#", "<a", "&#1;", "| ", "\n", "a\n=", "1. ", "()", "\u0301", "🇷", "[a](b", "{% note %}\n", "~~"} {
		text := strings.Repeat(piece, 6_000/len(piece))
		markup.Telegram(text, 4096)
		markup.VK(text, 4096)
		markup.Escape(text)
	}
	long := strings.Repeat("> ", 1<<20) + "**end**"
	parts := markup.Telegram(long, 4096)
	if last := parts[len(parts)-1]; last.HTML || !strings.HasSuffix(last.Text, "**end**") {
		t.Errorf("got %+v, want the end as it was written", last)
	}
}

// What would cost more than it is worth is text: nothing of it is lost.
func TestRender_BoundsStructure(t *testing.T) {
	t.Parallel()
	table := func(columns, rows int) string {
		return strings.Repeat("|a", columns) + "\n" + strings.Repeat("|-", columns) + strings.Repeat("\nb", rows)
	}
	for name, tt := range map[string]struct {
		markdown, want string
	}{
		"quotations":      {strings.Repeat(">", 100) + " deep", "> " + strings.Repeat(">", 60) + " deep"},
		"lists":           {strings.Repeat("- ", 100) + "deep", "- - deep"},
		"a table":         {table(3, 2), "b |  | "},
		"a wide table":    {table(100, 100), strings.Repeat("|-", 100) + "\nb"},
		"a table of none": {table(9_000, 5_000), strings.Repeat("|-", 1000)},
		"colours":         {"{red}(" + strings.Repeat("x", 4096) + ")", "{red}(xx"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			for _, p := range markup.VK(tt.markdown, 4096) {
				got += p.Text + "\n"
			}
			if !strings.Contains(got, tt.want) {
				t.Errorf("got %.500q, want it to contain %.300q", got, tt.want)
			}
		})
	}
}

var htmlTag = regexp.MustCompile(`<(/?)(b|i|u|s|code|pre|a|blockquote)( href="[^"<>]*"| class="language-[A-Za-z0-9+_.#-]+")?>`)

// checked gives what a customer reads of a part, after a look at its form.
func checked(t *testing.T, p messenger.Part, limit int) string {
	t.Helper()
	text := p.Text
	if p.HTML {
		text = wellFormed(t, p.Text)
		if length(p.Plain) > limit || p.Plain == "" {
			t.Errorf("part %q has a fallback of %d units, want 1 to %d", p.Text, length(p.Plain), limit)
		}
	}
	if !utf8.ValidString(text) || length(text) > limit || strings.TrimSpace(text) == "" || strings.TrimRightFunc(text, unicode.IsSpace) != text {
		t.Errorf("part %q is empty, longer than %d or ragged", text, limit)
	}
	return text
}

// wellFormed strips tags, each of which has to be closed in order, and decodes
// entities, beside which there may be no bare "<", ">" or "&".
func wellFormed(t *testing.T, markup string) string {
	t.Helper()
	var open []string
	text := htmlTag.ReplaceAllStringFunc(markup, func(tag string) string {
		m := htmlTag.FindStringSubmatch(tag)
		if m[1] == "" {
			open = append(open, m[2])
			return ""
		}
		if len(open) == 0 || open[len(open)-1] != m[2] {
			t.Errorf("%q: </%s> closes nothing", markup, m[2])
			return ""
		}
		open = open[:len(open)-1]
		return ""
	})
	if len(open) > 0 {
		t.Errorf("%q: %v stay open", markup, open)
	}
	if bare := regexp.MustCompile(`[<>]|&(?:[^aglq]|$)`).FindString(text); bare != "" {
		t.Errorf("%q: bare %q", markup, bare)
	}
	return html.UnescapeString(text)
}

func length(s string) int { return len(utf16.Encode([]rune(s))) }
