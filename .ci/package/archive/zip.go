package archive

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"supportbot/.ci/package/builder"
)

// Zip packs files as they are ordered. The same files give the same bytes, as
// long as the same Go packs them: names, contents, and nothing of when or by whom.
//
// It is an error if the archive is too large to be uploaded.
func Zip(files []File) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	w.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(to, flate.BestCompression)
	})
	for _, f := range files {
		h := zip.FileHeader{Name: f.Name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
		h.SetMode(0o644)
		to, err := w.CreateHeader(&h)
		if err != nil {
			return nil, fmt.Errorf("pack file: %w", err)
		}
		if _, err := to.Write(f.Data); err != nil {
			return nil, fmt.Errorf("pack file: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("pack archive: %w", err)
	}
	if out.Len() > builder.MaxArchive {
		return nil, fmt.Errorf("archive has %d bytes, at most %d can be uploaded", out.Len(), builder.MaxArchive)
	}
	return out.Bytes(), nil
}

// Unpack writes an archive's files below dir.
func Unpack(archive []byte, dir string) error {
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return fmt.Errorf("read archive: %w", err)
	}
	for _, f := range r.File {
		data, err := fs.ReadFile(r, f.Name) // refuses names that lead out of dir
		if err != nil {
			return fmt.Errorf("unpack file: %w", err)
		}
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return fmt.Errorf("unpack file: %w", err)
		}
		if err := os.WriteFile(name, data, 0o644); err != nil {
			return fmt.Errorf("unpack file: %w", err)
		}
	}
	return nil
}
