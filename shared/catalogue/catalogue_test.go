package catalogue_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/catalogue"
	"supportbot/shared/env"
	"supportbot/shared/ticket"
)

func load(t *testing.T, source string) *catalogue.Catalogue {
	t.Helper()
	c, err := catalogue.Load(catalogue.Config{Source: source, Queue: "SUP"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLoad_BuiltIn(t *testing.T) {
	t.Parallel()
	c := load(t, "")
	if len(c.Categories) == 0 {
		t.Fatal("no categories")
	}
	for _, g := range c.Categories {
		if g.Queue != "SUP" {
			t.Errorf("category %s: got queue %q, want the default one", g.Key, g.Queue)
		}
	}
	if got, want := c.Queues(), []string{"SUP"}; !cmp.Equal(got, want) {
		t.Errorf("queues: got %v, want %v", got, want)
	}
}

const own = `{
  "categories": [
    {"key": "printer", "title": {"ru": "Принтер", "en": "Printer"}, "queue": "IT", "type": "bug", "priority": "minor"},
    {"key": "other", "title": {"ru": "Другое", "en": "Other"}, "type": "task", "priority": "normal"}
  ],
  "statuses": {"waitingForVendor": {"text": {"ru": "Ждём поставщика", "en": "Waiting for the vendor"}, "phase": "open"},
               "closed": {"text": {"ru": "Готово", "en": "Done"}, "phase": "resolved"}}
}`

func TestLoad_Override(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "catalogue.json")
	if err := os.WriteFile(file, []byte("\ufeff"+own), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, source := range map[string]string{"document": "\n " + own, "file": file} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := load(t, source)
			if got, want := c.Queues(), []string{"IT", "SUP"}; !cmp.Equal(got, want) {
				t.Errorf("queues: got %v, want %v", got, want)
			}
			if _, ok := c.Category("problem"); ok {
				t.Error("a built-in category is still there")
			}
			g, ok := c.Category("printer")
			if !ok || g.Title.In("en") != "Printer" || g.Title.In("fr") != "Принтер" {
				t.Errorf("category printer: got %+v, %v", g, ok)
			}
			if got := c.Status("closed", "done", ""); got.Phase != ticket.PhaseResolved {
				t.Errorf("closed: got phase %q, want the override's", got.Phase)
			}
			if got := c.Status("open", "", ""); got.Text.In("en") != "Received" {
				t.Errorf("open: got %q, want the built-in text", got.Text.In("en"))
			}
		})
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	c := load(t, own)
	tests := []struct {
		name, key, kind, display string
		text                     string
		phase                    ticket.Phase
	}{
		{"listed key", "inProgress", "inProgress", "In Progress", "В работе", ticket.PhaseOpen},
		{"listed custom key", "waitingForVendor", "", "Vendor", "Ждём поставщика", ticket.PhaseOpen},
		{"unknown key, known type", "shipped", "done", "Отгружено", "Отгружено", ticket.PhaseResolved},
		{"unknown key, known type, no name", "shipped", "cancelled", "", "Отменено", ticket.PhaseClosed},
		{"unknown altogether", "weird", "", "Странный", "Странный", ticket.PhaseOpen},
		{"unknown and nameless", "weird", "strange", "", "weird", ticket.PhaseOpen},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := c.Status(tt.key, tt.kind, tt.display)
			if got.Text.In("ru") != tt.text || got.Phase != tt.phase {
				t.Errorf("got %q %q, want %q %q", got.Text.In("ru"), got.Phase, tt.text, tt.phase)
			}
		})
	}
}

func TestLoad_Problems(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, source, queue string
		want                []string // all in one error
	}{
		{"everything at once", `{"categories": [
			{"key": "Ключ", "title": {"ru": "` + strings.Repeat("ы", 41) + `", "de": "x"}, "queue": "sup"},
			{"key": "a", "title": {"ru": "А", "en": "A"}, "queue": "SUP", "type": "t", "priority": "p"},
			{"key": "a", "title": {"ru": "А", "en": "A"}, "queue": "SUP", "type": "t", "priority": "p"}],
			"statuses": {"x": {"text": {"ru": "X"}, "phase": "done"}},
			"types": {"finished": {"text": {"ru": "X", "en": "X"}, "phase": "open"}}}`, "SUP", []string{
			`category 1 ("Ключ"): the key`, `"ru" has 41 characters`, `"en" is missing`, `"de" is none of the languages`, `queue "sup"`,
			"type is missing", "priority is missing", `category 3 ("a"): the key is there twice`,
			`status "x": phase "done"`, `status "x": text: "en" is missing`, `status type "finished"`,
		}},
		{"no categories", `{"categories": []}`, "SUP", []string{"there are none"}},
		{"no queue at all", "", "", []string{`queue ""`}},
		{"unknown key", `{"categoriez": []}`, "SUP", []string{"CATALOGUE: ", "categoriez"}},
		{"broken", "{\n\"categories\": [,]}", "SUP", []string{"line 2"}},
		{"wrong type", "{\n\n\"categories\": 5}", "SUP", []string{"line 3"}},
		{"two documents", "{}{}", "SUP", []string{"after the document's end"}},
		{"no such file", "/nowhere/catalogue.json", "SUP", []string{"read CATALOGUE", "/nowhere/catalogue.json"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := catalogue.Load(catalogue.Config{Source: tt.source, Queue: tt.queue})
			if err == nil {
				t.Fatal("got no error")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want it to say %q", err, want)
				}
			}
		})
	}
}

func TestConfigFrom(t *testing.T) {
	t.Parallel()
	vars := map[string]string{"CATALOGUE": "{}", "TRACKER_QUEUE": "HELP"}
	r := env.NewReaderFrom(func(name string) (string, bool) { v, ok := vars[name]; return v, ok })
	if got, want := catalogue.ConfigFrom(r), (catalogue.Config{Source: "{}", Queue: "HELP"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
