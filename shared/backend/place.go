package backend

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const (
	memory    = "/dev/shm"
	roomy     = 1 << 30 // containers often give /dev/shm only 64 MB
	lowPort   = 15000   // below the range from which outgoing connections take
	highPort  = 32000   // theirs, so that a stopped server finds its port again
	portTries = 100
)

// place makes the server's folder, owned by the account.
func place(opts Options, name string, as account) (dir string, owned bool, err error) {
	if opts.Dir == "" {
		sweep(scratch())
		dir, err = os.MkdirTemp(scratch(), fmt.Sprintf("supportbot-%s-%d-", name, os.Getpid()))
		if err != nil {
			return "", false, fmt.Errorf("make folder: %w", err)
		}
		return dir, true, as.own(dir)
	}
	if dir, err = filepath.Abs(opts.Dir); err != nil {
		return "", false, fmt.Errorf("find folder: %w", err)
	}
	if !as.reaches(dir) {
		// A checkout below /root: the data lives beside it, by the same name on
		// each run.
		dir = fmt.Sprintf("/var/tmp/supportbot-%s-%x", name, sha256.Sum256([]byte(dir)))[:64]
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", false, fmt.Errorf("make folder: %w", err)
	}
	return dir, false, as.own(dir)
}

// sweep removes the folders of temporary servers whose process is gone: a process
// that ends without Close leaves them behind.
func sweep(parent string) {
	dirs, _ := filepath.Glob(filepath.Join(parent, "supportbot-*-*-*"))
	for _, dir := range dirs {
		parts := strings.Split(filepath.Base(dir), "-")
		pid, err := strconv.Atoi(parts[2])
		if err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			_ = os.RemoveAll(dir) // whoever sweeps next removes what is left
		}
	}
}

// scratch is where temporary servers live: in memory if there is room.
func scratch() string {
	var st syscall.Statfs_t
	if err := syscall.Statfs(memory, &st); err == nil && uint64(st.Bavail)*uint64(st.Bsize) >= roomy {
		return memory
	}
	return os.TempDir()
}

func pickPort(chosen int) (int, error) {
	if chosen != 0 {
		return chosen, nil
	}
	for range portTries {
		port := lowPort + rand.IntN(highPort-lowPort)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("find a free port between %d and %d: none in %d tries", lowPort, highPort, portTries)
}

// find looks for a binary on PATH and where distributions put servers.
func find(binary, install string) (string, error) {
	if path, err := exec.LookPath(binary); err == nil {
		return path, nil
	}
	for _, dir := range []string{"/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/opt/homebrew/bin"} {
		if path, err := exec.LookPath(filepath.Join(dir, binary)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is %w: %s", binary, ErrNotInstalled, install)
}
