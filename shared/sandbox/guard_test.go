package sandbox_test

import (
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"supportbot/shared/sandbox"
)

func TestGuard_LetsNoOtherOriginIn(t *testing.T) {
	t.Parallel()
	box := sandbox.New(sandbox.Config{})
	for name, c := range map[string]struct {
		method, host, path, header string
		want                       int
	}{
		"localhost":            {"GET", "localhost:8080", "/sandbox/", "", http.StatusOK},
		"an address":           {"GET", "192.168.0.7:8080", "/sandbox/", "", http.StatusOK},
		"an address of six":    {"GET", "[::1]:8080", "/sandbox/", "", http.StatusOK},
		"a name of the web":    {"GET", "evil.example:8080", "/sandbox/", "", http.StatusForbidden},
		"no name":              {"GET", "", "/sandbox/", "", http.StatusForbidden},
		"a name like ours":     {"GET", "localhost.evil.example", "/sandbox/api/state", "", http.StatusForbidden},
		"a form of a web page": {"POST", "localhost", "/sandbox/api/faults/vk", "", http.StatusForbidden},
		"our page":             {"POST", "localhost", "/sandbox/api/faults/vk", "1", http.StatusNotFound}, // no such server here
		"writing to the page":  {"POST", "localhost", "/sandbox/", "1", http.StatusMethodNotAllowed},
		"unknown file":         {"GET", "localhost", "/sandbox/x.js", "", http.StatusNotFound},
		"unknown call":         {"PUT", "localhost", "/sandbox/api/state", "1", http.StatusNotFound},
		"unknown pane":         {"GET", "localhost", "/sandbox/api/tickets", "", http.StatusNotFound},
	} {
		r := httptest.NewRequest(c.method, "http://x"+c.path, strings.NewReader(`{}`))
		r.Host = c.host
		if c.header != "" {
			r.Header.Set("X-Sandbox", c.header)
		}
		w := httptest.NewRecorder()
		box.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s: got %d, want %d", name, w.Code, c.want)
		}
		if p := w.Header().Get("Content-Security-Policy"); !strings.Contains(p, "default-src 'none'") || strings.Contains(p, "unsafe") {
			t.Errorf("%s: got policy %q", name, p)
		}
	}
}

func TestGuard_LimitsBodies(t *testing.T) {
	t.Parallel()
	box := sandbox.New(sandbox.Config{})
	for name, c := range map[string]struct {
		kind     string
		declared int64
		want     int
	}{
		"large JSON":              {"application/json", 1<<20 + 1, http.StatusRequestEntityTooLarge},
		"large form":              {"multipart/form-data; boundary=x", 64<<20 + 1, http.StatusRequestEntityTooLarge},
		"a form as large as ever": {"multipart/form-data; boundary=x", 64 << 20, http.StatusNotFound},
	} {
		r := httptest.NewRequest("POST", "http://localhost/sandbox/api/chats/vk", strings.NewReader("{}"))
		r.ContentLength = c.declared
		r.Header.Set("Content-Type", c.kind)
		r.Header.Set("X-Sandbox", "1")
		w := httptest.NewRecorder()
		box.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s: got %d, want %d", name, w.Code, c.want)
		}
	}
}

func TestGuard_LimitsBodiesOfNoDeclaredLength(t *testing.T) {
	t.Parallel()
	b := setup(t)
	body := io.MultiReader(strings.NewReader(`{"first_name":"`), strings.NewReader(strings.Repeat("x", 1<<20)))
	r, err := http.NewRequestWithContext(b.ctx, http.MethodPost, b.url+"api/chats/vk", body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Sandbox", "1")
	if got := b.send(r).status; got != http.StatusRequestEntityTooLarge {
		t.Errorf("got %d, want 413", got)
	}
}

func TestState_WithoutServers(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	sandbox.New(sandbox.Config{ReplyPrefix: "/ответ"}).ServeHTTP(w, httptest.NewRequest("GET", "http://127.0.0.1/sandbox/api/state", nil))
	if got, want := strings.TrimSpace(w.Body.String()), `{"messengers":[],"servers":[],"reply":"/ответ"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestStatic_IsSafe: the policy forbids what would be unsafe; this says at once
// what it was.
func TestStatic_IsSafe(t *testing.T) {
	t.Parallel()
	forbidden := map[string]*regexp.Regexp{
		"markup made of text":  regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|srcdoc`),
		"code made of text":    regexp.MustCompile(`\beval\(|new Function|setTimeout\(['"]`),
		"inline code or style": regexp.MustCompile(`<script>|<style|\sstyle="|\son[a-z]+="`),
		"an outside address":   regexp.MustCompile(`https?://[^\s'"]*`),
	}
	files := os.DirFS("static")
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := files.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		data, err := io.ReadAll(f)
		if err != nil {
			return err
		}
		text := strings.ReplaceAll(string(data), "http://www.w3.org/2000/svg", "")
		for what, pattern := range forbidden {
			if found := pattern.FindString(text); found != "" && path.Ext(name) != ".ogg" {
				t.Errorf("%s: %s: %s", name, what, found)
			}
		}
		if lines := strings.Count(text, "\n"); lines > 200 && path.Ext(name) != ".ogg" {
			t.Errorf("%s has %d lines: it is about more than one thing", name, lines)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestStatic_Words: both languages have the same texts, and the page asks for no
// text that is not there.
func TestStatic_Words(t *testing.T) {
	t.Parallel()
	read := func(name string) string {
		data, err := os.ReadFile(path.Join("static", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	key := regexp.MustCompile(`(?m)(?:^\s*|', )(?:'([\w.]+)'|(\w+)): '`)
	keys := map[string]map[string]bool{}
	for _, language := range []string{"ru", "en"} {
		keys[language] = map[string]bool{}
		for _, m := range key.FindAllStringSubmatch(read(language+".js"), -1) {
			keys[language][m[1]+m[2]] = true
		}
	}
	if n := len(keys["ru"]); n < 100 {
		t.Fatalf("got %d texts: they are not read as they should be", n)
	}
	form := regexp.MustCompile(`\.(few|many)$`) // English has none
	for text := range keys["ru"] {
		if !keys["en"][text] && !form.MatchString(text) {
			t.Errorf("%s has no English text", text)
		}
	}
	for text := range keys["en"] {
		if !keys["ru"][text] {
			t.Errorf("%s has no Russian text", text)
		}
	}
	asked := regexp.MustCompile(`\bt\('([\w.]+)'`)
	entries, err := os.ReadDir("static")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if path.Ext(e.Name()) != ".js" {
			continue
		}
		for _, m := range asked.FindAllStringSubmatch(read(e.Name()), -1) {
			if !keys["ru"][m[1]] {
				t.Errorf("%s asks for %s, which there is not", e.Name(), m[1])
			}
		}
	}
}
