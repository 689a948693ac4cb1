package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is printed is true of the file that was written.
func TestRun(t *testing.T) {
	t.Parallel()
	sizes := map[string]int{}
	for name, args := range map[string][]string{"vendor": nil, "sources": {"-sources"}} {
		dir := t.TempDir()
		var out bytes.Buffer
		args = append(args, "-root", "../..", "-out", dir, "migrate")
		if err := run(context.Background(), args, &out); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, "migrate.zip"))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		got, want := strings.Fields(lines[len(lines)-1]), []string{"migrate", fmt.Sprint(len(data)), fmt.Sprintf("%x", sha256.Sum256(data))}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s: printed %q, want %q", name, got, want)
		}
		sizes[name] = len(data)
	}
	if sizes["sources"]*5 > sizes["vendor"] {
		t.Errorf("sizes %v, want the sources alone to be far smaller", sizes)
	}
}

func TestRun_Refuses(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"no such function": {"-root", "../..", "-out", t.TempDir(), "nothing"},
		"no module":        {"-root", t.TempDir(), "-out", t.TempDir()},
		"no such flag":     {"-nothing"},
	} {
		if err := run(context.Background(), args, &bytes.Buffer{}); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}
