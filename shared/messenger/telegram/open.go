package telegram

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"supportbot/shared/messenger"
)

// Open implements messenger.FileSource. Nothing changes by a download, so no
// error is Uncertain.
func (b *Bot) Open(ctx context.Context, a messenger.Attachment) (io.ReadCloser, error) {
	if a.Size > limits.Download {
		return nil, invalid(fmt.Sprintf("open attachment: %d bytes are more than Telegram gives to bots", a.Size))
	}
	var file struct {
		Path string `json:"file_path"`
		Size int64  `json:"file_size"`
	}
	if err := b.call(ctx, "getFile", tgbotapi.Params{"file_id": a.Ref}, &file); err != nil {
		return nil, harmless(err)
	}
	switch {
	case file.Path == "":
		return nil, invalid("open attachment: Telegram does not give the file")
	case file.Size > limits.Download:
		return nil, invalid(fmt.Sprintf("open attachment: %d bytes are more than Telegram gives to bots", file.Size))
	}
	return b.download(ctx, file.Path)
}

// download gets a file from the API's own address: the library would ask
// api.telegram.org whatever the address of the API is.
func (b *Bot) download(ctx context.Context, path string) (io.ReadCloser, error) {
	address := (&url.URL{Path: "/file/bot" + b.token.Reveal() + "/" + strings.TrimPrefix(path, "/")}).EscapedPath()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.base+address, nil)
	if err != nil {
		return nil, invalid("open attachment: its path is none")
	}
	resp, err := b.client.Do(r)
	if err != nil {
		return nil, &messenger.Error{Kind: messenger.Temporary, Err: fmt.Errorf("open attachment: %w", withoutURL(err))}
	}
	if resp.StatusCode == http.StatusOK {
		return &download{body: resp.Body, left: limits.Download}, nil
	}
	_ = resp.Body.Close()
	e := &messenger.Error{Kind: messenger.Temporary, Code: resp.StatusCode, Err: errors.New("open attachment: the file server has a problem")}
	switch resp.StatusCode {
	case http.StatusNotFound, http.StatusGone, http.StatusBadRequest:
		e.Kind, e.Err = messenger.Invalid, errors.New("open attachment: the file is gone")
	case http.StatusTooManyRequests:
		e.Kind, e.RetryAfter = messenger.RateLimited, defaultWait
	}
	return nil, e
}

// download ends with an error where a file is longer than it may be.
type download struct {
	body io.ReadCloser
	left int64
}

// Read implements io.Reader.
func (d *download) Read(p []byte) (int, error) {
	n, err := d.body.Read(p)
	d.left -= int64(n)
	switch {
	case d.left < 0:
		return 0, invalid("read attachment: the file is larger than Telegram gives to bots")
	case err != nil && !errors.Is(err, io.EOF):
		err = &messenger.Error{Kind: messenger.Temporary, Err: fmt.Errorf("read attachment: %w", err)}
	}
	return n, err
}

// Close implements io.Closer.
func (d *download) Close() error { return d.body.Close() }
