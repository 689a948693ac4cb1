package vk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"

	"supportbot/shared/messenger"
)

// Open implements messenger.FileSource: the address is in the attachment itself
// and ends to be valid after some days. Nothing changes by a download, so no
// error is Uncertain.
func (b *Bot) Open(ctx context.Context, a messenger.Attachment) (io.ReadCloser, error) {
	if a.Size > limits.Download {
		return nil, invalid(fmt.Errorf("open attachment: %d bytes are too many", a.Size))
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, a.Ref, nil)
	if err != nil || (r.URL.Scheme != "https" && r.URL.Scheme != "http") {
		return nil, invalid(errors.New("open attachment: its address is none"))
	}
	resp, err := b.files.Do(r)
	if err != nil {
		return nil, &messenger.Error{Kind: messenger.Temporary, Err: fmt.Errorf("open attachment: %w", withoutURL(err))}
	}
	if err := unusable(resp, a); err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return &download{body: resp.Body, left: limits.Download}, nil
}

// unusable says why an answer is not the file. For an address that has expired
// VK also shows a page with status 200.
func unusable(resp *http.Response, a messenger.Attachment) error {
	ext := strings.ToLower(path.Ext(a.Name))
	page := strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") && ext != ".html" && ext != ".htm"
	switch status := resp.StatusCode; {
	case status == http.StatusOK && page, status >= 400 && status < 500 && status != http.StatusTooManyRequests:
		return &messenger.Error{Kind: messenger.Invalid, Code: status, Err: errors.New("open attachment: the file is gone")}
	case status != http.StatusOK:
		return &messenger.Error{Kind: messenger.Temporary, Code: status, Err: errors.New("open attachment: the file server has a problem")}
	case resp.ContentLength > limits.Download:
		return invalid(errors.New("open attachment: the file is too large"))
	}
	return nil
}

// download ends with an error where a file is longer than it may be.
type download struct {
	body io.ReadCloser
	left int64
}

func (d *download) Read(p []byte) (int, error) {
	if d.left <= 0 {
		return 0, invalid(errors.New("read attachment: the file is too large"))
	}
	n, err := d.body.Read(p[:min(int64(len(p)), d.left)])
	d.left -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &messenger.Error{Kind: messenger.Temporary, Err: fmt.Errorf("read attachment: %w", err)}
	}
	return n, err
}

func (d *download) Close() error { return d.body.Close() }
