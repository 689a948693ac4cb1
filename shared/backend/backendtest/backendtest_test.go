package backendtest_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"supportbot/shared/backend/backendtest"
)

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		os.Exit(m.Run()) // a child that is killed; it has no leaks to look for
	}
	goleak.VerifyTestMain(m, backendtest.Goroutines()...)
}

func migrate(ctx context.Context, dsn string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, "CREATE TABLE notes (id bigserial PRIMARY KEY, text text NOT NULL)")
	return err
}

func count(t *testing.T, dsn string) (n int) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	row := conn.QueryRow(context.Background(), "WITH new AS (INSERT INTO notes (text) VALUES ('x') RETURNING id) SELECT max(id) FROM new")
	if err := row.Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestPostgres_EachTestHasItsOwn(t *testing.T) {
	t.Parallel()
	for i := range 8 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			if got := count(t, backendtest.Postgres(t, migrate)); got != 1 {
				t.Errorf("first row of a fresh database has id %d, want 1", got)
			}
		})
	}
}

func TestPostgres_DroppedAfterwards(t *testing.T) {
	t.Parallel()
	var dsn string
	t.Run("inner", func(t *testing.T) { dsn = backendtest.Postgres(t, nil) })
	conn, err := pgx.Connect(context.Background(), dsn)
	if err == nil {
		conn.Close(context.Background())
		t.Error("the database is still there after its test")
	}
}

func TestPgBouncer_TransactionMode(t *testing.T) {
	t.Parallel()
	dsn := backendtest.PgBouncer(t, backendtest.Postgres(t, migrate))
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	backends := map[int]bool{}
	for range 2 { // both connections are open, and share one of the server
		conn, err := pgx.ConnectConfig(context.Background(), config)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		var pid int
		if err := conn.QueryRow(context.Background(), "SELECT pg_backend_pid()").Scan(&pid); err != nil {
			t.Fatal(err)
		}
		backends[pid] = true
	}
	if len(backends) != 1 {
		t.Errorf("two idle clients hold %d connections of the server, want one: not transaction mode", len(backends))
	}
}

func TestRedis_EachTestHasItsOwn(t *testing.T) {
	t.Parallel()
	for i := range 20 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			opts, err := redis.ParseURL(backendtest.Redis(t))
			if err != nil {
				t.Fatal(err)
			}
			client := redis.NewClient(opts)
			defer client.Close()
			if got := client.Incr(context.Background(), "n").Val(); got != 1 {
				t.Errorf("first INCR gave %d, want 1", got)
			}
		})
	}
}

const childEnv = "BACKENDTEST_CHILD"

// TestCrashLeavesNothing kills a test process that has both backends and looks for
// what is left.
func TestCrashLeavesNothing(t *testing.T) {
	t.Parallel()
	if mark := os.Getenv(childEnv); mark != "" {
		dsn, url := backendtest.Postgres(t, nil), backendtest.Redis(t)
		if err := os.WriteFile(mark, []byte(dsn+"\n"+url), 0o600); err != nil {
			t.Fatal(err)
		}
		select {} // until it is killed
	}
	backendtest.Postgres(t, nil) // skips where nothing is installed
	mark := filepath.Join(t.TempDir(), "ready")
	child := exec.Command(os.Args[0], "-test.run=^TestCrashLeavesNothing$")
	scratch := t.TempDir()
	child.Env = append(os.Environ(), childEnv+"="+mark, "TEST_DATABASE_URL=", "TMPDIR="+scratch)
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var urls string
	eventually(t, "the child's backends are up", func() bool {
		text, _ := os.ReadFile(mark)
		urls = string(text)
		return strings.Contains(urls, "redis://")
	})
	dirs := foldersOf(t, child.Process.Pid)
	if len(dirs) != 2 {
		t.Errorf("the child's backends have the folders %q, want two", dirs)
	}
	_ = child.Process.Kill()
	_ = child.Wait()

	dsn, url, _ := strings.Cut(urls, "\n")
	eventually(t, "PostgreSQL is gone", func() bool {
		conn, err := pgx.Connect(context.Background(), dsn)
		if err == nil {
			conn.Close(context.Background())
		}
		return err != nil
	})
	eventually(t, "Redis is gone", func() bool {
		opts, _ := redis.ParseURL(url)
		opts.MaxRetries = -1
		client := redis.NewClient(opts)
		defer client.Close()
		return client.Ping(context.Background()).Err() != nil
	})
	for _, dir := range dirs {
		eventually(t, dir+" is removed", func() bool {
			_, err := os.Stat(dir)
			return os.IsNotExist(err)
		})
	}
}

// foldersOf finds the working folders of a process's children.
func foldersOf(t *testing.T, pid int) (dirs []string) {
	t.Helper()
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, task := range tasks {
		text, _ := os.ReadFile(task)
		for _, child := range strings.Fields(string(text)) {
			dir, _ := os.Readlink("/proc/" + child + "/cwd")
			if strings.Contains(dir, "supportbot-") {
				dirs = append(dirs, strings.TrimSuffix(dir, "/data"))
			}
		}
	}
	return dirs
}

// eventually looks again and again: what happens after a SIGKILL gives no signal.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	deadline := time.After(60 * time.Second)
	for !is() {
		select {
		case <-deadline:
			t.Fatalf("timed out: %s", what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// TestMissing: without a backend a test is skipped with the reason, and fails
// where CI=true.
func TestMissing(t *testing.T) {
	t.Parallel()
	if os.Getenv(childEnv) != "" {
		backendtest.Redis(t)
		return
	}
	for ci, want := range map[string]string{"": "--- SKIP", "true": "--- FAIL"} {
		child := exec.Command(os.Args[0], "-test.run=^TestMissing$", "-test.v")
		child.Env = append(os.Environ(), childEnv+"=missing", "PATH=", "CI="+ci)
		out, err := child.CombinedOutput()
		text := string(out)
		if !strings.Contains(text, want) || !strings.Contains(text, "apt-get install redis-server") || (err != nil) != (ci != "") {
			t.Errorf("CI=%q: got %v, want %s and what to install:\n%s", ci, err, want, text)
		}
	}
}
