package backend_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"supportbot/shared/backend"
)

func TestMain(m *testing.M) {
	backend.ServeClickHouse()
	// Closing a client that was just opened does not end this one.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/ClickHouse/clickhouse-go/v2.(*clickhouse).startAutoCloseIdleConnections"))
}

type starter = func(context.Context, backend.Options) (*backend.Server, error)

// start starts a server that ends with the test.
func start(t *testing.T, by starter, opts backend.Options) *backend.Server {
	t.Helper()
	s, err := by(context.Background(), opts)
	if errors.Is(err, backend.ErrNotInstalled) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// folder makes one that an unprivileged account can reach, unlike t.TempDir.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "backend-test-")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func query(t *testing.T, url, sql string) (text string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, sql, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(got, "\n")
}

func client(t *testing.T, url string) *redis.Client {
	t.Helper()
	opts, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	opts.MaxRetries = -1
	c := redis.NewClient(opts)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestPostgres_KeepsItsData(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	s := start(t, backend.Postgres, backend.Options{Dir: dir, Durable: true})
	url := s.URL()
	query(t, url, "CREATE TABLE notes (text text)")
	for name, end := range map[string]func() error{"stop": s.Stop, "kill": s.Kill} {
		query(t, url, "INSERT INTO notes VALUES ('"+name+"')")
		if err := end(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := pgx.Connect(context.Background(), url); err == nil {
			t.Fatalf("%s: it still answers", name)
		}
		if err := s.Start(context.Background()); err != nil {
			t.Fatalf("start after %s: %v", name, err)
		}
		if got := query(t, url, "SELECT text FROM notes"); !strings.Contains(got, name) {
			t.Errorf("after %s: got %q", name, got)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := start(t, backend.Postgres, backend.Options{Dir: dir, Durable: true})
	if got := len(strings.Fields(query(t, again.URL(), "SELECT text FROM notes"))); got != 2 {
		t.Errorf("a new server on the folder finds %d rows, want 2", got)
	}
}

func TestPostgres_Durability(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		durable bool
		want    string
	}{{"for tests", false, "off"}, {"durable", true, "on"}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, backend.Postgres, backend.Options{Durable: test.durable, Settings: map[string]string{"work_mem": "5MB"}})
			for _, setting := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
				if got := query(t, s.URL(), "SHOW "+setting); got != test.want {
					t.Errorf("%s is %s, want %s", setting, got, test.want)
				}
			}
			if got := query(t, s.URL(), "SHOW work_mem"); got != "5MB" {
				t.Errorf("work_mem is %s, want the given 5MB", got)
			}
		})
	}
}

func TestPostgres_DataOfAnotherVersion(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "data", "PG_VERSION"), []byte("9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := backend.Postgres(context.Background(), backend.Options{Dir: dir})
	if !errors.Is(err, backend.ErrNotInstalled) || !strings.Contains(err.Error(), "postgresql-9") {
		t.Errorf("got %v, want that PostgreSQL 9 is to be installed", err)
	}
}

func TestPostgres_FolderOutOfReach(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("does not apply: only root has folders that its servers cannot reach")
	}
	dir := filepath.Join(t.TempDir(), "postgres") // below a folder of mode 0700
	s := start(t, backend.Postgres, backend.Options{Dir: dir})
	if s.Dir() == dir {
		t.Fatalf("the server runs in %s, which it cannot reach", dir)
	}
	query(t, s.URL(), "CREATE TABLE notes (text text)")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := start(t, backend.Postgres, backend.Options{Dir: dir})
	t.Cleanup(func() { _ = again.Close(); _ = os.RemoveAll(again.Dir()) })
	query(t, again.URL(), "SELECT text FROM notes")
}

func TestRedis_Durable(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := start(t, backend.Redis, backend.Options{Dir: folder(t), Durable: true})
	c := client(t, s.URL())
	if err := c.Set(ctx, "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := s.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if got := c.Get(ctx, "k").Val(); got != "v" {
		t.Errorf("got %q after a restart, want what was written", got)
	}
}

func TestRedis_ForTestsForgets(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := start(t, backend.Redis, backend.Options{})
	c := client(t, s.URL())
	c.Set(ctx, "k", "v", 0)
	if err := errors.Join(s.Kill(), s.Start(ctx)); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Exists(ctx, "k").Result(); n != 0 || err != nil {
		t.Errorf("got %d keys, %v, want an empty Redis on the same address", n, err)
	}
}

func TestServer_FolderInUse(t *testing.T) {
	t.Parallel()
	for name, by := range map[string]starter{"postgres": backend.Postgres, "redis": backend.Redis} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := folder(t)
			first := start(t, by, backend.Options{Dir: dir})
			ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
			defer cancel()
			if _, err := by(ctx, backend.Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "in use by another server") {
				t.Errorf("a second server on the folder: got %v", err)
			}
			if err := first.Stop(); err != nil {
				t.Fatal(err)
			}
			start(t, by, backend.Options{Dir: dir})
		})
	}
}

func TestServer_PortTaken(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	if s, err := backend.Redis(context.Background(), backend.Options{Port: port}); err == nil {
		s.Close()
		t.Error("got a server on a port that is taken")
	} else if !strings.Contains(err.Error(), "port is taken") && !errors.Is(err, backend.ErrNotInstalled) {
		t.Errorf("got %v, want that the port is taken", err)
	}
}

func TestServer_DoneAndSignal(t *testing.T) {
	t.Parallel()
	s := start(t, backend.Redis, backend.Options{})
	c := client(t, s.URL())
	s.Signal(syscall.SIGSTOP)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if err := c.Ping(ctx).Err(); err == nil {
		t.Error("a stopped Redis answers")
	}
	s.Signal(syscall.SIGCONT)
	if err := c.Ping(context.Background()).Err(); err != nil {
		t.Errorf("a continued Redis: %v", err)
	}
	done := s.Done()
	c.ShutdownNoSave(context.Background())
	<-done
	if err := s.Start(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestServer_CloseRemovesTemporaryFolder(t *testing.T) {
	t.Parallel()
	for name, by := range map[string]starter{"postgres": backend.Postgres, "redis": backend.Redis} {
		s := start(t, by, backend.Options{})
		if _, err := os.Stat(s.Dir()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(s.Dir()); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the folder is still there (%v)", name, err)
		}
	}
}

func TestPgBouncer(t *testing.T) {
	t.Parallel()
	pg := start(t, backend.Postgres, backend.Options{})
	pool := start(t, func(ctx context.Context, o backend.Options) (*backend.Server, error) {
		return backend.PgBouncer(ctx, o, pg.URL())
	}, backend.Options{})
	if got := query(t, pool.URL(), "SELECT 'through'"); got != "through" {
		t.Errorf("got %q", got)
	}
	if err := errors.Join(pool.Kill(), pool.Start(context.Background())); err != nil {
		t.Fatal(err)
	}
	query(t, pool.URL(), "SELECT 'again'")
	if _, err := backend.PgBouncer(context.Background(), backend.Options{}, "host=x password=canary"); err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("a DSN that is no URL: got %v", err)
	}
}

// TestMissing runs alone: it changes PATH.
func TestMissing(t *testing.T) {
	t.Setenv("PATH", "")
	_, err := backend.Redis(context.Background(), backend.Options{})
	if !errors.Is(err, backend.ErrNotInstalled) || !strings.Contains(err.Error(), "apt-get install redis-server") {
		t.Errorf("got %v, want what to install", err)
	}
}
