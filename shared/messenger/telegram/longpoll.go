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

// Unregister removes the webhook, which Poll needs. What waits to be told stays.
func (b *Bot) Unregister(ctx context.Context) error {
	return harmless(b.call(ctx, "deleteWebhook", nil, nil))
}

// Poll asks Telegram for updates instead of being called: for a local run without
// a public address. Each update goes to handler as the call that the webhook would
// have got, and comes again until handler accepts it. Poll ends with ctx, with the
// error of its first call, or when the bot has a webhook: it might be another
// installation's, so removing it (Unregister) is up to a person.
func (b *Bot) Poll(ctx context.Context, handler http.Handler) error {
	if len(b.secrets) == 0 {
		return invalid("getUpdates: there is no webhook secret")
	}
	offset := int64(0)
	for polled := false; ctx.Err() == nil; {
		updates, err := b.updates(ctx, offset)
		switch {
		case ctx.Err() != nil:
		case err != nil && (!polled || says(err, webhookActive)):
			return harmless(err)
		case err != nil:
			b.log.WarnContext(ctx, "Telegram gives no updates", obs.Messenger, messenger.Telegram, obs.Error, err)
			pause(ctx, err)
		default:
			polled = true
			offset = max(offset, b.handAll(ctx, handler, updates))
		}
	}
	return ctx.Err()
}

// webhookActive is how Telegram refuses polls of a bot that has a webhook.
const webhookActive = "webhook is active"

func (b *Bot) updates(ctx context.Context, offset int64) ([]json.RawMessage, error) {
	var updates []json.RawMessage
	params := tgbotapi.Params{"offset": decimal(offset), "timeout": strconv.Itoa(pollWait), "allowed_updates": wanted}
	err := b.call(ctx, "getUpdates", params, &updates)
	return updates, err
}

// handAll hands over updates in order, each until it is accepted, and gives the
// offset behind the last one that was.
func (b *Bot) handAll(ctx context.Context, handler http.Handler, updates []json.RawMessage) (offset int64) {
	for _, update := range updates {
		for !b.hand(ctx, handler, update) {
			if pause(ctx, nil); ctx.Err() != nil {
				return offset
			}
		}
		var id struct {
			UpdateID int64 `json:"update_id"`
		}
		if lenient(update, &id) == nil {
			offset = max(offset, id.UpdateID+1)
		}
	}
	return offset
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
