package host_test

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	host "supportbot/.ci/host"
	"supportbot/.ci/package/builder"
)

// root is the module's folder as the tests see it.
const root = "../.."

// compileTime is for one plugin on a machine that has others to compile too.
const compileTime = 15 * time.Minute

// workshop is made once per test process, with the host.
var workshop = sync.OnceValues(func() (made struct {
	*host.Workshop
	host string
}, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), compileTime)
	defer cancel()
	if made.Workshop, err = host.NewWorkshop(ctx, root); err != nil {
		return made, err
	}
	made.host, err = made.Workshop.Host(ctx)
	return made, err
})

// tools gives the workshop. Where nothing can be compiled the test is skipped; with
// CI=true it fails.
func tools(t *testing.T) (w *host.Workshop, hostProgram string) {
	t.Helper()
	made, err := workshop()
	if errors.Is(err, builder.ErrNoToolchain) && os.Getenv("CI") != "true" {
		t.Skipf("skipped, cannot compile for the cloud: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return made.Workshop, made.host
}

// compiled are the plugins by name; each is made once per test process.
var compiled sync.Map

// compile gives the path of the plugin that make compiles.
func compile(t *testing.T, name string, make func(context.Context) (string, error)) string {
	t.Helper()
	once, _ := compiled.LoadOrStore(name, sync.OnceValues(func() (string, error) {
		ctx, cancel := context.WithTimeout(context.Background(), compileTime)
		defer cancel()
		return make(ctx)
	}))
	path, err := once.(func() (string, error))()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// start starts an instance that is frozen between calls.
func start(t *testing.T, c host.Config) *host.Process {
	t.Helper()
	c.Freeze = true
	p, err := host.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// function starts an instance of one of the functions.
func function(t *testing.T, name string, env map[string]string) *host.Process {
	t.Helper()
	w, program := tools(t)
	plugin := compile(t, name, func(ctx context.Context) (string, error) { return w.Function(ctx, name) })
	return start(t, host.Config{Host: program, Plugin: plugin, Function: name, Env: env})
}
