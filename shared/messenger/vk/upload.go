package vk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/SevereCloud/vksdk/v2/api"

	"supportbot/shared/messenger"
)

// errRefused: the upload server does not take this file in this form.
var errRefused = invalid(errors.New("upload file: VK does not take it"))

// upload puts a file on VK's servers and gives the attachment to send. Pictures
// go as photos; what VK takes for no photo goes as a document; what it takes for
// no document (mp3, programs) goes as a document in a zip archive, which every
// phone can open. Nobody sees an upload, so no error is Uncertain.
func (b *Bot) upload(ctx context.Context, chat string, f messenger.File) (string, error) {
	if err := measure(ctx, &f); err != nil {
		return "", err
	}
	if f.Size > limits.Upload {
		return "", invalid(fmt.Errorf("upload file: %d bytes are more than VK takes", f.Size))
	}
	f.Name = fileName(f)
	var ways []func(context.Context, string, messenger.File) (string, error)
	if isPhoto(f) {
		ways = append(ways, b.uploadPhoto)
	}
	if !slices.Contains(refusedKinds, strings.ToLower(path.Ext(f.Name))) {
		ways = append(ways, b.uploadDoc)
	}
	ways = append(ways, b.uploadZip)
	var err error
	for _, way := range ways {
		var attachment string
		attachment, err = way(ctx, chat, f)
		if err == nil {
			return attachment, nil
		}
		if messenger.KindOf(err) != messenger.Invalid {
			return "", harmless(err)
		}
	}
	return "", err
}

// measure finds out how large a file is where nobody said so: upload servers want
// to know before it comes. It is read once for that and not kept.
func measure(ctx context.Context, f *messenger.File) error {
	if f.Size >= 0 {
		return nil
	}
	content, err := f.Open(ctx)
	if err != nil {
		return unopened(err)
	}
	defer func() { _ = content.Close() }()
	if f.Size, err = io.Copy(io.Discard, io.LimitReader(content, limits.Upload+1)); err != nil {
		return unopened(err)
	}
	return nil
}

// refusedKinds are known to be refused, so that nobody uploads them in vain. What
// is missing here is found out by trying.
var refusedKinds = []string{".mp3", ".exe", ".msi", ".com", ".bat", ".cmd", ".scr", ".apk", ".jar"}

// fileName makes up what is missing; VK wants an extension.
func fileName(f messenger.File) string {
	name := path.Base(strings.ReplaceAll(f.Name, `\`, "/"))
	if name == "." || name == "/" {
		name = "file"
	}
	if path.Ext(name) == "" {
		name += ".bin"
	}
	return name
}

// isPhoto: animations would stand still as photos.
func isPhoto(f messenger.File) bool {
	switch strings.ToLower(path.Ext(f.Name)) {
	case ".jpg", ".jpeg", ".png":
		return f.Size <= limits.Photo
	}
	return (f.MIME == "image/jpeg" || f.MIME == "image/png") && f.Size <= limits.Photo
}

func (b *Bot) uploadPhoto(ctx context.Context, chat string, f messenger.File) (string, error) {
	var server struct {
		URL string `json:"upload_url"`
	}
	if err := b.call(ctx, "photos.getMessagesUploadServer", api.Params{"peer_id": chat}, &server); err != nil {
		return "", err
	}
	var uploaded struct {
		Server json.Number `json:"server"`
		Photo  string      `json:"photo"`
		Hash   string      `json:"hash"`
	}
	if err := b.transfer(ctx, server.URL, "photo", f, &uploaded); err != nil {
		return "", err
	}
	if uploaded.Photo == "" || uploaded.Photo == "[]" {
		return "", errRefused
	}
	var saved []owned
	params := api.Params{"server": uploaded.Server.String(), "photo": uploaded.Photo, "hash": uploaded.Hash}
	if err := b.call(ctx, "photos.saveMessagesPhoto", params, &saved); err != nil {
		return "", err
	}
	if len(saved) != 1 {
		return "", errRefused
	}
	return saved[0].attachment("photo"), nil
}

func (b *Bot) uploadDoc(ctx context.Context, chat string, f messenger.File) (string, error) {
	var server struct {
		URL string `json:"upload_url"`
	}
	if err := b.call(ctx, "docs.getMessagesUploadServer", api.Params{"peer_id": chat, "type": "doc"}, &server); err != nil {
		return "", err
	}
	var uploaded struct {
		File string `json:"file"`
	}
	if err := b.transfer(ctx, server.URL, "file", f, &uploaded); err != nil {
		return "", err
	}
	if uploaded.File == "" {
		return "", errRefused
	}
	var saved struct {
		Doc owned `json:"doc"`
	}
	if err := b.call(ctx, "docs.save", api.Params{"file": uploaded.File, "title": f.Name}, &saved); err != nil {
		return "", err
	}
	return saved.Doc.attachment("doc"), nil
}

// attachment is how messages name an object: "doc-1_2_key".
func (o owned) attachment(kind string) string {
	name := fmt.Sprintf("%s%d_%d", kind, o.OwnerID, o.ID)
	if o.AccessKey != "" {
		name += "_" + o.AccessKey
	}
	return name
}

// transfer streams a file to an upload server and reads its answer, which is JSON
// whatever its type says. The server's words for what is wrong are left out.
func (b *Bot) transfer(ctx context.Context, url, field string, f messenger.File, result any) error {
	content, err := f.Open(ctx)
	if err != nil {
		return unopened(err)
	}
	defer func() { _ = content.Close() }()
	body, contentType, length, err := form(field, f, content)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, body)
	if err != nil {
		return temporary("upload file: VK named no address to send it to")
	}
	r.Header.Set("Content-Type", contentType)
	r.ContentLength = length // upload servers want to know
	resp, err := b.files.Do(r)
	if err != nil {
		return &messenger.Error{Kind: messenger.Temporary, Err: fmt.Errorf("upload file: %w", withoutURL(err))}
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, answerMost))
	if err != nil {
		return &messenger.Error{Kind: messenger.Temporary, Err: fmt.Errorf("upload file: read answer: %w", err)}
	}
	var problem struct {
		Error json.RawMessage `json:"error"`
	}
	switch {
	case resp.StatusCode == http.StatusRequestEntityTooLarge:
		return errRefused
	case resp.StatusCode != http.StatusOK || json.Unmarshal(answer, &problem) != nil:
		return temporary(fmt.Sprintf("upload file: upload server answers status %d", resp.StatusCode))
	case len(problem.Error) > 0:
		return errRefused
	}
	if err := json.Unmarshal(answer, result); err != nil {
		return temporary("upload file: answer cannot be read")
	}
	return nil
}

// unopened is the error of a file that cannot be read at its source, which may
// have said itself what to do.
func unopened(err error) error {
	var e *messenger.Error
	if errors.As(err, &e) {
		return err
	}
	return &messenger.Error{Kind: messenger.Temporary, Err: fmt.Errorf("open file to send: %w", err)}
}

func temporary(text string) *messenger.Error {
	return &messenger.Error{Kind: messenger.Temporary, Err: errors.New(text)}
}
