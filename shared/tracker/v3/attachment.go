package v3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"

	"supportbot/shared/tracker"
)

// MaxFile is the largest file that Tracker takes, 1024 MB.
const MaxFile = 1024 << 20

// Attachments lists an issue's files, those of its comments too.
func (c *Client) Attachments(ctx context.Context, issue string) ([]tracker.Attachment, error) {
	var wires []attachmentWire
	_, err := c.do(ctx, request{call: "list attachments", method: http.MethodGet, path: issuePath(issue, "attachments")}, &wires)
	if err != nil {
		return nil, err
	}
	files := make([]tracker.Attachment, 0, len(wires))
	for _, w := range wires {
		files = append(files, w.attachment())
	}
	return files, nil
}

// Upload sends a file as a temporary one, whose id goes into NewIssue.Attachments
// or NewComment.Attachments. The bytes pass through, they are never kept. It ends
// when ctx does or when nothing moves for Config.Stall. A failed upload leaves
// nothing behind that anybody sees, so it may always be repeated with a new body.
func (c *Client) Upload(ctx context.Context, u tracker.Upload) (tracker.Attachment, error) {
	const call = "upload file"
	if u.Size > MaxFile {
		return tracker.Attachment{}, refuse(call, "the file is larger than %d bytes", MaxFile)
	}
	body, size, contentType := multipartOf(u)
	q := request{
		call: call, method: http.MethodPost, path: []string{"v3", "attachments"},
		query: url.Values{"filename": {fileName(u.Name)}}, size: size, streamType: contentType, personal: true,
	}
	if err := c.turn(ctx, q); err != nil {
		return tracker.Attachment{}, err
	}
	ctx, watch := watchStall(ctx, c.cfg.Stall)
	defer watch.stop()
	q.stream = watch.reader(body)
	resp, err := c.send(ctx, q)
	if err != nil {
		return tracker.Attachment{}, err
	}
	defer discard(resp)
	var w attachmentWire
	if err := decode(resp.Body, &w); err != nil {
		return tracker.Attachment{}, q.unknown(resp.StatusCode, withoutAddress(ctx, err))
	}
	return w.attachment(), nil
}

// multipartOf puts a file between the head and the tail of a multipart body. The
// part's own name is a constant, as in Yandex's client: the name goes into the
// address.
func multipartOf(u tracker.Upload) (body io.Reader, size int64, contentType string) {
	var frame strings.Builder
	w := multipart.NewWriter(&frame)
	_, _ = w.CreateFormFile("file", "file") // a Builder does not fail
	head := frame.String()
	_ = w.Close()
	tail := frame.String()[len(head):]
	content, size := u.Body, int64(-1)
	if u.Size >= 0 {
		content = &exact{r: u.Body, left: u.Size}
		size = int64(len(head)) + u.Size + int64(len(tail))
	}
	return io.MultiReader(strings.NewReader(head), content, strings.NewReader(tail)), size, w.FormDataContentType()
}

// exact fails unless r has exactly left bytes: a file cut short or a size that
// lies must not become an attachment that looks whole.
type exact struct {
	r    io.Reader
	left int64
}

func (e *exact) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	if int64(n) > e.left {
		return 0, errors.New("the file is longer than was said")
	}
	e.left -= int64(n)
	if errors.Is(err, io.EOF) && e.left > 0 {
		return n, fmt.Errorf("the file is shorter than was said: %w", io.ErrUnexpectedEOF)
	}
	return n, err
}

// fileName makes a name that can be a part of an address, for the download.
func fileName(name string) string {
	name = strings.ToValidUTF8(strings.TrimSpace(name), "_")
	if name == "" || name == "." || name == ".." {
		return "file"
	}
	return name
}

// Download opens a file of an issue; the caller closes it. It ends when ctx does
// or when nothing comes for Config.Stall. The reader's errors are *tracker.Error.
func (c *Client) Download(ctx context.Context, issue string, a tracker.Attachment) (io.ReadCloser, error) {
	q := request{call: "download file", method: http.MethodGet, path: issuePath(issue, "attachments", a.ID, a.Name), personal: true}
	if err := c.turn(ctx, q); err != nil {
		return nil, err
	}
	ctx, watch := watchStall(ctx, c.cfg.Stall)
	resp, err := c.send(ctx, q) //nolint:bodyclose // whoever downloads closes it
	if err != nil {
		watch.stop()
		return nil, err
	}
	return &download{ctx: ctx, call: q.call, body: resp.Body, from: watch.reader(resp.Body), watch: watch}, nil
}

// download is a file on its way.
type download struct {
	ctx   context.Context
	call  string
	body  io.Closer
	from  io.Reader
	watch *stall
}

func (d *download) Read(p []byte) (int, error) {
	n, err := d.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &tracker.Error{Kind: tracker.Temporary, Call: d.call, Err: withoutAddress(d.ctx, err)}
	}
	return n, err
}

func (d *download) Close() error {
	d.watch.stop()
	return d.body.Close()
}
