package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// streamOf gives what go test -json writes about a package of one test file.
func streamOf(t *testing.T, body string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module sample\n\ngo 1.23.0\n", "sample_test.go": "package sample\n\nimport \"testing\"\n\n" + body,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "test", "-json", "-timeout=2s", "./...")
	cmd.Dir = dir
	out, _ := cmd.Output() // that tests fail is what is looked at
	return string(out)
}

func TestJudge(t *testing.T) {
	t.Parallel()
	const pass = "func TestPass(t *testing.T) {}\n"
	tests := map[string]struct{ body, shown, err string }{
		"passes":         {pass, "ok  \tsample", ""},
		"fails":          {pass + `func TestFail(t *testing.T) { t.Run("sub", func(t *testing.T) { t.Error("because") }) }`, "because", "failed: sample TestFail/sub"},
		"skipped":        {pass + `func TestSkip(t *testing.T) { t.Log("before"); t.Skip("no server") }`, "1 skipped", "skipped: sample TestSkip: no server"},
		"skipped within": {`func TestSkip(t *testing.T) { t.Run("sub", func(t *testing.T) { t.SkipNow() }) }`, "1 skipped", "skipped: sample TestSkip/sub: no reason given"},
		"does not apply": {pass + `func TestSkip(t *testing.T) { t.Skip("does not apply: no limit") }`, "1 did not apply", ""},
		"panics":         {pass + `func TestPanic(t *testing.T) { panic("as it does") }`, "as it does", "failed: sample TestPanic"},
		"never ends":     {pass + `func TestHang(t *testing.T) { t.Log("waits"); select {} }`, "waits", "failed: sample"},
		"does not build": {`func TestBuild(t *testing.T) { missing() }`, "", "failed: sample"},
		"nothing ran":    {"var _ = testing.Short\n", "", "no test ran"},
		"ends early":     {pass + "func TestMain(m *testing.M) { _ = m }\n", "", "no test ran"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			err := judge(strings.NewReader(streamOf(t, tc.body)), &out)
			if (err == nil) != (tc.err == "") || (err != nil && !strings.Contains(err.Error(), tc.err)) {
				t.Errorf("got %v, want %q", err, tc.err)
			}
			if !strings.Contains(out.String(), tc.shown) {
				t.Errorf("shown: %q, want %q", out.String(), tc.shown)
			}
		})
	}
}

// Why tests failed is said at the end again, without their logs.
func TestJudge_EndsWithWhy(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := judge(strings.NewReader(streamOf(t, `func TestFail(t *testing.T) { t.Error("because"); t.Log("\na log") }`)), &out); err == nil {
		t.Error("no error")
	}
	_, end, _ := strings.Cut(out.String(), " failed\n")
	if !strings.Contains(end, "sample_test.go:5: because") || strings.Contains(end, "a log") {
		t.Errorf("the end is %q", end)
	}
}

// What passed is one line a package; what a test that passed said is not shown.
func TestJudge_IsShort(t *testing.T) {
	t.Parallel()
	var in, out strings.Builder
	for _, e := range []event{
		{"output", "p", "TestA", "noise\n", 0}, {"pass", "p", "TestA", "", 0},
		{"output", "p", "", "-test.shuffle 1\n", 0}, {"output", "p", "", "PASS\n", 0}, {"output", "p", "", "ok  \tp\t1s\n", 0}, {"pass", "p", "", "", 0},
		{"output", "q", "", "?   \tq\t[no test files]\n", 0}, {"skip", "q", "", "", 0},
	} {
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	if err := judge(strings.NewReader(in.String()), &out); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "ok  \tp\t1s\n1 tests passed, 0 did not apply, 0 skipped, 0 failed\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What takes long is named, the longest first; parts of a test are within it.
func TestJudge_NamesTheSlowest(t *testing.T) {
	t.Parallel()
	var in, out strings.Builder
	for _, e := range []event{
		{"pass", "p", "TestA", "", 12}, {"pass", "p", "TestB/part", "", 40}, {"pass", "p", "TestB", "", 45.25}, {"pass", "p", "TestC", "", 1},
		{"pass", "p", "", "", 60},
	} {
		raw, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(raw, '\n'))
	}
	if err := judge(strings.NewReader(in.String()), &out); err != nil {
		t.Fatal(err)
	}
	if want := "  60.0 s p\n  45.2 s p TestB\n  12.0 s p TestA\n4 tests passed"; !strings.HasPrefix(out.String(), want) {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
