package console_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"supportbot/shared/browsertest"
	"supportbot/shared/console"
)

// TestJobs_InABrowser drives the pages of jobs with Chromium, over the API on a database
// that is made up: testdata/jobs/drive.mjs says what it does. SCREENSHOTS names a folder
// for pictures.
func TestJobs_InABrowser(t *testing.T) {
	t.Parallel()
	l := newLedger()
	mux := http.NewServeMux()
	page := console.New([]string{"ru", "en"})
	mux.Handle(console.Path, page)
	mux.Handle(console.Path+"/", page)
	mux.Handle("/v1/", l.api())
	mux.HandleFunc("/stage/", l.stage)
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	browsertest.Drive(t, "testdata/jobs/drive.mjs", 10*time.Minute, map[string]string{"page": web.URL + console.Path})
}
