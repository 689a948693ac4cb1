package archive_test

import (
	"strings"
	"testing"

	"supportbot/.ci/package/archive"
)

const entry = "package main\n\nfunc Handler() error { return nil }\n\nfunc main() {}\n"

func TestCheck(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		function string
		files    map[string]string // but the entry file
		entry    string
		want     string // "": no error
	}{
		"right":             {"f", nil, entry, ""},
		"dot in the name":   {"f.v2", nil, entry, "no dot"},
		"no main":           {"f", nil, strings.Replace(entry, "func main() {}", "", 1), "no func main"},
		"main is a method":  {"f", nil, strings.Replace(entry, "func main()", "type T int\n\nfunc (T) main()", 1), "no func main"},
		"no handler":        {"f", nil, strings.Replace(entry, "Handler", "handler", 1), "no func Handler"},
		"other package":     {"f", nil, strings.Replace(entry, "package main", "package f", 1), "wants main"},
		"no Go":             {"f", nil, "func", "parse"},
		"no entry file":     {"f", nil, "", "not in the archive"},
		"repository":        {"f", map[string]string{".git/HEAD": ""}, entry, ".git"},
		"submodule":         {"f", map[string]string{"vendor/x/.git": ""}, entry, ".git"},
		"no repository":     {"f", map[string]string{"vendor/x/.gitignore": ""}, entry, ""},
		"outside":           {"f", map[string]string{"../x.go": ""}, entry, "outside"},
		"outside, absolute": {"f", map[string]string{"/x.go": ""}, entry, "outside"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var files []archive.File
			for n, text := range tc.files {
				files = append(files, archive.File{Name: n, Data: []byte(text)})
			}
			if tc.entry != "" {
				files = append(files, archive.File{Name: "functions/" + tc.function + "/main.go", Data: []byte(tc.entry)})
			}
			err := archive.Check(files, tc.function)
			if (err == nil) != (tc.want == "") || (err != nil && !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestCheck_Twice(t *testing.T) {
	t.Parallel()
	f := archive.File{Name: "functions/f/main.go", Data: []byte(entry)}
	if err := archive.Check([]archive.File{f, f}, "f"); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("got %v, want that a file is there twice", err)
	}
}

func TestGoLines(t *testing.T) {
	t.Parallel()
	for line, ok := range map[string]bool{
		"": true, "1.17": true, "1.23": true, "1.23.0": true, "1.23.9": true, "1.23.10": false, "1.24": false, "1.24.0": false, "2.0": false,
	} {
		if err := archive.CheckGoLines(map[string]string{"m": line}); (err == nil) != ok {
			t.Errorf("go %s: got %v, want it accepted: %t", line, err, ok)
		}
	}
	err := archive.CheckGoLines(map[string]string{"one": "1.24", "two": "1.25", "right": "1.23"})
	if err == nil || !strings.Contains(err.Error(), "one") || !strings.Contains(err.Error(), "two") || strings.Contains(err.Error(), "right") {
		t.Errorf("got %v, want both modules named", err)
	}
}
