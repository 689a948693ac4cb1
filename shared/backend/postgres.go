package backend

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// User is the superuser of a Postgres started here; there is no password.
const User = "app"

const installPostgres = "apt-get install postgresql (no service has to run)"

// Postgres starts a PostgreSQL and returns when it answers. In Options.Dir the
// cluster is made once and found again. Installed versions are told apart: data
// of one is never opened by another.
func Postgres(ctx context.Context, opts Options) (*Server, error) {
	as, err := unprivileged()
	if err != nil {
		return nil, fmt.Errorf("start PostgreSQL: %w", err)
	}
	dir, owned, err := place(opts, "postgres", as)
	if err != nil {
		return nil, fmt.Errorf("start PostgreSQL: %w", err)
	}
	s := &Server{name: "PostgreSQL", dir: dir, owned: owned, quit: syscall.SIGINT}
	data := filepath.Join(dir, "data")
	bin, err := cluster(ctx, data, as)
	if err != nil {
		if owned {
			_ = removeAll(dir)
		}
		return nil, fmt.Errorf("start PostgreSQL: %w", err)
	}
	// When the parent is gone nobody needs the data of a temporary server.
	last := syscall.SIGINT
	if owned {
		last = syscall.SIGQUIT
	}
	s.start = func() (*process, error) {
		s.url = fmt.Sprintf("postgres://%s@127.0.0.1:%d/postgres?sslmode=disable", User, s.port)
		return launch(dir, as, last, filepath.Join(bin, "postgres"), postgresArgs(data, s.port, opts)...)
	}
	s.ready = func(ctx context.Context) error { return answersPostgres(ctx, s.url) }
	return launchNew(ctx, s, opts.Port)
}

func postgresArgs(data string, port int, opts Options) []string {
	settings := map[string]string{
		"listen_addresses":        "127.0.0.1",
		"unix_socket_directories": "", // their path may not be longer than 107 bytes
		"max_connections":         "400",
		"jit":                     "off",
		"timezone":                "UTC",
		"log_timezone":            "UTC",
	}
	if !opts.Durable {
		for _, name := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
			settings[name] = "off"
		}
		settings["wal_level"] = "minimal"
		settings["max_wal_senders"] = "0"
	}
	for name, value := range opts.Settings {
		settings[name] = value
	}
	args := []string{"-D", data, "-p", strconv.Itoa(port)}
	for name, value := range settings {
		args = append(args, "-c", name+"="+value)
	}
	return args
}

func answersPostgres(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	conn, err := pgconn.Connect(ctx, url)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// cluster finds or makes the data folder and gives the folder of the binaries
// that belong to it.
func cluster(ctx context.Context, data string, as account) (bin string, err error) {
	if version, err := os.ReadFile(filepath.Join(data, "PG_VERSION")); err == nil {
		return binaries(strings.TrimSpace(string(version)))
	}
	if bin, err = binaries(""); err != nil {
		return "", err
	}
	// Made under another name first: a half-made cluster is never taken for one.
	fresh := data + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return "", fmt.Errorf("remove half-made cluster: %w", err)
	}
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "-D", fresh, "-U", User,
		"-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
	cmd.Dir = filepath.Dir(data)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as.credential()}
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("initdb: %w: %s", err, strings.TrimSpace(string(out)))
	}
	if err := os.Rename(fresh, data); err != nil {
		return "", fmt.Errorf("make cluster: %w", err)
	}
	return bin, nil
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
