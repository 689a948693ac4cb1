package telegram

import (
	"testing"
	"unicode/utf8"
)

// Whatever a bot sends, its entities lie within the text, and what the page shows
// reads as the text again.
func FuzzHTML(f *testing.F) {
	f.Add(`<b>a</b>&lt;&#x44f; <a href='x.y'>z</a> <pre><code class="language-go">q</code></pre>`)
	f.Add(" <i a = b>/x @abcde https://a.b/c</i>\t\r\n#x")
	detect := newDetector()
	f.Fuzz(func(t *testing.T, in string) {
		if !utf8.ValidString(in) {
			return
		}
		text, entities, err := parseHTML(in)
		if err != nil {
			return
		}
		text, entities = tidy(text, entities)
		entities = detect.add(text, entities)
		for _, e := range entities {
			if e.Offset < 0 || e.Length <= 0 || e.end() > units(text) {
				t.Errorf("%+v lies outside of %q", e, text)
			}
		}
		again, _, err := parseHTML(HTML(text, entities))
		if err != nil || again != text {
			t.Errorf("got %q and %v, want %q", again, err, text)
		}
	})
}
