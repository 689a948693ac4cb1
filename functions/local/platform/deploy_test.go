package platform_test

import (
	"bytes"
	"maps"
	"strings"
	"testing"

	"supportbot/functions/local/deploy"
)

// TestMainJob_Connected: on fresh accounts make connect sets up everything that the
// main job needs, and make doctor finds nothing wrong, before it and after it.
func TestMainJob_Connected(t *testing.T) {
	t.Parallel()
	eachMessenger(t, func(t *testing.T, w *world, c customer) {
		t.Helper()
		w.examine()
		mainJob(t, w, c)
		w.examine()
	}, func(w *world) { w.fresh = true })
}

// deployment is the world as an operator sees it.
func (w *world) deployment(out *bytes.Buffer) *deploy.Deployment {
	w.t.Helper()
	vars := maps.Clone(w.env)
	vars["WEBHOOKS"], vars["CONSOLE"] = w.url, w.url
	d, err := deploy.New(deploy.Config{Out: out, Lookup: func(name string) (string, bool) { v, ok := vars[name]; return v, ok }})
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

func (w *world) makeConnect() {
	w.t.Helper()
	var out bytes.Buffer
	if err := w.deployment(&out).Connect(w.ctx, deploy.Options{}); err != nil {
		w.t.Fatalf("connect: %v\n%s", err, out.String())
	}
}

func (w *world) examine() {
	w.t.Helper()
	var out bytes.Buffer
	if err := w.deployment(&out).Doctor(w.ctx); err != nil || strings.Contains(out.String(), canary) {
		w.t.Errorf("doctor: %v\n%s", err, out.String())
	}
}
