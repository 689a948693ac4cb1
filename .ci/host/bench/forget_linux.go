package main

import (
	"fmt"
	"os"
	"syscall"
)

const fadvDontNeed = 4 // POSIX_FADV_DONTNEED of <fcntl.h>

// forget has the kernel drop its copy of a file.
func forget(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if err := f.Sync(); err != nil { // what is not on disk yet is not dropped
		return err
	}
	if _, _, e := syscall.Syscall6(syscall.SYS_FADVISE64, f.Fd(), 0, 0, fadvDontNeed, 0, 0); e != 0 {
		return fmt.Errorf("forget %s: %w", path, e)
	}
	return nil
}
