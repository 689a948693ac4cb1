package backend

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const installPgBouncer = "apt-get install pgbouncer (no service has to run)"

// PgBouncer starts a pooler in transaction mode before the server of dsn: as
// strict as the pooler of the cloud, because between two transactions nothing of
// a session remains and no statement stays prepared. URL is dsn by way of it; all
// databases of the server can be reached by their names.
func PgBouncer(ctx context.Context, opts Options, dsn string) (*Server, error) {
	target, err := url.Parse(dsn)
	if err != nil || target.Hostname() == "" || target.Port() == "" || target.User == nil {
		return nil, fmt.Errorf("start PgBouncer: its server has to be given as postgres://user@host:port/database")
	}
	path, err := find("pgbouncer", installPgBouncer)
	if err != nil {
		return nil, fmt.Errorf("start PgBouncer: %w", err)
	}
	as, err := unprivileged()
	if err != nil {
		return nil, fmt.Errorf("start PgBouncer: %w", err)
	}
	dir, owned, err := place(opts, "pgbouncer", as)
	if err != nil {
		return nil, fmt.Errorf("start PgBouncer: %w", err)
	}
	s := &Server{name: "PgBouncer", dir: dir, owned: owned, quit: syscall.SIGTERM, abort: syscall.SIGKILL}
	s.start = func() (*process, error) {
		through := *target
		through.Host = s.Addr()
		s.url = through.String()
		ini, err := writePooler(dir, as, s.port, target, opts.Settings)
		if err != nil {
			return nil, err
		}
		return launch(dir, as, syscall.SIGTERM, path, ini)
	}
	s.ready = func(ctx context.Context) error {
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", s.Addr())
		if err != nil {
			return err
		}
		return conn.Close()
	}
	return launchNew(ctx, s, opts.Port)
}

func writePooler(dir string, as account, port int, target *url.URL, settings map[string]string) (string, error) {
	users := filepath.Join(dir, "users.txt")
	password, _ := target.User.Password()
	pooler := map[string]string{
		"listen_addr":       "127.0.0.1",
		"listen_port":       strconv.Itoa(port),
		"unix_socket_dir":   "",
		"auth_type":         "trust",
		"auth_file":         users,
		"pool_mode":         "transaction",
		"max_client_conn":   "2000",
		"default_pool_size": "20",
	}
	for name, value := range settings {
		pooler[name] = value
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[databases]\n* = host=%s port=%s\n[pgbouncer]\n", target.Hostname(), target.Port())
	for name, value := range pooler {
		fmt.Fprintf(&b, "%s = %s\n", name, value)
	}
	ini := filepath.Join(dir, "pgbouncer.ini")
	if err := os.WriteFile(ini, []byte(b.String()), 0o600); err != nil {
		return "", fmt.Errorf("write configuration: %w", err)
	}
	user := fmt.Sprintf("%q %q\n", target.User.Username(), password)
	if err := os.WriteFile(users, []byte(user), 0o600); err != nil {
		return "", fmt.Errorf("write users: %w", err)
	}
	return ini, as.own(dir)
}
