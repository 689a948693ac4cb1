package vk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/SevereCloud/vksdk/v2/api"

	"supportbot/shared/messenger"
	"supportbot/shared/obs"
)

// snackbarMost is the length of the text that answers a press.
const snackbarMost = 90

// Edit implements messenger.Sender. VK drops from a message what an edit does not
// name, so the files are asked for first and named again, unless o says that there
// are none.
func (b *Bot) Edit(ctx context.Context, messageID string, o messenger.Outgoing) error {
	o.File = nil // it stays as it is
	params, err := parameters(o)
	if err != nil {
		return err
	}
	number, err := strconv.ParseInt(messageID, 10, 64)
	if err != nil || number <= 0 {
		return invalid(errors.New("edit message: its id is not a number"))
	}
	params["peer_id"], params["cmid"] = o.Chat, number
	b = b.placed()
	if !o.Bare {
		attached, err := b.attached(ctx, o.Chat, number)
		if err != nil {
			return harmless(err)
		}
		if attached != "" {
			params["attachment"] = attached
		}
	}
	var done json.RawMessage
	err = b.call(ctx, "messages.edit", params, &done)
	if _, has := params["keyboard"]; has && keyboardRefused(err) {
		b.log.WarnContext(ctx, "VK refuses the keyboard, edited without", obs.Messenger, messenger.VK, obs.Chat, o.Chat, obs.Error, err)
		delete(params, "keyboard")
		return b.call(ctx, "messages.edit", params, &done)
	}
	return err
}

// attached gives the attachments of a message as an edit names them.
func (b *Bot) attached(ctx context.Context, chat string, number int64) (string, error) {
	list, err := b.history(ctx, "messages.getById", api.Params{"peer_id": chat, "cmids": number})
	if err != nil {
		return "", err
	}
	if len(list) != 1 {
		return "", invalid(errors.New("edit message: it is gone"))
	}
	var names []string
	for _, raw := range list[0].Attachments {
		kind, object, ok := unwrapped(raw)
		var o owned
		if ok && lenient(object, &o) == nil && o.ID > 0 {
			names = append(names, o.attachment(kind))
		}
	}
	return strings.Join(names, ","), nil
}

// Answer implements messenger.Sender: a text appears for a moment above the
// conversation.
func (b *Bot) Answer(ctx context.Context, p messenger.Press, text string) error {
	if p.ID == "" {
		return nil // a text button has no spinner
	}
	params := api.Params{"event_id": p.ID, "user_id": p.User, "peer_id": p.Chat}
	if text != "" {
		data, err := json.Marshal(map[string]string{"type": "show_snackbar", "text": shortened(text, snackbarMost)})
		if err != nil {
			return invalid(fmt.Errorf("answer press: %w", err))
		}
		params["event_data"] = string(data)
	}
	var done json.RawMessage
	err := b.call(ctx, "messages.sendMessageEventAnswer", params, &done)
	var e *messenger.Error
	if errors.As(err, &e) && e.Code == codeParam {
		return nil // answered before, or too old
	}
	return err
}
