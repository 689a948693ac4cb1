package host

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"supportbot/.ci/package/builder"
)

// keep gives the plugin of an archive that was compiled before, or makes it. The
// same archive, compiled by the same Go, gives the same plugin.
func (w *Workshop) keep(name string, archive []byte, compile func(made string) error) (string, error) {
	sum := sha256.Sum256(append(archive, builder.GoVersion...))
	plugin := filepath.Join(w.dir, fmt.Sprintf("%s-%x.so", name, sum[:8]))
	if _, err := os.Stat(plugin); err == nil {
		return plugin, nil
	}
	old, err := filepath.Glob(filepath.Join(w.dir, name+"-????????????????.so"))
	if err != nil {
		return "", err
	}
	made := filepath.Join(w.dir, name+".new")
	if err := compile(made); err != nil {
		return "", err
	}
	for _, o := range old {
		_ = os.Remove(o) // who has it open keeps it
	}
	return plugin, os.Rename(made, plugin)
}

// cache is the person's build cache, where the next run finds what this one made.
func (w *Workshop) cache(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOCACHE").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// lock keeps the workshops of other processes, and of this one, out of the folder.
func (w *Workshop) lock() (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(w.dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock workshop: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock workshop: %w", err)
	}
	return func() { _ = f.Close() }, nil
}
