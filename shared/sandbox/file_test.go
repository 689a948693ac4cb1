package sandbox_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestFiles_NothingRuns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		name, mime, data string
		kind             string // of the answer
		shown            bool
	}{
		"a page":            {"a.png", "image/png", "<html><script>alert(1)</script>", "application/octet-stream", false},
		"a drawing":         {"a.svg", "image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`, "application/octet-stream", false},
		"a picture":         {"a.html", "text/html", "\x89PNG\r\n\x1a\n", "image/png", true},
		"a sound":           {"a", "text/html", "OggS\x00\x02", "audio/ogg", true},
		"a document":        {"a.pdf", "application/pdf", "%PDF-1.4", "application/octet-stream", false},
		"a name with signs": {"a\"b;c.txt", "text/plain", "x", "application/octet-stream", false},
		"a Russian name":    {"чек.txt", "text/plain", "x", "application/octet-stream", false},
		"nothing":           {"empty", "text/plain", "", "application/octet-stream", false},
	} {
		for _, messenger := range messengers {
			t.Run(name+" in "+messenger, func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				id := b.people(messenger)[0]
				b.must("POST", "chats/"+messenger+"/"+id+"/messages", newForm("as", "document").file(c.name, c.mime, c.data))
				r, err := http.NewRequestWithContext(b.ctx, http.MethodGet, b.url+b.chat(messenger, id).Put[0].Files[0].URL, nil)
				if err != nil {
					t.Fatal(err)
				}
				got := b.send(r)
				h := got.header
				if got.status != http.StatusOK || string(got.body) != c.data {
					t.Errorf("got %d %q, want the file", got.status, got.body)
				}
				if kind := h.Get("Content-Type"); kind != c.kind || h.Get("X-Content-Type-Options") != "nosniff" {
					t.Errorf("got type %q, want %q", kind, c.kind)
				}
				if shown := strings.HasPrefix(h.Get("Content-Disposition"), "inline"); shown != c.shown {
					t.Errorf("got disposition %q, want shown %v", h.Get("Content-Disposition"), c.shown)
				}
				if policy := h.Get("Content-Security-Policy"); !strings.Contains(policy, "sandbox") {
					t.Errorf("got policy %q", policy)
				}
			})
		}
	}
}

func TestFiles_Unknown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, messenger := range messengers {
		id := b.people(messenger)[0]
		b.must("POST", "chats/"+messenger+"/"+id+"/messages", newForm().file("a.txt", "text/plain", "x"))
		at := b.chat(messenger, id).Put[0].ID
		for _, path := range []string{id + "/files/" + at + "/1", id + "/files/" + at + "/-1", id + "/files/" + at + "/x", id + "/files/99/0", "1/files/" + at + "/0"} {
			if got := b.do("GET", "chats/"+messenger+"/"+path, nil).status; got != http.StatusNotFound {
				t.Errorf("%s/%s: got %d, want 404", messenger, path, got)
			}
		}
	}
}
