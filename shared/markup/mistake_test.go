package markup_test

import (
	"strings"
	"testing"

	"supportbot/shared/markup"
)

func TestMistakes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		markdown string
		want     string // begins so; "" is none
	}{
		"plain":                 {"Вышла новая версия 2*3 = 6 & <ещё>", ""},
		"all that there is":     {"# Заголовок\n\n**жирный** *курсив* ~~нет~~ `**код**` [сайт](https://example.com)\n\n- пункт", ""},
		"a block of code":       {"```\na ** b ](\n```", ""},
		"escaped":               {`2 \*\* 3 и \]\(`, ""},
		"mail":                  {"[почта](mailto:a@example.com)", ""},
		"not closed":            {"Вышла **новая версия", "** is not closed"},
		"opened by a space":     {"Вышла ** новая** версия", "** is not closed"},
		"struck, not closed":    {"было ~~так", "~~ is not closed"},
		"script":                {"[нажми](javascript:alert(1))", "a link leads"},
		"no scheme":             {"[сайт](example.com)", "a link leads"},
		"picture to nowhere":    {"![](/ajax/1)", "a link leads"},
		"an address, cut":       {"[сайт](https://example.com", "the address of a link"},
		"after emphasis":        {"**жирный** и **нет", "** is not closed"},
		"more than is parsed":   {strings.Repeat("**", 30_000), ""},
		"text without anything": {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := markup.Mistakes(tc.markdown)
			if tc.want == "" && len(got) > 0 || tc.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], tc.want)) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
