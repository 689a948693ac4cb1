package console_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"

	"supportbot/shared/console"
)

// FuzzFile: whatever address is asked for, with whatever a browser says of itself, it is
// one of the page's files or none.
func FuzzFile(f *testing.F) {
	for _, path := range []string{
		"/console", "/console/", "/console/x/app.js", "/console/x/jobs/list.js", "/console/x/../index.html", "/console//app.js", "/console/x//app.js", "/console/x/index.html",
		"/console/x/jobs", "/consolex/app.js", "/consolex/x/app.js", "/console/x/app.js/", "/console/%2e%2e/app.js", "/console/x/\x00", "", "\xff",
	} {
		for _, header := range []string{"", "gzip", "gzip;q=0", "br, gzip ; q=0.5", ";;,,", "gzip;q", "\xff", `"x"`, "*", "bytes=0-0,1-1", "bytes=-1", "bytes=99999999999999999999-"} {
			f.Add(path, header)
		}
	}
	page := console.New([]string{"ru", "en"})
	f.Fuzz(func(t *testing.T, path, header string) {
		w := httptest.NewRecorder()
		page.ServeHTTP(w, &http.Request{Method: http.MethodGet, URL: &url.URL{Path: path}, Header: http.Header{
			"Accept-Encoding": {header}, "If-None-Match": {header}, "If-Range": {header}, "Range": {header},
		}})
		found := path == console.Path || path == console.Path+"/"
		if parts := strings.SplitN(path, "/", 4); !found && len(parts) == 4 {
			_, err := os.Stat("static/" + parts[3])
			found = err == nil
		}
		switch {
		case w.Code >= http.StatusInternalServerError:
			t.Errorf("%q with %q: %d", path, header, w.Code)
		case w.Code < http.StatusBadRequest && !found:
			t.Errorf("%q, which is no file, with %q: %d %.100s", path, header, w.Code, w.Body)
		case w.Header().Get("Content-Security-Policy") == "" || w.Header().Get("X-Content-Type-Options") != "nosniff":
			t.Errorf("%q with %q: without a policy", path, header)
		}
	})
}
