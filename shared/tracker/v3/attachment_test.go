package v3_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sandbox "supportbot/shared/sandbox/tracker"
	"supportbot/shared/tracker"
	"supportbot/shared/tracker/v3"
)

func TestFiles_NamesSurviveTheWayThereAndBack(t *testing.T) {
	t.Parallel()
	w := setup(t)
	ctx := context.Background()
	w.create(t, tracker.NewIssue{})
	names := []string{
		"отчёт за март.docx", "a/b\\c.txt", `кав"ычки.txt`, "100%.txt", "q?a=1&b=2#x.txt", "смайл 🖨.png", "+ +.txt",
		strings.Repeat("д", 200) + ".txt", "файл;filename=x.txt", "..hidden", "noext", "\tперенос\nстроки.txt",
	}
	for _, name := range names {
		want := []byte("содержимое " + name)
		up, err := w.Upload(ctx, tracker.Upload{Name: name, Size: int64(len(want)), Body: bytes.NewReader(want)})
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		if _, err := w.AddComment(ctx, "SUP-1", tracker.NewComment{Text: "x", Attachments: []string{up.ID}}); err != nil {
			t.Fatal(err)
		}
		if up.Name != strings.TrimSpace(name) {
			t.Errorf("got name %q, want %q", up.Name, name)
		}
		body, err := w.Download(ctx, "SUP-1", up)
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		got, err := io.ReadAll(body)
		_ = body.Close()
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%q: got %d bytes, %v, want %d", name, len(got), err, len(want))
		}
	}
}

func TestUpload_NamesThatAreNoNames(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for _, name := range []string{"", ".", "..", "  "} {
		up, err := w.Upload(context.Background(), tracker.Upload{Name: name, Size: 1, Body: strings.NewReader("x")})
		if err != nil || up.Name != "file" {
			t.Errorf("%q: got %q, %v, want file", name, up.Name, err)
		}
	}
}

func TestUpload_SizesThatLie(t *testing.T) {
	t.Parallel()
	broken := errors.New("the source broke")
	cases := map[string]struct {
		size int64
		body io.Reader
		want error // "" kind: success
	}{
		"right":         {3, strings.NewReader("abc"), nil},
		"unknown":       {-1, strings.NewReader("abc"), nil},
		"empty":         {0, strings.NewReader(""), nil},
		"too short":     {5, strings.NewReader("abc"), io.ErrUnexpectedEOF},
		"source breaks": {5, io.MultiReader(strings.NewReader("abc"), failing{broken}), broken},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			up, err := w.Upload(context.Background(), tracker.Upload{Name: "a.txt", Size: tc.size, Body: tc.body})
			if tc.want == nil && (err != nil || up.ID == "") {
				t.Fatalf("got %+v, %v", up, err)
			}
			if tc.want != nil {
				wantKind(t, err, tracker.Temporary)
				if !errors.Is(err, tc.want) {
					t.Errorf("got %v, want %v", err, tc.want)
				}
			}
		})
	}
	w := setup(t)
	_, err := w.Upload(context.Background(), tracker.Upload{Name: "a", Size: 2, Body: strings.NewReader("abc")})
	wantKind(t, err, tracker.Temporary)
	if !strings.Contains(err.Error(), "longer than was said") {
		t.Errorf("got %v, want the reason", err)
	}
	_, err = w.Upload(context.Background(), tracker.Upload{Name: "a", Size: v3.MaxFile + 1, Body: strings.NewReader("abc")})
	wantKind(t, err, tracker.Invalid)
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// noise is a file of random bytes that nobody holds.
type noise struct {
	r    *rand.ChaCha8
	left int64
}

func newNoise(size int64) *noise { return &noise{rand.NewChaCha8([32]byte{1}), size} }

func (n *noise) Read(p []byte) (int, error) {
	if n.left == 0 {
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), n.left)]
	got, err := n.r.Read(p)
	n.left -= int64(got)
	return got, err
}

// A large file goes through in both directions without being held. It runs alone:
// it looks at the memory of the whole process.
func TestFiles_LargeOnesAreStreamed(t *testing.T) {
	const size, allowed = 96 << 20, 32 << 20
	w := setup(t, func(_ *sandbox.Config, c *v3.Config) { c.Stall = time.Minute })
	ctx := context.Background()
	w.create(t, tracker.NewIssue{})
	var peak atomic.Uint64
	watch := func(r io.Reader) io.Reader { return &watched{r: r, peak: &peak} }
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)

	up, err := w.Upload(ctx, tracker.Upload{Name: "видео.mp4", Size: size, Body: watch(newNoise(size))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.AddComment(ctx, "SUP-1", tracker.NewComment{Text: "x", Attachments: []string{up.ID}}); err != nil {
		t.Fatal(err)
	}
	body, err := w.Download(ctx, "SUP-1", up)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	got, want := sha256.New(), sha256.New()
	n, err := io.Copy(got, watch(body))
	if err != nil || n != size {
		t.Fatalf("got %d bytes, %v, want %d", n, err, size)
	}
	_, _ = io.Copy(want, newNoise(size))
	if !bytes.Equal(got.Sum(nil), want.Sum(nil)) {
		t.Error("the file came back changed")
	}
	if grown := int64(peak.Load()) - int64(before.HeapAlloc); grown > allowed {
		t.Errorf("the heap grew by %d MB, want at most %d MB", grown>>20, allowed>>20)
	}
}

// watched looks at the heap every 16 MB.
type watched struct {
	r    io.Reader
	n    int64
	peak *atomic.Uint64
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if before := w.n; before>>24 != (before+int64(n))>>24 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		w.peak.Store(max(w.peak.Load(), m.HeapAlloc))
	}
	w.n += int64(n)
	return n, err
}

func TestFiles_TransfersThatStandStill(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	c := against(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("half"))
			w.(http.Flusher).Flush()
		}
		<-release
	}, func(c *v3.Config) { c.Stall = 100 * time.Millisecond })
	t.Cleanup(func() { close(release) })
	_, err := c.Upload(context.Background(), tracker.Upload{Name: "a", Size: 1, Body: strings.NewReader("x")})
	wantKind(t, err, tracker.Temporary)
	if !strings.Contains(err.Error(), "stands still") {
		t.Errorf("got %v, want the reason", err)
	}
	body, err := c.Download(context.Background(), "SUP-1", tracker.Attachment{ID: "1", Name: "a"})
	if err == nil {
		defer body.Close()
		_, err = io.ReadAll(body)
	}
	wantKind(t, err, tracker.Temporary)
	if !strings.Contains(err.Error(), "stands still") {
		t.Errorf("got %v, want the reason", err)
	}
}

// A file that breaks off is not taken for a whole one.
func TestDownload_CutShort(t *testing.T) {
	t.Parallel()
	c := against(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("half"))
		panic(http.ErrAbortHandler)
	})
	body, err := c.Download(context.Background(), "SUP-1", tracker.Attachment{ID: "1", Name: "a"})
	if err == nil {
		defer body.Close()
		_, err = io.ReadAll(body)
	}
	wantKind(t, err, tracker.Temporary)
}

func TestDownload_NeedsTheRightName(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create(t, tracker.NewIssue{})
	_, err := w.Download(context.Background(), "SUP-1", tracker.Attachment{ID: "999", Name: "a"})
	wantKind(t, err, tracker.NotFound)
	_, err = w.Download(context.Background(), "SUP-1", tracker.Attachment{ID: "999"})
	wantKind(t, err, tracker.Invalid)
}
