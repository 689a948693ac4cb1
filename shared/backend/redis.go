package backend

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const installRedis = "apt-get install redis-server (no service has to run)"

// Databases is how many numbered databases a Redis started here has.
const Databases = 4096

// Redis starts a redis-server and returns when it answers. Durable: an
// append-only file, synced each second. Otherwise nothing is written, and Stop
// and Kill lose the data.
func Redis(ctx context.Context, opts Options) (*Server, error) {
	path, err := find("redis-server", installRedis)
	if err != nil {
		return nil, fmt.Errorf("start Redis: %w", err)
	}
	self := account{}
	dir, owned, err := place(opts, "redis", self)
	if err != nil {
		return nil, fmt.Errorf("start Redis: %w", err)
	}
	s := &Server{name: "Redis", dir: dir, owned: owned, quit: syscall.SIGTERM, abort: syscall.SIGKILL}
	s.start = func() (*process, error) {
		s.url = fmt.Sprintf("redis://127.0.0.1:%d/0", s.port)
		return launch(dir, self, syscall.SIGTERM, path, redisArgs(dir, s.port, opts)...)
	}
	s.ready = func(ctx context.Context) error { return answersRedis(ctx, s.Addr()) }
	return launchNew(ctx, s, opts.Port)
}

func redisArgs(dir string, port int, opts Options) []string {
	settings := map[string]string{
		"port":       strconv.Itoa(port),
		"bind":       "127.0.0.1",
		"dir":        dir,
		"databases":  strconv.Itoa(Databases),
		"save":       "",
		"appendonly": "no",
	}
	if opts.Durable {
		settings["appendonly"] = "yes"
	}
	for name, value := range opts.Settings {
		settings[name] = value
	}
	var args []string
	for name, value := range settings {
		args = append(args, "--"+name, value)
	}
	return args
}

// answersRedis: a server that still loads its data answers -LOADING.
func answersRedis(ctx context.Context, addr string) error {
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(2 * time.Second)); err != nil {
		return err
	}
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return err
	}
	if got := strings.TrimSpace(line); got != "+PONG" {
		return fmt.Errorf("answered %q to PING", got)
	}
	return nil
}
