// Package archive lays out functions as the builder of Cloud Functions takes
// them: a zip of the packages that the function needs and no others, the same of a
// vendor folder, and the lines of go.mod and go.sum that are of their modules. The builder has to keep its files in
// memory, so each that is left out counts twice.
package archive

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// File is a file of an archive; its name has slashes and begins at the root.
type File struct {
	Name string
	Data []byte
}

// Functions gives the names of the deployed functions below root, in order: all
// folders but local. One without an entry point is an error.
func Functions(root string) ([]string, error) {
	folders, err := os.ReadDir(filepath.Join(root, "functions"))
	if err != nil {
		return nil, fmt.Errorf("list functions: %w", err)
	}
	var names []string
	for _, f := range folders {
		name := f.Name()
		if !f.IsDir() || name == "local" {
			continue
		}
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(entryFile(name)))); err != nil {
			return nil, fmt.Errorf("function %s: %w", name, err)
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no functions below %s", root)
	}
	return names, nil
}

// Package is the function's package as the go command takes it at the root.
func Package(function string) string { return "./" + path.Dir(entryFile(function)) }

// Entrypoint is the function's entry point as the cloud takes it.
func Entrypoint(function string) string {
	return strings.TrimSuffix(entryFile(function), ".go") + ".Handler"
}

func entryFile(function string) string { return "functions/" + function + "/main.go" }

// Collect gives the files of a function's archive, by name, from the module at
// root. Without vendor the builder has to download the modules, and go.mod and go.sum
// are whole: which other modules it looks at is its own choice.
//
// It is an error if the files break a rule of the builder.
func Collect(ctx context.Context, root, function string, vendor bool) ([]File, error) {
	packages, err := dependencies(ctx, root, Package(function))
	if err != nil {
		return nil, err
	}
	mods, err := modules(ctx, root)
	if err != nil {
		return nil, err
	}
	if err := goLines(mods); err != nil {
		return nil, err
	}
	files, err := read(nil, root, "", "go.mod", "go.sum")
	if err != nil {
		return nil, err
	}
	for i := range packages {
		p := &packages[i]
		folder := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, mods[0].Path), "/")
		if !p.Module.Main {
			folder = "vendor/" + p.ImportPath
		}
		if p.Module.Main || vendor {
			if files, err = read(files, p.Dir, folder, p.files()...); err != nil {
				return nil, err
			}
		}
	}
	if vendor {
		mods = needed(mods, packages)
		files[0].Data, files[1].Data = goMod(mods), goSum(files[1].Data, mods)
		files = append(files, File{"vendor/modules.txt", modulesTxt(mods[1:], packages)})
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return files, check(files, function)
}

func read(files []File, dir, folder string, names ...string) ([]File, error) {
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("read file of archive: %w", err)
		}
		files = append(files, File{path.Join(folder, filepath.ToSlash(name)), data})
	}
	return files, nil
}
