package backend

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

const installPostgres = "apt-get install postgresql (no service has to run)"

// initArgs: C is the cloud's default locale too (Managed PostgreSQL, "Create a
// database", lc-collate and lc-ctype).
func initArgs() []string {
	return []string{"-U", User, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-instructions"}
}

// cluster finds or makes the data folder and gives the folder of the binaries
// that belong to it.
func cluster(ctx context.Context, data string, as account, lasting bool) (bin string, err error) {
	if version, err := os.ReadFile(filepath.Join(data, "PG_VERSION")); err == nil {
		return binaries(strings.TrimSpace(string(version)))
	}
	if bin, err = binaries(""); err != nil {
		return "", err
	}
	if lasting {
		return bin, initdb(ctx, bin, data, as, "")
	}
	ready := readyMade(bin)
	if copied(ready, data) {
		return bin, as.own(data)
	}
	if err := initdb(ctx, bin, data, as, "--no-sync"); err != nil {
		return "", err
	}
	keepReady(data, ready)
	return bin, nil
}

// initdb makes a cluster under another name first: a half-made one is never taken
// for one.
func initdb(ctx context.Context, bin, data string, as account, option string) error {
	fresh := data + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return fmt.Errorf("remove half-made cluster: %w", err)
	}
	args := append(initArgs(), "-D", fresh)
	if option != "" {
		args = append(args, option)
	}
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), args...)
	cmd.Dir = filepath.Dir(data)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as.credential()}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, strings.TrimSpace(string(out)))
	}
	if err := os.Rename(fresh, data); err != nil {
		return fmt.Errorf("make cluster: %w", err)
	}
	return nil
}

// readyMade names the copy of a fresh cluster that is kept between runs: copying
// it takes a tenth of the time of initdb, and each test process needs one. It may
// be removed at any time.
func readyMade(bin string) string {
	caches, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	version, err := exec.Command(filepath.Join(bin, "postgres"), "--version").Output()
	if err != nil {
		return ""
	}
	kind := sha256.Sum256([]byte(string(version) + strings.Join(initArgs(), " ")))
	return filepath.Join(caches, "supportbot", fmt.Sprintf("postgres-%x", kind[:8]))
}

func copied(ready, data string) bool {
	if _, err := os.Stat(filepath.Join(ready, "PG_VERSION")); ready == "" || err != nil {
		return false
	}
	if os.CopyFS(data, os.DirFS(ready)) == nil && os.Chmod(data, 0o700) == nil {
		return true
	}
	_ = os.RemoveAll(data) // removed under our hands: made anew
	return false
}

// keepReady keeps a copy if it can; without it the next start is slower.
func keepReady(data, ready string) {
	if ready == "" || os.MkdirAll(filepath.Dir(ready), 0o700) != nil {
		return
	}
	part, err := os.MkdirTemp(filepath.Dir(ready), "part-")
	if err != nil {
		return
	}
	defer func() { _ = os.RemoveAll(part) }()
	whole := filepath.Join(part, "data")
	if os.CopyFS(whole, os.DirFS(data)) == nil {
		syscall.Sync() // a name on a copy that a power cut emptied would stay for good
		_ = os.Rename(whole, ready)
	}
}

// binaries finds the folder with initdb and postgres of a major version, or of
// the newest one.
func binaries(version string) (string, error) {
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	brew, _ := filepath.Glob("/opt/homebrew/opt/postgresql@*/bin")
	dirs = append(dirs, brew...)
	slices.SortFunc(dirs, func(a, b string) int { return majorOf(b) - majorOf(a) })
	if path, err := exec.LookPath("initdb"); err == nil {
		dirs = append(dirs, filepath.Dir(path))
	}
	for _, dir := range dirs {
		if !executable(filepath.Join(dir, "initdb")) || !executable(filepath.Join(dir, "postgres")) {
			continue
		}
		if version == "" || strconv.Itoa(majorOf(dir)) == version {
			return dir, nil
		}
	}
	if version != "" {
		return "", fmt.Errorf("PostgreSQL %s, whose data this folder holds, is %w: apt-get install postgresql-%s, or remove the folder",
			version, ErrNotInstalled, version)
	}
	return "", fmt.Errorf("PostgreSQL is %w: %s", ErrNotInstalled, installPostgres)
}

// majorOf takes the version from the folder's name, or asks the binary.
func majorOf(dir string) int {
	name := strings.TrimPrefix(filepath.Base(filepath.Dir(dir)), "postgresql@")
	if n, err := strconv.Atoi(name); err == nil {
		return n
	}
	out, err := exec.Command(filepath.Join(dir, "postgres"), "--version").Output()
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(out)) // postgres (PostgreSQL) 15.18 (...)
	if len(fields) < 3 {
		return 0
	}
	major, _, _ := strings.Cut(fields[2], ".")
	n, _ := strconv.Atoi(major)
	return n
}

func executable(path string) bool {
	_, err := exec.LookPath(path)
	return err == nil
}
