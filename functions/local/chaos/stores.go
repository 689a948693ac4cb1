package chaos

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/backend"
	"supportbot/shared/postgres/schema"
)

// Stores gives scenarios their databases. The servers may be shared, except that
// Own gives a PostgreSQL that the scenario restarts as it likes.
type Stores interface {
	Postgres(ctx context.Context) (url string, err error)
	Redis(ctx context.Context) (url string, err error)
	Own(ctx context.Context) (*backend.Server, error)
}

// servers are databases with default durability in a folder on disk.
type servers struct {
	dir             string
	postgres, redis *backend.Server

	mu   sync.Mutex
	used int
	own  []*backend.Server
}

func newStores(ctx context.Context, dir string) (s *servers, err error) {
	s = &servers{}
	if s.dir, err = newFolder(dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.postgres, err = backend.Postgres(ctx, s.at("postgres")); err != nil {
		return nil, err
	}
	s.redis, err = backend.Redis(ctx, s.at("redis"))
	return s, err
}

// newFolder makes a folder for data.
func newFolder(parent string) (dir string, err error) {
	if dir, err = os.MkdirTemp(parent, "supportbot-chaos-"); err != nil {
		return "", fmt.Errorf("make data folder: %w", err)
	}
	if err = os.Chmod(dir, 0o755); err != nil { // the database runs as another user
		return "", errors.Join(fmt.Errorf("open data folder: %w", err), os.RemoveAll(dir))
	}
	return dir, nil
}

func (s *servers) at(name string) backend.Options {
	return backend.Options{Durable: true, Dir: filepath.Join(s.dir, name)}
}

func (s *servers) number() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used++
	return s.used
}

// Postgres implements Stores.
func (s *servers) Postgres(ctx context.Context) (string, error) {
	name := fmt.Sprintf("chaos%d", s.number())
	conn, err := pgx.Connect(ctx, s.postgres.URL())
	if err != nil {
		return "", fmt.Errorf("make database: %w", err)
	}
	_, err = conn.Exec(ctx, "CREATE DATABASE "+name)
	if err = errors.Join(err, conn.Close(ctx)); err != nil {
		return "", fmt.Errorf("make database: %w", err)
	}
	address, err := at(s.postgres.URL(), name)
	if err != nil {
		return "", err
	}
	return address, schema.Migrate(ctx, address)
}

// Redis implements Stores.
func (s *servers) Redis(context.Context) (string, error) {
	return at(s.redis.URL(), fmt.Sprint(s.number()))
}

// Own implements Stores.
func (s *servers) Own(ctx context.Context) (*backend.Server, error) {
	server, err := backend.Postgres(ctx, s.at(fmt.Sprintf("own%d", s.number())))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.own = append(s.own, server)
	s.mu.Unlock()
	return server, schema.Migrate(ctx, server.URL())
}

// at is the address of another database of a server.
func at(server, name string) (string, error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", fmt.Errorf("address of a database: %w", err)
	}
	u.Path = "/" + name
	return u.String(), nil
}

func (s *servers) close() {
	var problems []error
	for _, b := range append(s.own, s.postgres, s.redis) {
		if b != nil {
			problems = append(problems, b.Close())
		}
	}
	problems = append(problems, os.RemoveAll(s.dir))
	if err := errors.Join(problems...); err != nil {
		fmt.Fprintln(os.Stderr, "stop databases:", err)
	}
}
