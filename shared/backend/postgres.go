package backend

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// User is the superuser of a Postgres started here; there is no password.
const User = "app"

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
	s := &Server{name: "PostgreSQL", dir: dir, owned: owned, quit: syscall.SIGINT, abort: syscall.SIGQUIT}
	data := filepath.Join(dir, "data")
	bin, err := cluster(ctx, data, as, !owned)
	if err != nil {
		if owned {
			_ = removeAll(dir)
		}
		return nil, fmt.Errorf("start PostgreSQL: %w", err)
	}
	// When the parent is gone nobody needs the data of a temporary server.
	last := s.quit
	if owned {
		last = s.abort
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
		// Files of the folder: they go with it, while shared memory would outlive
		// a server that was killed.
		"dynamic_shared_memory_type": "mmap",
		"timezone":                   "UTC",
		"log_timezone":               "UTC",
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
