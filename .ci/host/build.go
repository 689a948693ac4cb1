// Package host loads functions as Cloud Functions does: compiled from their
// archives as plugins, into a process that is not theirs, with events as JSON.
package host

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"supportbot/.ci/package/archive"
	"supportbot/.ci/package/builder"
)

//go:embed runtime/*.go
var runtimeSource embed.FS

const runtimeMod = "module host\n\ngo 1.21\n"

// Workshop compiles plugins and the host. Compiling takes minutes the first time
// and a second if nothing has changed: what was made is kept in its folder.
type Workshop struct {
	root string // of the module
	dir  string
	tool string
}

// NewWorkshop makes a workshop for the module at root, in build/plugins there. Its
// error wraps builder.ErrNoToolchain if this machine cannot compile plugins.
func NewWorkshop(ctx context.Context, root string) (*Workshop, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	tool, err := builder.Toolchain(ctx)
	if err != nil {
		return nil, err
	}
	w := &Workshop{root: root, dir: filepath.Join(root, "build", "plugins"), tool: tool}
	return w, os.MkdirAll(w.dir, 0o755)
}

// Host compiles the host and gives its path.
func (w *Workshop) Host(ctx context.Context) (string, error) {
	unlock, err := w.lock()
	if err != nil {
		return "", err
	}
	defer unlock()
	src := filepath.Join(w.dir, "host")
	if err := os.RemoveAll(src); err != nil {
		return "", err
	}
	if err := os.CopyFS(src, runtimeSource); err != nil {
		return "", fmt.Errorf("write host: %w", err)
	}
	src = filepath.Join(src, "runtime")
	if err := os.WriteFile(filepath.Join(src, "go.mod"), []byte(runtimeMod), 0o644); err != nil {
		return "", fmt.Errorf("write host: %w", err)
	}
	// Replaced and not overwritten: another process may be running it.
	made, program := filepath.Join(w.dir, "host.new"), filepath.Join(w.dir, "host.bin")
	if err := w.build(ctx, src, "-o", made, "."); err != nil {
		return "", fmt.Errorf("compile host: %w", err)
	}
	return program, os.Rename(made, program)
}

// Plugin compiles a package of the module as it lies there, for handlers that are
// no functions, and gives the plugin's path.
func (w *Workshop) Plugin(ctx context.Context, name, pkg string) (string, error) {
	unlock, err := w.lock()
	if err != nil {
		return "", err
	}
	defer unlock()
	made, plugin := filepath.Join(w.dir, name+".new"), filepath.Join(w.dir, name+".so")
	if err := w.build(ctx, w.root, "-buildmode=plugin", "-tags", builder.Tag, "-o", made, pkg); err != nil {
		return "", fmt.Errorf("compile %s: %w", pkg, err)
	}
	return plugin, os.Rename(made, plugin)
}

// Function compiles a function from its archive and gives the plugin's path.
func (w *Workshop) Function(ctx context.Context, name string) (string, error) {
	files, err := archive.Collect(ctx, w.root, name, true)
	if err != nil {
		return "", err
	}
	data, err := archive.Zip(files)
	if err != nil {
		return "", err
	}
	unlock, err := w.lock()
	if err != nil {
		return "", err
	}
	defer unlock()
	return w.keep(name, data, func(made string) error { return w.compile(ctx, name, data, made) })
}

// compile unpacks each archive into the same folder: the compiler's cache knows
// packages by their path too, so functions share what they have in common.
func (w *Workshop) compile(ctx context.Context, name string, data []byte, made string) (err error) {
	src, temp := filepath.Join(w.dir, "src"), filepath.Join(w.dir, "tmp")
	if err := errors.Join(os.RemoveAll(src), os.RemoveAll(temp), os.MkdirAll(temp, 0o755)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(src), os.RemoveAll(temp)) }()
	if err := archive.Unpack(data, src); err != nil {
		return err
	}
	cache, err := w.cache(ctx)
	if err != nil {
		return err
	}
	b := builder.Build{
		Go: w.tool, Dir: src, Package: archive.Package(name), Output: made, Cache: cache,
		ModCache: filepath.Join(w.dir, "mod"), Temp: temp, Vendor: true, // nothing is downloaded: the folder stays empty
	}
	return b.Run(ctx)
}

// build runs "go build" with the cloud's Go and the person's module cache.
func (w *Workshop) build(ctx context.Context, dir string, args ...string) error {
	cache, err := w.cache(ctx)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, w.tool, append([]string{"build"}, args...)...)
	cmd.Dir, cmd.Env = dir, builder.Environment(cache)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}
