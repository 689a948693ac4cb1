package telegram_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/markup"
)

// entity is formatting of a part of a text, found by its words.
type entity struct{ kind, words, more string }

// formatted gives a message's fields: entities count UTF-16 code units.
func formattedText(text string, entities ...entity) string {
	var list []string
	for _, e := range entities {
		before, _, _ := strings.Cut(text, e.words)
		raw, _ := json.Marshal(map[string]any{"type": e.kind, "offset": units(before), "length": units(e.words)})
		list = append(list, strings.TrimSuffix(string(raw), "}")+e.more+"}")
	}
	quoted, _ := json.Marshal(text)
	return `,"text":` + string(quoted) + `,"entities":[` + strings.Join(list, ",") + `]`
}

func TestReceive_Formatting(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text     string
		entities []entity
		want     string
	}{
		"none":                    {"a *b*", nil, ""},
		"what is found anyway":    {"a https://b.ru #c @d /e", []entity{{"url", "https://b.ru", ""}, {"hashtag", "#c", ""}, {"mention", "@d", ""}, {"bot_command", "/e", ""}}, ""},
		"hidden":                  {"a secret", []entity{{"spoiler", "secret", ""}}, ""},
		"bold":                    {"a <b> *c* d", []entity{{"bold", "*c*", ""}}, `a \<b\> **\*c\*** d`},
		"behind emoji":            {"😀👩‍👩‍👧 b c", []entity{{"bold", "b", ""}}, "😀👩‍👩‍👧 **b** c"},
		"italic, struck, under":   {"a b c", []entity{{"italic", "a", ""}, {"strikethrough", "b", ""}, {"underline", "c", ""}}, "_a_ ~~b~~ ++c++"},
		"nested":                  {"a b c", []entity{{"bold", "a b c", ""}, {"italic", "b", ""}}, "**a _b_ c**"},
		"spaces stay outside":     {"a b c", []entity{{"bold", " b ", ""}}, "a **b** c"},
		"over two lines":          {"a\nb", []entity{{"bold", "a\nb", ""}}, "**a**\\\n**b**"},
		"over two paragraphs":     {"a\n\nb", []entity{{"bold", "a\n\nb", ""}}, "**a**\n\n**b**"},
		"code":                    {"x a*`b y", []entity{{"code", "a*`b", ""}}, "x ``a*`b`` y"},
		"a block of code":         {"x\nif a {\n  b\n}\ny", []entity{{"pre", "if a {\n  b\n}", `,"language":"go"`}}, "x\n\n```go\nif a {\n  b\n}\n```\n\ny"},
		"a link":                  {"see docs.", []entity{{"text_link", "docs", `,"url":"https://a.ru/?b=1&c=(2)"`}}, "see [docs](<https://a.ru/?b=1&c=(2)>)."},
		"somebody without a name": {"hi Иван", []entity{{"text_mention", "Иван", `,"user":{"id":1099511627781}`}}, "hi [Иван](<tg://user?id=1099511627781>)"},
		"a quotation":             {"x\na\nb\ny", []entity{{"blockquote", "a\nb", ""}}, "x\n\n> a\\\n> b\n\ny"},
		"where Markdown has none": {"ab.c", []entity{{"italic", "b", ""}}, ""},
		"out of bounds":           {"a", []entity{{"bold", "a", `,"offset":1,"length":9`}, {"bold", "a", `,"offset":-5`}, {"bold", "a", `,"offset":9223372036854775807`}}, ""},
		"between surrogates":      {"😀a", []entity{{"bold", "a", `,"offset":1,"length":1`}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events, _, err := receive(offline(t), said(formattedText(tt.text, tt.entities...)))
			if err != nil || len(events) != 1 || events[0].Text != tt.text {
				t.Fatalf("got %+v, %v, want the text", events, err)
			}
			if diff := cmp.Diff(tt.want, events[0].Markdown); diff != "" {
				t.Errorf("Markdown (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReceive_FormattingOfCaptions(t *testing.T) {
	t.Parallel()
	events, _, err := receive(offline(t), said(`,"caption":"a b","caption_entities":[{"type":"bold","offset":2,"length":1}],"document":{"file_id":"x"}`))
	if err != nil || len(events) != 1 || events[0].Text != "a b" || events[0].Markdown != "a **b**" {
		t.Errorf("got %+v, %v, want the caption with its formatting", events, err)
	}
}

// Whatever is formatted how: an agent reads the customer's very words.
func TestReceive_FormattingLosesNoWords(t *testing.T) {
	t.Parallel()
	kinds := []string{"bold", "italic", "underline", "strikethrough", "code", "pre", "blockquote", "text_link", "spoiler"}
	pieces := []string{"a", "бв", " ", "\n", "\n\n", "*", "_", "`", "<b>", "&amp;", "😀", "- ", "1. ", "> ", "|", "[x](y)", "\\", "https://a.ru/_b_"}
	bot, formatted := offline(t), 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 5))
		text := "x"
		for range 1 + r.IntN(20) {
			text += pieces[r.IntN(len(pieces))]
		}
		text += "y"
		var list []map[string]any
		for range 1 + r.IntN(4) {
			offset := r.IntN(units(text))
			list = append(list, map[string]any{
				"type": kinds[r.IntN(len(kinds))], "offset": offset, "length": 1 + r.IntN(units(text)-offset), "url": "https://b.ru",
			})
		}
		fields, err := json.Marshal(map[string]any{"text": text, "entities": list})
		if err != nil {
			t.Fatal(err)
		}
		events, _, err := receive(bot, said(","+strings.Trim(string(fields), "{}")))
		if err != nil || len(events) != 1 || events[0].Text != text {
			t.Fatalf("got %+v, %v, want %q", events, err, text)
		}
		markdown := events[0].Markdown
		if markdown == "" {
			continue
		}
		formatted++
		if got, want := words(markdown), words(markup.Escape(text)); got != want {
			t.Errorf("%s\nis written %q\nand read %q\nwant     %q", fields, markdown, got, want)
		}
	}
	if formatted < 90 {
		t.Errorf("only %d of 300 texts kept any formatting", formatted)
	}
}

// words gives what a reader of Markdown reads, without the addresses of links and
// the signs of quotations.
func words(markdown string) string {
	text := ""
	for _, p := range markup.VK(markdown, 1<<20) {
		text += p.Text
	}
	text = strings.NewReplacer(" (https://b.ru)", "", ">", "").Replace(text)
	return strings.Join(strings.Fields(text), "")
}

func FuzzFormatting(f *testing.F) {
	f.Add("a😀b c", "bold", 1, 2, "italic", 0, 4)
	f.Add("x\ny\n\nz", "pre", 0, 3, "blockquote", 2, 9)
	bot := offline(f)
	f.Fuzz(func(t *testing.T, text, kind1 string, offset1, length1 int, kind2 string, offset2, length2 int) {
		text = string(utf16.Decode(utf16.Encode([]rune(text)))) // as JSON carries it
		if text == "" {
			return
		}
		fields, err := json.Marshal(map[string]any{"text": text, "entities": []map[string]any{
			{"type": kind1, "offset": offset1, "length": length1, "url": "https://b.ru"},
			{"type": kind2, "offset": offset2, "length": length2, "url": "https://b.ru"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		events, _, err := receive(bot, said(","+string(fields[1:len(fields)-1])))
		if err != nil || len(events) != 1 || events[0].Text != text {
			t.Errorf("got %+v, %v, want %q", events, err, text)
		}
	})
}

// Formatting beyond what a message can have costs neither the words nor minutes.
func TestReceive_FormattingWithoutEnd(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a\n", 20_000)
	var entities []entity
	for i := range 2000 {
		entities = append(entities, entity{[]string{"bold", "italic"}[i%2], text, ""})
	}
	events, _, err := receive(offline(t), said(formattedText(text, entities...)))
	if err != nil || len(events) != 1 || events[0].Text != text || events[0].Markdown != "" {
		t.Fatalf("got %d events, %v, want the text alone", len(events), err)
	}
}
