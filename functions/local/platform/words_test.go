package platform_test

import (
	"os"
	"strings"
	"testing"
)

// TestConsole_HasWordsForWhatIsDone: operators read of each kind of job, and of each of its
// steps, in both languages, and may choose each kind.
func TestConsole_HasWordsForWhatIsDone(t *testing.T) {
	t.Parallel()
	static := root + "/shared/console/static/"
	all := kinds(t)
	if len(all) < 15 {
		t.Errorf("the test sees too little: %d kinds", len(all))
	}
	for _, file := range []string{"ru.js", "en.js"} {
		words := source(t, static+file)
		for name, kind := range all {
			if !strings.Contains(words, "'job.kind."+name+"': ") {
				t.Errorf("%s has no words for the kind %s", file, name)
			}
			for _, stage := range kind.Stages {
				if !strings.Contains(words, "'job.stage."+stage+"': ") {
					t.Errorf("%s has no words for the step %s of %s", file, stage, name)
				}
			}
		}
	}
	chosen := source(t, static+"jobs/words.js")
	for name := range all {
		if !strings.Contains(chosen, "'"+name+"'") {
			t.Errorf("nobody can choose the kind %s", name)
		}
	}
}

func source(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
