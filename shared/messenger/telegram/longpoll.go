package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"supportbot/shared/messenger"
	"supportbot/shared/obs"
)

const (
	pollWait  = 10 // seconds that Telegram keeps a poll open
	pollPause = time.Second
)

// wanted is the kinds of updates that mean something here.
const wanted = `["message","edited_message","callback_query","my_chat_member"]`

// Register makes Telegram call url, which has to be public and HTTPS, with the
// first of the secrets. What waited meanwhile comes too.
func (b *Bot) Register(ctx context.Context, url string) error {
	if len(b.secrets) == 0 {
		return invalid("setWebhook: there is no webhook secret")
	}
	params := tgbotapi.Params{"url": url, "secret_token": b.secrets[0].Reveal(), "allowed_updates": wanted}
	return harmless(b.call(ctx, "setWebhook", params, nil))
}

// Poll asks Telegram for updates instead of being called: for a local run without
// a public address. Each update goes to handler as the call that the webhook would
// have got, and comes again until handler accepts it. Poll ends with ctx, or with
// the error of its first call.
func (b *Bot) Poll(ctx context.Context, handler http.Handler) error {
	if len(b.secrets) == 0 {
		return invalid("getUpdates: there is no webhook secret")
	}
	if err := b.call(ctx, "deleteWebhook", nil, nil); err != nil {
		return harmless(err)
	}
	offset := int64(0)
	for ctx.Err() == nil {
		var updates []json.RawMessage
		params := tgbotapi.Params{
			"offset": decimal(offset), "timeout": strconv.Itoa(pollWait), "allowed_updates": wanted,
		}
		if err := b.call(ctx, "getUpdates", params, &updates); err != nil {
			if ctx.Err() == nil {
				b.log.WarnContext(ctx, "Telegram gives no updates", obs.Messenger, messenger.Telegram, obs.Error, err)
			}
			pause(ctx, err)
			continue
		}
		for _, update := range updates {
			for !b.hand(ctx, handler, update) && ctx.Err() == nil {
				pause(ctx, nil)
			}
			var id struct {
				UpdateID int64 `json:"update_id"`
			}
			if ctx.Err() == nil && lenient(update, &id) == nil {
				offset = max(offset, id.UpdateID+1)
			}
		}
	}
	return ctx.Err()
}

// hand gives an update to the webhook's handler as Telegram would have posted it.
func (b *Bot) hand(ctx context.Context, handler http.Handler, update json.RawMessage) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "/telegram", bytes.NewReader(update))
	if err != nil {
		return true // nothing would mend it
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(secretHeader, b.secrets[0].Reveal())
	w := &verdict{header: http.Header{}, status: http.StatusOK}
	handler.ServeHTTP(w, r)
	return w.status >= 200 && w.status < 300
}

// verdict keeps what a handler answered.
type verdict struct {
	header http.Header
	status int
}

// Header implements http.ResponseWriter, as the others do.
func (v *verdict) Header() http.Header         { return v.header }
func (v *verdict) Write(p []byte) (int, error) { return len(p), nil }
func (v *verdict) WriteHeader(status int)      { v.status = status }

// pause waits a moment, or as long as Telegram asks for.
func pause(ctx context.Context, err error) {
	wait := pollPause
	var e *messenger.Error
	if errors.As(err, &e) {
		wait = max(wait, e.RetryAfter)
	}
	select {
	case <-ctx.Done():
	case <-time.After(wait):
	}
}
