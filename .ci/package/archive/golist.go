package archive

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"supportbot/.ci/package/builder"
)

// listed is what go list says of a package.
type listed struct {
	Dir, ImportPath string
	Standard        bool
	Module          *module
	Error           *struct{ Err string }

	GoFiles, CgoFiles, CFiles, CXXFiles, HFiles, SFiles, SysoFiles, EmbedFiles []string
}

const listFields = "Dir,ImportPath,Standard,Module,Error,GoFiles,CgoFiles,CFiles,CXXFiles,HFiles,SFiles,SysoFiles,EmbedFiles"

type module struct {
	Path, Version, GoVersion string
	Main                     bool
	Replace                  *module
}

// files are the names of all that the compiler reads, in the package's folder.
func (p *listed) files() []string {
	var all []string
	for _, some := range [][]string{p.GoFiles, p.CgoFiles, p.CFiles, p.CXXFiles, p.HFiles, p.SFiles, p.SysoFiles, p.EmbedFiles} {
		all = append(all, some...)
	}
	return all
}

// dependencies lists the packages of a function outside of the standard library,
// as they are for the cloud.
func dependencies(ctx context.Context, root, pkg string) ([]listed, error) {
	all, err := goJSON[listed](ctx, root, "list", "-deps", "-tags", builder.Tag, "-json="+listFields, pkg)
	if err != nil {
		return nil, err
	}
	needed := all[:0]
	for _, p := range all {
		if p.Error != nil {
			return nil, fmt.Errorf("list %s: %s", p.ImportPath, p.Error.Err)
		}
		if !p.Standard {
			needed = append(needed, p)
		}
	}
	return needed, nil
}

// modules lists the modules that go.mod requires, in its order, and the module
// itself first.
func modules(ctx context.Context, root string) ([]module, error) {
	type edit struct {
		Module  struct{ Path string }
		Require []struct{ Path string }
		Replace []any
	}
	mods, err := goJSON[edit](ctx, root, "mod", "edit", "-json")
	if err != nil {
		return nil, err
	}
	mod := mods[0]
	if len(mod.Replace) > 0 {
		return nil, errors.New("go.mod replaces modules, which an archive cannot carry")
	}
	args := []string{"list", "-m", "-json", mod.Module.Path}
	for _, r := range mod.Require {
		args = append(args, r.Path)
	}
	return goJSON[module](ctx, root, args...)
}

// goJSON runs the go command for the cloud's platform and version.
func goJSON[T any](ctx context.Context, root string, args ...string) ([]T, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=1",
		"GOTOOLCHAIN="+builder.GoVersion, "GOFLAGS=-mod=readonly", "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w: %s", strings.Join(args[:2], " "), err, stderr.String())
	}
	var all []T
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var one T
		if err := dec.Decode(&one); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("decode go %s: %w", args[0], err)
		}
		all = append(all, one)
	}
}
