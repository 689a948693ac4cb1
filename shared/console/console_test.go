package console_test

import (
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"supportbot/shared/console"
)

func get(t *testing.T, method, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	console.New([]string{"ru", "en"}).ServeHTTP(w, r)
	return w
}

// linked are the addresses of the page's own files.
func linked(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, m := range regexp.MustCompile(`(?:href|src)="([^"]+)"`).FindAllStringSubmatch(get(t, "GET", "/console/").Body.String(), -1) {
		all = append(all, m[1])
	}
	if len(all) < 10 {
		t.Fatalf("the page links only %q", all)
	}
	return all
}

func TestPage(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/console", "/console/"} {
		w := get(t, "GET", path)
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("%s: %d %s", path, w.Code, w.Header().Get("Content-Type"))
		}
		body := w.Body.String()
		if !strings.Contains(body, `data-locales="ru en"`) || regexp.MustCompile(`\{\w+\}`).MatchString(body) {
			t.Errorf("%s is not filled in:\n%s", path, body)
		}
		if regexp.MustCompile(`<script(?:[^>]*)>[^<]|style=|<style| on\w+=`).MatchString(body) {
			t.Errorf("%s has a script or a style inside, which the policy forbids", path)
		}
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/console/", linked(t)[0], "/console/none"} {
		h := get(t, "GET", path).Header()
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := h.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
		csp := h.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "frame-ancestors 'none'", "trusted-types 'none'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: the policy %q lacks %q", path, csp, want)
			}
		}
		if strings.Contains(csp, "unsafe") {
			t.Errorf("%s: the policy is %q", path, csp)
		}
	}
}

// TestFiles: what the page names is there, with its type, and need not be asked for
// again; of another version it is given too, but not to be kept.
func TestFiles(t *testing.T) {
	t.Parallel()
	kinds := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
	seen := map[string]bool{}
	for _, path := range linked(t) {
		w := get(t, "GET", path)
		name := strings.SplitN(path, "/", 4)[3] // below the version
		seen[name] = true
		if got, want := w.Header().Get("Content-Type"), kinds[path[strings.LastIndex(path, "."):]]; w.Code != http.StatusOK || got != want {
			t.Errorf("%s: %d %q, want %q", path, w.Code, got, want)
		}
		if got := w.Header().Get("Cache-Control"); got != "public, max-age=31536000, immutable" {
			t.Errorf("%s: kept as %q", path, got)
		}
		other := get(t, "GET", "/console/000000000000/"+name)
		if other.Code != http.StatusOK || other.Header().Get("Cache-Control") != "no-cache" || other.Body.String() != w.Body.String() {
			t.Errorf("%s of another version: %d, kept as %q", path, other.Code, other.Header().Get("Cache-Control"))
		}
	}
	for _, name := range files(t) {
		ext, first := path.Ext(name), path.Dir(name) == "." // what is in folders waits until somebody asks for it
		if (ext == ".js" || ext == ".css") && seen[name] != first {
			t.Errorf("the page names %s: %t", name, !first)
		}
	}
}

