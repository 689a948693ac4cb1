package archive

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/version"
	"slices"
	"strings"

	"supportbot/.ci/package/builder"
)

// goLines refuses modules that the cloud's Go would refuse.
func goLines(mods []module) error {
	var all []error
	for _, m := range mods {
		if m.GoVersion != "" && version.Compare("go"+m.GoVersion, builder.GoVersion) > 0 {
			all = append(all, fmt.Errorf("module %s wants go %s, the cloud has %s", m.Path, m.GoVersion, builder.GoVersion))
		}
	}
	return errors.Join(all...)
}

// check holds an archive's files against the rules whose breach shows only after
// the upload, if at all: a failed build leaves the old version in place, with a
// warning.
func check(files []File, function string) error {
	entry := entryFile(function)
	if strings.Contains(strings.TrimSuffix(entry, ".go"), ".") {
		return fmt.Errorf("%s: an entry point's path may have no dot but the one before the handler", entry)
	}
	var source []byte
	for i, f := range files {
		parts := strings.Split(f.Name, "/")
		switch {
		case slices.Contains(parts, ".git"):
			return fmt.Errorf("%s: a repository in an archive breaks the build", f.Name)
		case slices.Contains(parts, "..") || parts[0] == "":
			return fmt.Errorf("%s: outside of the archive", f.Name)
		case i > 0 && files[i-1].Name == f.Name:
			return fmt.Errorf("%s: twice in the archive", f.Name)
		case f.Name == entry:
			source = f.Data
		}
	}
	return checkEntry(entry, source)
}

// checkEntry wants package main with Handler and main. Without main a plugin
// builds all the same, and the function cannot be built or vetted as a program.
func checkEntry(name string, source []byte) error {
	if source == nil {
		return fmt.Errorf("%s: not in the archive", name)
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("parse entry point: %w", err)
	}
	if file.Name.Name != "main" {
		return fmt.Errorf("%s: package %s, the cloud wants main", name, file.Name.Name)
	}
	for _, want := range []string{"Handler", "main"} {
		if !slices.ContainsFunc(file.Decls, func(d ast.Decl) bool { return isFunc(d, want) }) {
			return fmt.Errorf("%s: no func %s", name, want)
		}
	}
	return nil
}

func isFunc(d ast.Decl, name string) bool {
	f, ok := d.(*ast.FuncDecl)
	return ok && f.Recv == nil && f.Name.Name == name
}
