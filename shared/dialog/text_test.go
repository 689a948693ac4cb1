package dialog_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/dialog"
)

func book(t *testing.T, language string) map[string]string {
	t.Helper()
	raw, err := os.ReadFile("texts/" + language + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var b map[string]string
	if err := json.Unmarshal(raw, &b); err != nil {
		t.Fatal(err)
	}
	return b
}

func keys(m map[string]string) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

func TestTexts_SameInEveryLanguage(t *testing.T) {
	t.Parallel()
	ru, en := book(t, "ru"), book(t, "en")
	if diff := cmp.Diff(keys(ru), keys(en)); diff != "" {
		t.Fatalf("keys differ (-ru +en):\n%s", diff)
	}
	placeholder := regexp.MustCompile(`\{[a-z]+\}`)
	for key := range ru {
		a, b := placeholder.FindAllString(ru[key], -1), placeholder.FindAllString(en[key], -1)
		sort.Strings(a)
		sort.Strings(b)
		if !slices.Equal(a, b) {
			t.Errorf("%s: placeholders %v and %v", key, a, b)
		}
		if ru[key] == "" || en[key] == "" {
			t.Errorf("%s: is empty", key)
		}
	}
}

// TestTexts_Used finds phrases that nothing says and keys that no phrase has.
func TestTexts_Used(t *testing.T) {
	t.Parallel()
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, name := range append(sources, "../conversation/finish.go") {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(raw)
	}
	ru := book(t, "ru")
	built := regexp.MustCompile(`^(menu|unsupported)\.`) // keys put together from parts
	for key := range ru {
		if !built.MatchString(key) && !strings.Contains(code.String(), `"`+key+`"`) {
			t.Errorf("%s: is never said", key)
		}
	}
	said := regexp.MustCompile(`(?:say|note|toast|acknowledge)\("([a-z_.]+)"`)
	for _, m := range said.FindAllStringSubmatch(code.String(), -1) {
		if _, ok := ru[m[1]]; !ok {
			t.Errorf("%s: has no phrase", m[1])
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, got, want string }{
		{"english", dialog.Text("en", "button.menu"), "Menu"},
		{"unknown language", dialog.Text("fr", "button.menu"), "Меню"},
		{"unknown key", dialog.Text("ru", "nothing.like.it"), "nothing.like.it"},
		{"a value is no template", dialog.Text("en", "page.line", "n", "{status}", "ticket", "{n}", "status", "x"), "{status}. {n} – x"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, tt.got, tt.want)
		}
	}
}

func TestLocale(t *testing.T) {
	t.Parallel()
	tests := []struct{ chosen, told, want string }{
		{"en", "ru", "en"}, {"", "en", "en"}, {"", "", "ru"}, {"de", "de", "ru"}, {"de", "en", "en"},
	}
	for _, tt := range tests {
		if got := dialog.Locale(tt.chosen, tt.told); got != tt.want {
			t.Errorf("Locale(%q, %q): got %q, want %q", tt.chosen, tt.told, got, tt.want)
		}
	}
}
