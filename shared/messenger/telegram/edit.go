package telegram

import (
	"context"
	"strconv"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"supportbot/shared/messenger"
	"supportbot/shared/obs"
)

// answerTextMost is the length of the text that answers a press.
const answerTextMost = 200

// Edit implements messenger.Sender. The text of a message with a file is its
// caption.
func (b *Bot) Edit(ctx context.Context, messageID string, o messenger.Outgoing) error {
	if number, err := strconv.ParseInt(messageID, 10, 64); err != nil || number <= 0 {
		return invalid("edit message: its id is not a number")
	}
	o.File = nil // a file stays as it is
	if err := check(o); err != nil {
		return err
	}
	err := b.edit(ctx, messageID, o)
	if o.Part.HTML && unparsed(err) {
		b.log.WarnContext(ctx, "Telegram refuses the markup, edited as plain text",
			obs.Messenger, messenger.Telegram, obs.Chat, o.Chat, obs.Error, err)
		o.Part = plain(o.Part)
		err = b.edit(ctx, messageID, o)
	}
	if says(err, "message is not modified") {
		return nil
	}
	return err
}

func (b *Bot) edit(ctx context.Context, messageID string, o messenger.Outgoing) error {
	params, err := parameters(o, "text")
	if err != nil {
		return err
	}
	params["message_id"] = messageID
	params["link_preview_options"] = `{"is_disabled":true}`
	err = b.call(ctx, "editMessageText", params, nil)
	if !says(err, "there is no text in the message to edit") {
		return err
	}
	params["caption"] = params["text"]
	delete(params, "text")
	delete(params, "link_preview_options")
	return b.call(ctx, "editMessageCaption", params, nil)
}

// Answer implements messenger.Sender: a text appears for a moment above the chat.
func (b *Bot) Answer(ctx context.Context, p messenger.Press, text string) error {
	if p.ID == "" {
		return nil
	}
	params := tgbotapi.Params{"callback_query_id": p.ID}
	if text != "" {
		params["text"] = shortened(text, answerTextMost)
	}
	err := b.call(ctx, "answerCallbackQuery", params, nil)
	if says(err, "query is too old", "query_id_invalid") {
		return nil
	}
	return err
}
