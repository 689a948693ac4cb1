// Package builder stands for the builder of Cloud Functions: it compiles a
// function's archive as a plugin, with what the real one has. Its facts are from
// Yandex's pages on the Go runtime ("Building and managing dependencies", "Quotas
// and limits") and from its Terraform provider; the real builder was not seen.
package builder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// GoVersion is the Go of the runtime golang123, the only one that is supported.
// Host and plugin have to be built with exactly this.
const GoVersion = "go1.23.9"

// Limits of the builder.
const (
	// MaxArchive is the largest archive that can be uploaded directly.
	MaxArchive = 3_670_016
	// MaxMemory is for processes, files and caches together.
	MaxMemory = 1 << 30
	// MaxFiles is the part of the memory that may hold files and caches.
	MaxFiles = 700 << 20
	MaxTime  = 5 * time.Minute
	// Cores is the builder's share of the processor.
	Cores = 0.5
)

// Tag is the build tag that the builder sets.
const Tag = "ycf"

// ErrNoToolchain is wrapped if GoVersion, or the C compiler that plugins need, is
// not to be had.
var ErrNoToolchain = errors.New("no toolchain of the cloud's")

// Toolchain gives the path of the go command of GoVersion, which the installed go
// command downloads if it has not yet.
func Toolchain(ctx context.Context) (string, error) {
	if _, err := exec.LookPath("gcc"); err != nil {
		return "", fmt.Errorf("%w: plugins need gcc: apt-get install gcc", ErrNoToolchain)
	}
	cmd := exec.CommandContext(ctx, "go", "env", "GOROOT")
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN="+GoVersion)
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%w: go env with GOTOOLCHAIN=%s: %w", ErrNoToolchain, GoVersion, err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "bin", "go"), nil
}

// Build is one compilation.
type Build struct {
	Go      string // of Toolchain
	Dir     string // the unpacked archive
	Package string // "./functions/x"
	Output  string // the plugin

	Cache    string // GOCACHE
	ModCache string // GOMODCACHE
	Temp     string
	// Vendor: the archive has a vendor folder, and nothing may be downloaded.
	Vendor bool
}

// Command is the builder's command. The flags are those of the runtime itself, as
// far as they are known: -trimpath or -gcflags on one side only make a plugin that
// cannot be loaded.
func (b *Build) Command(ctx context.Context) *exec.Cmd {
	args := []string{"build", "-buildmode=plugin", "-tags", Tag, "-o", b.Output}
	proxy := os.Getenv("GOPROXY")
	if b.Vendor {
		args = append(args, "-mod=vendor")
		proxy = "off"
	}
	cmd := exec.CommandContext(ctx, b.Go, append(args, b.Package)...)
	cmd.Dir = b.Dir
	cmd.Env = append(Environment(b.Cache), "GOMODCACHE="+b.ModCache, "GOTMPDIR="+b.Temp, "TMPDIR="+b.Temp, "GOPROXY="+proxy)
	return cmd
}

// Environment is that of any compilation for the cloud: nothing of the person's
// own settings gets into it.
func Environment(cache string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"),
		"GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=1", "GOTOOLCHAIN=local", "GOENV=off", "GOWORK=off", "GOCACHE=" + cache,
		// The folder may lie in somebody's repository; the cloud's does not.
		"GOFLAGS=-buildvcs=false",
	}
}

// Run compiles without measuring.
func (b *Build) Run(ctx context.Context) error {
	out, err := b.Command(ctx).CombinedOutput()
	if err != nil {
		return fmt.Errorf("compile %s: %w\n%s", b.Package, err, out)
	}
	return nil
}
