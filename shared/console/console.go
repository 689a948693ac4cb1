// Package console is the page for those who send broadcasts, look after jobs or look at
// charts: plain ES modules, no build step, over the JSON API of /v1 (package notification).
//
// The page itself is public and knows nothing; whoever opens it signs in with the
// one-time link of the bot. Its files stand below a folder that is named after their
// content, /console/<version>/, so that a browser asks for each of them once and, from
// then on, only whether the page itself is new: every request is a call of a function.
// The pages of jobs, the charts, and the library that draws them (chartjs, its licence
// beside it), are in folders of their own: they are loaded when somebody opens them.
package console

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
)

//go:embed static
var static embed.FS

// Path is where the page is; everything that belongs to it is below Path + "/".
const Path = "/console"

// ChartsReady is JavaScript that is true once every chart of the page is drawn, or says
// why it is not: for those who measure it.
const ChartsReady = `document.querySelector('.chart[data-metric]') && !document.querySelector('.chart[data-state="loading"]')`

// policy lets the page load its own files, call its own API and nothing else. No
// string ever becomes markup or code: trusted types without a single policy.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// Console serves the page. It is an http.Handler for Path and what is below it.
type Console struct {
	files   map[string]file // by path; the page is "index.html"
	version string
}

// New makes the page; locales are those that texts may be in, the first is offered
// first. It panics if the embedded files cannot be read, which no input can cause.
func New(locales []string) *Console {
	c := &Console{files: map[string]file{}}
	if err := c.read(); err != nil {
		panic(fmt.Sprintf("console: %v", err))
	}
	page := string(c.files["index.html"].data)
	for _, r := range [][2]string{
		{"  {modules}\n", c.modules()}, {"{later}", strings.Join(c.scripts(false), " ")}, {"{version}", c.version}, {"{locales}", strings.Join(locales, " ")},
	} {
		page = strings.ReplaceAll(page, r[0], r[1])
	}
	c.files["index.html"] = newFile("index.html", []byte(page))
	return c
}

// read takes the embedded files, and names their version after them.
func (c *Console) read() error {
	sum := sha256.New()
	err := fs.WalkDir(static, "static", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := static.ReadFile(name)
		if err != nil {
			return err
		}
		name = strings.TrimPrefix(name, "static/")
		_, _ = fmt.Fprintf(sum, "%s %d\n", name, len(data))
		sum.Write(data)
		c.files[name] = newFile(name, data)
		return nil
	})
	c.version = hex.EncodeToString(sum.Sum(nil)[:6])
	return err
}

// modules has the browser load the modules all at once, not one import after the
// other; except those in folders, which the page loads likewise when it needs them.
func (c *Console) modules() string {
	var out strings.Builder
	for _, name := range c.scripts(true) {
		fmt.Fprintf(&out, "  <link rel=\"modulepreload\" href=\"%s/{version}/%s\">\n", Path, name)
	}
	return out.String()
}

// scripts are the modules that the page has at first, or those in folders.
func (c *Console) scripts(first bool) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(c.files)) {
		if path.Ext(name) == ".js" && (path.Dir(name) == ".") == first {
			names = append(names, name)
		}
	}
	return names
}

// ServeHTTP answers GET and HEAD.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache") // ask each time whether it is still the same
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "the page is only read", http.StatusMethodNotAllowed)
		return
	}
	f, version, ok := c.find(r.URL.Path)
	if !ok {
		http.Error(w, "there is no such file", http.StatusNotFound)
		return
	}
	if version == c.version { // never anything else under this address
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	f.serve(w, r)
}

// find gives the file of an address, and the version that it names; "" for the page.
// While a new version is rolled out its files may be asked of an older instance, and
// the other way round: it gives what it has, not to be kept.
func (c *Console) find(address string) (f file, version string, ok bool) {
	rest, ok := strings.CutPrefix(address, Path)
	if !ok {
		return file{}, "", false
	}
	if rest == "" || rest == "/" {
		return c.files["index.html"], "", true
	}
	rest, below := strings.CutPrefix(rest, "/")
	version, name, _ := strings.Cut(rest, "/")
	if !below || version == "" || name == "index.html" {
		return file{}, "", false
	}
	f, ok = c.files[name]
	return f, version, ok
}
