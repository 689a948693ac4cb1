// Command licences lists the licences of all modules that are linked into the
// functions and of the libraries that are shipped with their pages, and fails on one
// that is not allowed or not known. It reads the module cache alone.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

func main() {
	all, err := list(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	bad := 0
	for _, p := range all {
		names, problem := p.licences()
		_, _ = fmt.Fprintf(out, "%s\t%s\t%s\n", p.name, strings.Join(names, ", "), problem)
		if problem != "" {
			bad++
		}
	}
	_ = out.Flush()
	if bad > 0 || len(all) == 0 {
		fmt.Fprintf(os.Stderr, "licences: %d of %d are not as they have to be\n", bad, len(all))
		os.Exit(1)
	}
}

// part is something that is shipped under somebody's licence.
type part struct{ name, dir string }

func list(ctx context.Context) ([]part, error) {
	all, err := modules(ctx)
	if err != nil {
		return nil, err
	}
	return append(all, libraries("shared")...), nil
}

// modules gives the modules whose packages a function links, each once.
func modules(ctx context.Context) (all []part, err error) {
	var problems bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}", "./functions/...")
	cmd.Stderr = &problems
	raw, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, problems.String())
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	slices.Sort(lines)
	for _, line := range slices.Compact(lines) {
		if name, dir, ok := strings.Cut(line, "\t"); ok {
			all = append(all, part{name, dir})
		}
	}
	return all, nil
}

// libraries gives the folders below root with scripts of somebody else's, which come
// packed.
func libraries(root string) (all []part) {
	_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.Name() == "node_modules" || e.Name() == "testdata": // of tests
			return fs.SkipDir
		case strings.HasSuffix(path, ".min.js"):
			all = append(all, part{path, filepath.Dir(path)})
		}
		return nil
	})
	return all
}

// licences reads the licences of a part, and says what is wrong with them; "": nothing.
func (p part) licences() (names []string, problem string) {
	files, err := os.ReadDir(p.dir)
	if err != nil {
		return nil, err.Error()
	}
	for _, f := range files {
		if f.IsDir() || !isLicence(f.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(p.dir, f.Name()))
		if err != nil {
			return nil, err.Error()
		}
		found := classify(string(text))
		if len(found) == 0 {
			problem = "what " + f.Name() + " says is not known here"
		}
		names = append(names, found...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, n := range names {
		if !slices.Contains(allowed, n) {
			problem = n + " is not allowed"
		}
	}
	if len(names) == 0 && problem == "" {
		problem = "there is no licence"
	}
	return names, problem
}

func isLicence(file string) bool {
	name := strings.ToUpper(file)
	return strings.HasPrefix(name, "LICEN") || strings.HasPrefix(name, "COPYING") || strings.HasPrefix(name, "UNLICENSE")
}
