package vk

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"mime/multipart"

	"supportbot/shared/messenger"
)

// form is a multipart body with one file, streamed, and its length, which is
// known since the file's is.
func form(field string, f messenger.File, content io.Reader) (body io.Reader, contentType string, length int64, err error) {
	var frame bytes.Buffer
	w := multipart.NewWriter(&frame)
	if _, err := w.CreateFormFile(field, f.Name); err != nil {
		return nil, "", 0, err
	}
	head := frame.Len()
	if err := w.Close(); err != nil {
		return nil, "", 0, err
	}
	edges := frame.Bytes()
	length = int64(len(edges)) + f.Size
	body = io.MultiReader(bytes.NewReader(edges[:head]), content, bytes.NewReader(edges[head:]))
	return body, w.FormDataContentType(), length, nil
}

// uploadZip sends the file inside an archive of the same name.
func (b *Bot) uploadZip(ctx context.Context, chat string, f messenger.File) (string, error) {
	return b.uploadDoc(ctx, chat, zipped(f))
}

// zipped is the file in an archive without compression, so that the archive's
// size is known before it is made: that of an archive with nothing in the file,
// and the file's.
func zipped(f messenger.File) messenger.File {
	var empty bytes.Buffer
	_ = writeZip(&empty, f.Name, bytes.NewReader(nil)) // a buffer takes everything
	return messenger.File{
		Name: f.Name + ".zip", MIME: "application/zip", Size: int64(empty.Len()) + f.Size,
		Open: func(ctx context.Context) (io.ReadCloser, error) {
			content, err := f.Open(ctx)
			if err != nil {
				return nil, err
			}
			r, w := io.Pipe()
			go func() { // ends with the file, or when the reader is closed
				defer func() { _ = content.Close() }()
				_ = w.CloseWithError(writeZip(w, f.Name, content))
			}()
			return r, nil
		},
	}
}

func writeZip(w io.Writer, name string, content io.Reader) error {
	archive := zip.NewWriter(w)
	entry, err := archive.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
	if err != nil {
		return err
	}
	if _, err := io.Copy(entry, content); err != nil {
		return err
	}
	return archive.Close()
}
