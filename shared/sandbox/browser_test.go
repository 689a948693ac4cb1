package sandbox_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"supportbot/shared/sandbox"
)

// TestPage_InABrowser drives the page with Chromium: testdata/browser/drive.mjs
// says what it does. SCREENSHOTS names a folder for pictures.
func TestPage_InABrowser(t *testing.T) {
	t.Parallel()
	node := need(t, "node")
	chromium := need(t, "chromium")
	if _, err := os.Stat(filepath.Join("testdata", "browser", "node_modules", "playwright-core")); err != nil {
		missing(t, "playwright-core is not installed: run npm ci in shared/sandbox/testdata/browser")
	}

	servers, err := sandbox.Servers(sandbox.ServersConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(servers.Close)
	box := sandbox.New(servers.Config())
	mux := http.NewServeMux()
	mux.Handle("/sandbox/", box)
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	t.Cleanup(box.Close)

	where := map[string]string{"page": web.URL + "/sandbox/", "chromium": chromium, "screenshots": os.Getenv("SCREENSHOTS")}
	for _, v := range servers.Variables() {
		where[v.Name] = v.Value
	}
	setup, err := json.Marshal(where)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	drive := exec.CommandContext(ctx, node, "drive.mjs", string(setup))
	drive.Dir = filepath.Join("testdata", "browser")
	out, err := drive.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatalf("drive the page: %v", err)
	}
}

// need gives the path of a program.
func need(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		missing(t, name+" is not installed")
	}
	return path
}

// missing skips the test, but not where everything has to be there.
func missing(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(why)
	}
	t.Skip(why)
}