// files are the paths of all files of the page.
func files(t *testing.T) (all []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS("static"), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			all = append(all, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// version is the folder of the page's files.
func version(t *testing.T) string {
	t.Helper()
	return path.Dir(linked(t)[0])
}

// TestFolders: what is loaded later is there too, and kept as long.
func TestFolders(t *testing.T) {
	t.Parallel()
	kinds := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".txt": "text/plain; charset=utf-8"}
	found := 0
	for _, name := range files(t) {
		if path.Dir(name) == "." {
			continue
		}
		found++
		w := get(t, "GET", version(t)+"/"+name)
		if got, want := w.Header().Get("Content-Type"), kinds[path.Ext(name)]; w.Code != http.StatusOK || got != want {
			t.Errorf("%s: %d %q, want %q", name, w.Code, got, want)
		}
		if got := w.Header().Get("Cache-Control"); got != "public, max-age=31536000, immutable" {
			t.Errorf("%s: kept as %q", name, got)
		}
	}
	if found < 10 {
		t.Errorf("found only %d", found)
	}
	later := strings.Fields(regexp.MustCompile(`data-later="([^"]+)"`).FindStringSubmatch(get(t, "GET", "/console/").Body.String())[1])
	for _, name := range files(t) {
		if path.Ext(name) == ".js" && path.Dir(name) != "." != slices.Contains(later, name) {
			t.Errorf("%s among those for later: %t", name, slices.Contains(later, name))
		}
	}
}

// TestLibrary: the library is as it was published, and its licence is beside it.
func TestLibrary(t *testing.T) {
	t.Parallel()
	library, err := os.ReadFile("static/chartjs/chart-4.6.1.umd.min.js")
	if err != nil {
		t.Fatal(err)
	}
	licence, err := os.ReadFile("static/chartjs/LICENSE.txt")
	if err != nil {
		t.Fatal(err)
	}
	if sum := fmt.Sprintf("SHA-256 %x", sha256.Sum256(library)); !strings.Contains(string(licence), sum) || strings.Count(string(licence), "Permission is hereby granted") != 2 {
		t.Errorf("the licence speaks of another file than that with %s", sum)
	}
}

// TestPacked: who can read gzip gets less.
func TestPacked(t *testing.T) {
	t.Parallel()
	name := version(t) + "/app.js"
	plain := get(t, "GET", name)
	for accept, packed := range map[string]bool{
		"gzip": true, "br;q=1.0, gzip;q=0.8, *;q=0.1": true, "deflate, gzip": true,
		"": false, "br": false, "gzip;q=0": false, "gzip; q=0.0": false, "xgzip": false,
	} {
		w := get(t, "GET", name, "Accept-Encoding", accept)
		body := io.Reader(w.Body)
		if got := w.Header().Get("Content-Encoding") == "gzip"; got != packed {
			t.Errorf("%q: gzip is %t", accept, got)
			continue
		}
		if packed {
			if w.Body.Len() >= plain.Body.Len() || w.Header().Get("ETag") == plain.Header().Get("ETag") {
				t.Errorf("%q: %d bytes under the ETag %s", accept, w.Body.Len(), w.Header().Get("ETag"))
			}
			var err error
			if body, err = gzip.NewReader(body); err != nil {
				t.Fatal(err)
			}
		}
		got, err := io.ReadAll(body)
		if err != nil || string(got) != plain.Body.String() {
			t.Errorf("%q: other %d bytes, %v", accept, len(got), err)
		}
		if w.Header().Get("Vary") != "Accept-Encoding" || w.Header().Get("Content-Type") != "text/javascript; charset=utf-8" {
			t.Errorf("%q: %v", accept, w.Header())
		}
		if again := get(t, "GET", name, "Accept-Encoding", accept, "If-None-Match", w.Header().Get("ETag")); again.Code != http.StatusNotModified {
			t.Errorf("%q, unchanged: %d", accept, again.Code)
		}
	}
}

// TestUnchanged: who has the page asks only whether it is still the same.
func TestUnchanged(t *testing.T) {
	t.Parallel()
	first := get(t, "GET", "/console/")
	etag := first.Header().Get("ETag")
	if etag == "" || first.Header().Get("Cache-Control") != "no-cache" {
		t.Fatalf("ETag %q, Cache-Control %q", etag, first.Header().Get("Cache-Control"))
	}
	if w := get(t, "GET", "/console/", "If-None-Match", etag); w.Code != http.StatusNotModified || w.Body.Len() > 0 {
		t.Errorf("unchanged: %d with %d bytes", w.Code, w.Body.Len())
	}
	if w := get(t, "GET", "/console/", "If-None-Match", `"other"`); w.Code != http.StatusOK || w.Body.Len() == 0 {
		t.Errorf("changed: %d with %d bytes", w.Code, w.Body.Len())
	}
	head := get(t, "HEAD", "/console/")
	if head.Code != http.StatusOK || head.Body.Len() > 0 || head.Header().Get("ETag") != etag || head.Header().Get("Content-Length") == "" {
		t.Errorf("HEAD: %d, %d bytes, %v", head.Code, head.Body.Len(), head.Header())
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	version := version(t)
	for name, path := range map[string]string{
		"a folder of it":   version + "/charts",
		"unknown":          version + "/none.js",
		"a folder":         version + "/",
		"the bare version": version,
		"no version":       "/console/app.js",
		"the template":     version + "/index.html",
		"up":               version + "/../console.go",
		"up, encoded":      version + "/%2e%2e/console.go",
		"up twice":         "/console/../../go.mod",
		"a backslash":      version + `/..%5cconsole.go`,
		"two slashes":      "/console//app.js",
		"absolute":         version + "//etc/passwd",
		"a like name":      "/consoles",
		"a NUL":            version + "/app.js%00",
	} {
		if w := get(t, "GET", path); w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), "package") {
			t.Errorf("%s, %s: %d %.80s", name, path, w.Code, w.Body)
		}
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
		if w := get(t, method, "/console/"); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %d, Allow %q", method, w.Code, w.Header().Get("Allow"))
		}
	}
}

// TestWords: both languages have the same texts with the same blanks, and all that
// the page asks for by name.
func TestWords(t *testing.T) {
	t.Parallel()
	ru, en := words(t, "ru"), words(t, "en")
	for key, text := range ru {
		if strings.HasSuffix(key, ".few") || strings.HasSuffix(key, ".many") { // English has no such forms
			continue
		}
		if other, ok := en[key]; !ok {
			t.Errorf("%s is not in English", key)
		} else if got, want := blanks(other), blanks(text); got != want {
			t.Errorf("%s: the English one has the blanks %s, the Russian one %s", key, got, want)
		}
	}
	for key := range en {
		if _, ok := ru[key]; !ok {
			t.Errorf("%s is not in Russian", key)
		}
	}
	asked := 0
	for _, name := range files(t) {
		source, err := os.ReadFile("static/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\b(t|count)\('([^']+)'`).FindAllStringSubmatch(string(source), -1) {
			asked++
			key := m[2]
			if m[1] == "count" {
				key += ".other"
			}
			if _, ok := ru[key]; !ok {
				t.Errorf("%s asks for %s, which there is not", name, key)
			}
		}
	}
	if asked < 100 {
		t.Errorf("found only %d texts that are asked for", asked)
	}
}

// words reads a catalogue of the page.
func words(t *testing.T, language string) map[string]string {
	t.Helper()
	source, err := os.ReadFile("static/" + language + ".js")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, m := range regexp.MustCompile(`(?:'([^']+)'|\b(\w+)): '([^']*)'`).FindAllStringSubmatch(string(source), -1) {
		all[m[1]+m[2]] = m[3]
	}
	return all
}

func blanks(text string) string {
	found := map[string]bool{}
	for _, b := range regexp.MustCompile(`\{\w+\}`).FindAllString(text, -1) {
		found[b] = true
	}
	var list []string
	for _, b := range []string{"{n}", "{when}", "{span}", "{id}", "{name}", "{tags}", "{day}", "{zone}", "{from}", "{to}", "{people}", "{sent}", "{open}", "{detail}", "{clock}", "{done}", "{total}", "{percent}", "{state}", "{language}", "{value}"} {
		if found[b] {
			list = append(list, b)
			delete(found, b)
		}
	}
	for b := range found {
		list = append(list, "unknown "+b)
	}
	return strings.Join(list, " ")
}
