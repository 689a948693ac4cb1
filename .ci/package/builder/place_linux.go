package builder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Place is the builder's file system while it compiles one archive: in memory and
// as small as the cloud's where this process may mount one, else a plain folder
// whose size is added up.
type Place struct {
	dir     string
	mounted bool
}

// NewPlace makes an empty place; Remove it afterwards.
func NewPlace() (*Place, error) {
	dir, err := os.MkdirTemp("", "supportbot-build-")
	if err != nil {
		return nil, fmt.Errorf("make place: %w", err)
	}
	p := &Place{dir: dir}
	p.mounted = syscall.Mount("none", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", MaxFiles)) == nil
	for _, name := range []string{"src", "cache", "mod", "tmp"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			return nil, errors.Join(fmt.Errorf("make place: %w", err), p.Remove())
		}
	}
	return p, nil
}

// Source is where the archive is unpacked.
func (p *Place) Source() string { return filepath.Join(p.dir, "src") }

func (p *Place) plugin() string { return filepath.Join(p.dir, "handler.so") }

// Remove ends the place with all that is in it.
func (p *Place) Remove() error {
	if p.mounted {
		if err := syscall.Unmount(p.dir, syscall.MNT_DETACH); err != nil {
			return fmt.Errorf("remove place: %w", err)
		}
	}
	// The module cache is read-only.
	_ = filepath.WalkDir(p.dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(name, 0o755)
		}
		return nil
	})
	return os.RemoveAll(p.dir)
}

// size is how much of the file system is in use.
func (p *Place) size() int64 {
	if p.mounted {
		var s syscall.Statfs_t
		if syscall.Statfs(p.dir, &s) == nil {
			return int64(s.Blocks-s.Bfree) * s.Bsize
		}
	}
	var sum int64
	_ = filepath.WalkDir(p.dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil { // else it has gone: files come and go meanwhile
			if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
				sum += info.Size()
			}
		}
		return nil
	})
	return sum
}
