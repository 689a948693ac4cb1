package sandbox_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"supportbot/shared/browsertest"
	"supportbot/shared/sandbox"
)

// TestPage_InABrowser drives the page with Chromium: testdata/browser/drive.mjs
// says what it does. SCREENSHOTS names a folder for pictures.
func TestPage_InABrowser(t *testing.T) {
	t.Parallel()
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

	setup := map[string]string{"page": web.URL + "/sandbox/"}
	for _, v := range servers.Variables() {
		setup[v.Name] = v.Value
	}
	browsertest.Drive(t, "testdata/browser/drive.mjs", 5*time.Minute, setup)
}
