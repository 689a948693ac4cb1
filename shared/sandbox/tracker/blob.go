package tracker

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// inMemory is the size up to which a file is kept in memory.
const inMemory = 1 << 20

// blob is the bytes of a file: in memory, or in a temporary file that has no
// name any more and goes away when it is closed.
type blob struct {
	size  int64
	small []byte
	large *os.File
}

// newBlob reads r, at most limit bytes; false when there are more.
func newBlob(r io.Reader, limit int64) (b blob, fits bool, err error) {
	r = io.LimitReader(r, limit+1)
	var head bytes.Buffer
	n, err := io.CopyN(&head, r, inMemory)
	if errors.Is(err, io.EOF) {
		return blob{size: n, small: head.Bytes()}, n <= limit, nil
	}
	if err != nil {
		return blob{}, false, err
	}
	f, err := os.CreateTemp("", "sandbox-tracker-*")
	if err != nil {
		return blob{}, false, err
	}
	_ = os.Remove(f.Name())
	b.large = f
	b.size, err = io.Copy(f, io.MultiReader(&head, r))
	if err != nil || b.size > limit {
		b.free()
	}
	return b, b.size <= limit, err
}

func (b blob) reader() io.Reader {
	if b.large != nil {
		return io.NewSectionReader(b.large, 0, b.size)
	}
	return bytes.NewReader(b.small)
}

func (b blob) free() {
	if b.large != nil {
		_ = b.large.Close()
	}
}
