package platform_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	analyticsloader "supportbot/functions/analytics-loader/wire"
	migrate "supportbot/functions/migrate/wire"
	notificationapi "supportbot/functions/notification-api/wire"
	notificationworker "supportbot/functions/notification-worker/wire"
	reconciler "supportbot/functions/reconciler/wire"
	telegramwebhook "supportbot/functions/telegram-webhook/wire"
	tickets "supportbot/functions/ticket-worker/wire"
	trackerhandler "supportbot/functions/tracker-handler/wire"
	trackerworker "supportbot/functions/tracker-worker/wire"
	vkwebhook "supportbot/functions/vk-webhook/wire"
	"supportbot/shared/env"
	"supportbot/shared/wiring"
)

const root = "../../.."

// wirings build every function; building calls nobody. Errors come from values that
// are none, and after everything was read.
var wirings = map[string]func(wiring.Runtime) error{
	"analytics-loader": func(rt wiring.Runtime) error {
		f, err := analyticsloader.New(rt.Env, rt.Log, rt.Hook)
		if err == nil {
			f.Close()
		}
		return err
	},
	"migrate": func(rt wiring.Runtime) error {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = migrate.Migrate(ctx, rt.Env, rt.Log) // no database is there
		return rt.Env.Err()
	},
	"notification-api":    func(rt wiring.Runtime) error { _, err := notificationapi.New(rt); return err },
	"notification-worker": func(rt wiring.Runtime) error { _, err := notificationworker.New(rt); return err },
	"reconciler":          func(rt wiring.Runtime) error { _, err := reconciler.New(rt); return err },
	"telegram-webhook":    func(rt wiring.Runtime) error { _, err := telegramwebhook.New(rt); return err },
	"ticket-worker":       func(rt wiring.Runtime) error { _, err := tickets.New(rt); return err },
	"tracker-handler":     func(rt wiring.Runtime) error { _, err := trackerhandler.New(rt); return err },
	"tracker-worker":      func(rt wiring.Runtime) error { _, err := trackerworker.New(rt); return err },
	"vk-webhook":          func(rt wiring.Runtime) error { _, err := vkwebhook.New(rt); return err },
}

// environment records which variables are asked for.
type environment struct {
	mu    sync.Mutex
	asked map[string]bool
}

func (e *environment) lookup(name string) (string, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked[name] = true
	v, ok := map[string]string{
		"DATABASE_URL": "postgres://nobody@127.0.0.1:1/none", "REDIS_URL": "redis://127.0.0.1:1/0",
		"CLICKHOUSE_URL":   "http://nobody@127.0.0.1:1/none",
		"QUEUE_ACCESS_KEY": "key", "QUEUE_SECRET_KEY": "secret",
		"QUEUE_URL_TICKETS": "http://127.0.0.1:1/t", "QUEUE_URL_DELIVERIES": "http://127.0.0.1:1/d", "QUEUE_URL_BROADCASTS": "http://127.0.0.1:1/b",
		"TELEGRAM_TOKEN": telegramToken, "TELEGRAM_WEBHOOK_SECRET": secret,
		"VK_TOKEN": vkToken, "VK_GROUP_ID": "209", "VK_SECRET": secret, "VK_CONFIRMATION": "confirm",
		"TRACKER_TOKEN": trackerToken, "TRACKER_ORG_ID": "77", "TRACKER_QUEUE": "SUP", "TRACKER_WEBHOOK_SECRET": secret,
	}[name]
	return v, ok
}

// TestReadme_Variables: the README's table has every variable that is read, and no
// other. What the functions read is recorded while they are built; what else the
// sources name is found in them.
func TestReadme_Variables(t *testing.T) {
	t.Parallel()
	read := readByFunctions(t)
	named := namedInSources(t)
	documented := inReadme(t)
	maps.Copy(read, named)
	for name := range read {
		if !documented[name] {
			t.Errorf("%s is read, and the README's table does not know it", name)
		}
	}
	for name := range documented {
		if !read[name] {
			t.Errorf("the README's table has %s, and nothing reads it", name)
		}
	}
	if len(documented) < 30 || !read["QUEUE_URL_TICKETS"] || !named["PORT"] {
		t.Errorf("the test sees too little: %d in the README, %d read, %d named", len(documented), len(read), len(named))
	}
}

func readByFunctions(t *testing.T) map[string]bool {
	t.Helper()
	dirs, err := filepath.Glob(root + "/functions/*/wire")
	if err != nil || len(dirs) < 7 {
		t.Fatalf("%d functions, %v", len(dirs), err)
	}
	e := &environment{asked: map[string]bool{}}
	for _, dir := range dirs {
		name := filepath.Base(filepath.Dir(dir))
		build, ok := wirings[name]
		if !ok {
			t.Errorf("this test does not build %s", name)
			continue
		}
		if err := build(wiring.Runtime{Env: env.NewReaderFrom(e.lookup), Log: slog.New(slog.NewTextHandler(io.Discard, nil))}); err != nil {
			t.Errorf("%s is not built, so not all is read: %v", name, err)
		}
	}
	return e.asked
}

// onlyTests are folders that no deployed function and no local run reads variables in.
var onlyTests = []string{"shared/backend/backendtest", "shared/browsertest", "shared/spec", "shared/wiring/wiringtest"}

// namedInSources finds the names that are given as they are to what reads the
// environment: the methods of env.Reader, of package os, and of the local run's
// variables.
func namedInSources(t *testing.T) map[string]bool {
	t.Helper()
	readers := []string{
		"String", "Required", "Secret", "RequiredSecret", "Secrets", "RequiredSecrets", "Int", "Duration",
		"Getenv", "LookupEnv", "get", "or",
	}
	variable := regexp.MustCompile(`^[A-Z][A-Z0-9]+(_[A-Z0-9]+)*$`)
	found := map[string]bool{}
	visit := func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		text, isText := call.Args[0].(*ast.BasicLit)
		if !ok || !isText || text.Kind != token.STRING || !slices.Contains(readers, f.Sel.Name) {
			return true
		}
		if name, err := strconv.Unquote(text.Value); err == nil && variable.MatchString(name) {
			found[name] = true
		}
		return true
	}
	for _, top := range []string{"functions", "shared"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			ours, _ := filepath.Rel(root, path)
			if d.IsDir() && (slices.Contains(onlyTests, filepath.ToSlash(ours)) || d.Name() == "node_modules") {
				return filepath.SkipDir
			}
			if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, visit)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// inReadme gives the names in the first column of the table of variables.
func inReadme(t *testing.T) map[string]bool {
	t.Helper()
	raw, err := os.ReadFile(root + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(raw), "\n## Variables\n")
	section, _, _ = strings.Cut(section, "\n## ")
	quoted := regexp.MustCompile("`([A-Z][A-Z0-9_]+)`")
	names := map[string]bool{}
	for _, line := range strings.Split(section, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		for _, m := range quoted.FindAllStringSubmatch(cells[1], -1) {
			names[m[1]] = true
		}
	}
	return names
}
