package telegram

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"supportbot/shared/env"
	"supportbot/shared/messenger"
)

const (
	// bodyMost is the largest update that is read; real ones stay far below it.
	bodyMost = 1 << 20
	// secretHeader carries what setWebhook was given as secret_token.
	secretHeader = "X-Telegram-Bot-Api-Secret-Token"
)

// Receive implements messenger.Receiver. Telegram takes any 2xx for success and
// repeats everything else for up to a day, holding back what the chat sent later.
func (b *Bot) Receive(r *http.Request) ([]messenger.Event, messenger.Reply, error) {
	if !env.Match(b.secrets, r.Header.Get(secretHeader)) {
		return nil, messenger.Reply{Status: http.StatusForbidden}, messenger.ErrForbidden
	}
	if r.Method != http.MethodPost {
		return nil, messenger.Reply{Status: http.StatusMethodNotAllowed}, fmt.Errorf("%w: method is not POST", messenger.ErrMalformed)
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, bodyMost))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, messenger.Reply{Status: http.StatusRequestEntityTooLarge}, messenger.ErrTooLarge
	case err != nil: // the connection broke: Telegram sends it again
		return nil, messenger.Reply{Status: http.StatusBadRequest}, fmt.Errorf("%w: not read to the end", messenger.ErrMalformed)
	}
	events, err := b.parse(body)
	return events, messenger.Reply{Status: http.StatusOK}, err
}

// parse turns an update into events. Kinds of updates that mean nothing here, also
// those that did not exist when this was written, give none.
func (b *Bot) parse(body []byte) ([]messenger.Event, error) {
	var u update
	if err := lenient(body, &u); err != nil {
		return nil, fmt.Errorf("%w: no update", messenger.ErrMalformed)
	}
	if u.UpdateID <= 0 {
		return nil, fmt.Errorf("%w: update without an id", messenger.ErrMalformed)
	}
	var event *messenger.Event
	switch {
	case u.Message != nil:
		event = b.message(u.Message, messenger.EventMessage)
	case u.EditedMessage != nil:
		event = b.message(u.EditedMessage, messenger.EventEdit)
	case u.CallbackQuery != nil:
		event = b.press(*u.CallbackQuery)
	case u.MyChatMember != nil:
		event = b.membership(*u.MyChatMember)
	}
	if event == nil {
		return nil, nil
	}
	event.Key = fmt.Sprintf("telegram:%d:%d", b.id, u.UpdateID)
	return []messenger.Event{*event}, nil
}

// lenient decodes JSON; a field of another type than expected costs only itself.
func lenient(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) {
		return nil
	}
	return err
}
