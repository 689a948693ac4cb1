package telegram

import (
	"context"
	"path"
	"strings"

	"supportbot/shared/messenger"
)

// sendFile sends a file with its caption: a picture as a photo, everything else,
// and what Telegram takes for no photo, as a document.
func (b *Bot) sendFile(ctx context.Context, o messenger.Outgoing) (messenger.Receipt, error) {
	if isPhoto(*o.File) {
		receipt, err := b.upload(ctx, o, "sendPhoto", "photo")
		if !says(err, "photo_", "image_process_failed", "wrong type of the web page content", "too big for a photo") {
			return receipt, err
		}
	}
	return b.upload(ctx, o, "sendDocument", "document")
}

func (b *Bot) upload(ctx context.Context, o messenger.Outgoing, method, field string) (messenger.Receipt, error) {
	params, err := parameters(o, "caption")
	if err != nil {
		return messenger.Receipt{}, err
	}
	var m sent
	if err := b.uploadFile(ctx, method, params, field, *o.File, &m); err != nil {
		return messenger.Receipt{}, err
	}
	return receipt(method, m)
}

// isPhoto: animations would stand still as photos.
func isPhoto(f messenger.File) bool {
	if f.Size > limits.Photo {
		return false
	}
	switch strings.ToLower(path.Ext(f.Name)) {
	case ".jpg", ".jpeg", ".png", ".webp":
		return true
	}
	return f.MIME == "image/jpeg" || f.MIME == "image/png" || f.MIME == "image/webp"
}

// fileName makes up what is missing.
func fileName(f messenger.File) string {
	name := path.Base(strings.ReplaceAll(f.Name, `\`, "/"))
	if name == "." || name == "/" {
		return "file"
	}
	return name
}
