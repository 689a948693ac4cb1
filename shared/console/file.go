package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

// types are those of the files; the machine's own table may say something else.
var types = map[string]string{
	".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8",
	".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8",
}

// file is one of the page's files, as it is and compressed.
type file struct {
	data   []byte
	packed func() []byte // made when somebody first asks for it
	kind   string        // of its content
	etag   string        // without quotation marks
}

func newFile(name string, data []byte) file {
	sum := sha256.Sum256(data)
	return file{
		data: data, kind: types[path.Ext(name)], etag: hex.EncodeToString(sum[:8]),
		packed: sync.OnceValue(func() []byte { return pack(data) }),
	}
}

// pack compresses: nothing between a function and a browser does it.
func pack(data []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(data) // into memory
	_ = w.Close()
	return out.Bytes()
}

// serve answers with the file, or that it is the same as before.
func (f file) serve(w http.ResponseWriter, r *http.Request) {
	h, data, etag := w.Header(), f.data, f.etag
	h.Set("Content-Type", f.kind)
	h.Set("Vary", "Accept-Encoding")
	if unpacks(r) {
		h.Set("Content-Encoding", "gzip")
		data, etag = f.packed(), f.etag+"-gzip"
	}
	h.Set("ETag", `"`+etag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

// unpacks says whether the caller can read gzip.
func unpacks(r *http.Request) bool {
	for _, one := range strings.Split(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(one, ";")
		refused := strings.TrimRight(strings.TrimSpace(weight), "0.") == "q="
		if strings.TrimSpace(name) == "gzip" && !refused {
			return true
		}
	}
	return false
}
