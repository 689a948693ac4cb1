package archive_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supportbot/.ci/package/archive"
	"supportbot/.ci/package/builder"
)

// root is the module's folder.
const root = "../../.."

func collect(t *testing.T, function string, vendor bool) []archive.File {
	t.Helper()
	files, err := archive.Collect(context.Background(), root, function, vendor)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func has(files []archive.File, prefix string) bool {
	return slices.ContainsFunc(files, func(f archive.File) bool { return strings.HasPrefix(f.Name, prefix) })
}

// A function's archive has what it needs, embedded files too, and nothing else.
func TestCollect(t *testing.T) {
	t.Parallel()
	files := collect(t, "migrate", true)
	for _, want := range []string{
		"go.mod", "go.sum", "functions/migrate/main.go", "functions/migrate/wire/wire.go", "migrations/postgres/00001_",
		"vendor/modules.txt", "vendor/github.com/jackc/pgx/v5/conn.go",
	} {
		if !has(files, want) {
			t.Errorf("%s is not in the archive", want)
		}
	}
	for _, f := range files {
		for _, unwanted := range []string{"functions/local", "functions/telegram", "redis", "miniredis", "_test.go", "telegram-bot-api", ".ci/"} {
			if strings.Contains(strings.ToLower(f.Name), unwanted) {
				t.Errorf("%s is in the archive", f.Name)
			}
		}
	}
}

func TestCollect_Sources(t *testing.T) {
	t.Parallel()
	files := collect(t, "migrate", false)
	if has(files, "vendor/") || !has(files, "functions/migrate/main.go") {
		t.Errorf("got %d files, want those of the module alone", len(files))
	}
}

// copySources copies a folder without what was installed into it.
func copySources(from, to string) error {
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == "node_modules" {
			return fs.SkipDir
		}
		within, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, within), 0o750)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, within), data, 0o600)
	})
}

// A change renews the archives that it is in, and no others: neither one of another
// function nor one of a module that a function does not need.
func TestCollect_OnlyItsOwn(t *testing.T) {
	t.Parallel()
	copied := t.TempDir()
	for _, folder := range []string{"functions", "shared", "migrations"} {
		if err := copySources(filepath.Join(root, folder), filepath.Join(copied, folder)); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, more string) {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(root, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(copied, name), append(data, more...), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	functions := []string{"migrate", "tracker-handler"}
	pack := func() (sums []string) {
		t.Helper()
		for _, name := range functions {
			files, err := archive.Collect(context.Background(), copied, name, true)
			if err != nil {
				t.Fatal(err)
			}
			data, err := archive.Zip(files)
			if err != nil {
				t.Fatal(err)
			}
			sums = append(sums, fmt.Sprintf("%x", sha256.Sum256(data)))
		}
		return sums
	}
	write("go.mod", "")
	write("go.sum", "")
	before := pack()
	write("go.mod", "\nexclude github.com/yuin/goldmark v1.0.0\n") // which none of them needs
	write("go.sum", "github.com/nobody/needs v1.0.0 h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n")
	if diff := cmp.Diff(before, pack()); diff != "" {
		t.Errorf("a module that none of them needs (-before +after):\n%s", diff)
	}
	write("functions/migrate/wire/wire.go", "\n// changed\n")
	after := pack()
	if after[0] == before[0] || after[1] != before[1] {
		t.Errorf("a file of migrate: before %q, after %q of %q", before, after, functions)
	}
}

// What is left of go.mod, go.sum and modules.txt is consistent: the go command takes it.
func TestCollect_Vendored(t *testing.T) {
	t.Parallel()
	data, err := archive.Zip(collect(t, "tracker-handler", true))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := archive.Unpack(data, dir); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.Background(), "go", "list", "-deps", "-mod=vendor", "-tags", builder.Tag, archive.Package("tracker-handler"))
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOPROXY=off", "GOMODCACHE="+t.TempDir(), "GOFLAGS=", "GOWORK=off", "GOTOOLCHAIN=local")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil || !strings.Contains(string(mod), "jackc/pgx") || strings.Contains(string(mod), "goose") || strings.Contains(string(mod), "go-cmp") {
		t.Errorf("go.mod names other modules than it needs, %v:\n%s", err, mod)
	}
}

func TestCollect_NoSuchFunction(t *testing.T) {
	t.Parallel()
	if _, err := archive.Collect(context.Background(), root, "nothing", true); err == nil {
		t.Error("got no error")
	}
}

// The same files give the same bytes: whatever the clock and the files' own times.
func TestZip_SameBytes(t *testing.T) {
	t.Parallel()
	pack := func() []byte {
		data, err := archive.Zip(collect(t, "migrate", true))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	first := pack()
	if !bytes.Equal(first, pack()) {
		t.Error("two archives of the same files differ")
	}
	r, err := zip.NewReader(bytes.NewReader(first), int64(len(first)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range r.File {
		names = append(names, f.Name)
		if f.Mode() != 0o644 || f.Modified.Year() != 1980 {
			t.Errorf("%s: mode %v, time %v", f.Name, f.Mode(), f.Modified)
		}
	}
	if !slices.IsSorted(names) {
		t.Error("the files are in no order")
	}
}

func TestZip_Unpack(t *testing.T) {
	t.Parallel()
	want := []archive.File{{Name: "a/b/c.go", Data: []byte("package c")}, {Name: "go.mod", Data: []byte("module m")}}
	data, err := archive.Zip(want)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := archive.Unpack(data, dir); err != nil {
		t.Fatal(err)
	}
	for _, f := range want {
		got, err := os.ReadFile(filepath.Join(dir, f.Name))
		if diff := cmp.Diff(f.Data, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", f.Name, err, diff)
		}
	}
}

func TestUnpack_LeadsOut(t *testing.T) {
	t.Parallel()
	data, err := archive.Zip([]archive.File{{Name: "../out.txt", Data: []byte("x")}})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "in")
	if err := archive.Unpack(data, dir); err == nil {
		t.Error("got no error")
	}
	if _, err := os.Stat(filepath.Join(dir, "..", "out.txt")); err == nil {
		t.Error("a file was written outside of the folder")
	}
}

func TestZip_TooLarge(t *testing.T) {
	t.Parallel()
	noise := make([]byte, builder.MaxArchive)
	for i, x := 0, uint32(1); i < len(noise); i++ {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		noise[i] = byte(x)
	}
	if _, err := archive.Zip([]archive.File{{Name: "noise", Data: noise}}); err == nil {
		t.Error("got no error")
	}
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	names, err := archive.Functions(root)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(names, "telegram-webhook") || slices.Contains(names, "local") {
		t.Errorf("functions %v, want the deployed ones", names)
	}
	half := t.TempDir()
	if err := os.MkdirAll(filepath.Join(half, "functions", "half", "wire"), 0o755); err != nil {
		t.Fatal(err)
	}
	if names, err := archive.Functions(half); err == nil || !strings.Contains(err.Error(), "half") {
		t.Errorf("a function without a main.go: got %v, %v, want an error that names it", names, err)
	}
	if got, want := archive.Entrypoint("migrate"), "functions/migrate/main.Handler"; got != want {
		t.Errorf("entry point: got %s, want %s", got, want)
	}
}
