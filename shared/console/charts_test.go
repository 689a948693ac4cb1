package console_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"supportbot/shared/browsertest"
	"supportbot/shared/console"
)

// TestCharts_InABrowser drives the page of charts with Chromium over an API that is
// made up: testdata/charts/drive.mjs says what it does. SCREENSHOTS names a folder for
// pictures.
func TestCharts_InABrowser(t *testing.T) {
	t.Parallel()
	browsertest.Drive(t, "testdata/charts/drive.mjs", 10*time.Minute, map[string]string{"page": serveCharts(t)})
}

// serveCharts gives the address of a console with charts.
func serveCharts(t *testing.T) string {
	mux := http.NewServeMux()
	page := console.New([]string{"ru", "en"})
	mux.Handle(console.Path, page)
	mux.Handle(console.Path+"/", page)
	mux.Handle("/", newCharts())
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	return web.URL + console.Path
}

// TestCharts_Weight: who opens the charts for the first time need not wait for long,
// on a phone either.
func TestCharts_Weight(t *testing.T) {
	t.Parallel()
	const most = 200_000 // bytes as sent: the whole console and Chart.js, which is 71,000 of them
	page := serveCharts(t)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	w, err := browsertest.Weigh(ctx, page+"/#code=analyst", page, console.ChartsReady)
	switch {
	case errors.Is(err, browsertest.ErrMissing) && os.Getenv("CI") != "true":
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	t.Logf("%d files, %d bytes as sent, %d unpacked; all charts drawn after %s", w.Files, w.Sent, w.Whole, w.Ready)
	if w.Sent > most || w.Files < 20 {
		t.Errorf("%d bytes in %d files", w.Sent, w.Files)
	}
}
