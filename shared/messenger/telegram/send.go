package telegram

import (
	"context"
	"errors"
	"fmt"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"supportbot/shared/messenger"
	"supportbot/shared/obs"
)

// sent is the part of a Message that a send is interested in.
type sent struct {
	MessageID int64 `json:"message_id"`
}

// Send implements messenger.Sender. Markup that Telegram cannot parse is sent
// once more as plain text; nothing else is ever sent twice.
func (b *Bot) Send(ctx context.Context, o messenger.Outgoing) (messenger.Receipt, error) {
	if err := check(o); err != nil {
		return messenger.Receipt{}, err
	}
	post := b.sendText
	if o.File != nil {
		post = b.sendFile
	}
	receipt, err := post(ctx, o)
	if o.Part.HTML && unparsed(err) {
		b.log.WarnContext(ctx, "Telegram refuses the markup, sent as plain text",
			obs.Messenger, messenger.Telegram, obs.Chat, o.Chat, obs.Error, err)
		o.Part = plain(o.Part)
		return post(ctx, o)
	}
	return receipt, err
}

// Probe implements messenger.Prober: the customer sees for a moment that somebody
// is writing.
func (b *Bot) Probe(ctx context.Context, chat string) error {
	return harmless(b.call(ctx, "sendChatAction", tgbotapi.Params{"chat_id": chat, "action": "typing"}, nil))
}

func unparsed(err error) bool { return says(err, "can't parse entities", "can't parse message text") }

// plain is the part without markup.
func plain(p messenger.Part) messenger.Part { return messenger.Part{Text: p.Plain} }

func (b *Bot) sendText(ctx context.Context, o messenger.Outgoing) (messenger.Receipt, error) {
	params, err := parameters(o, "text")
	if err != nil {
		return messenger.Receipt{}, err
	}
	// Nobody asked for the picture of a page, and it hides the answer's own text.
	params["link_preview_options"] = `{"is_disabled":true}`
	var m sent
	if err := b.call(ctx, "sendMessage", params, &m); err != nil {
		return messenger.Receipt{}, err
	}
	return receipt("sendMessage", m)
}

// receipt: an answer without a message id says nothing of what was sent.
func receipt(method string, m sent) (messenger.Receipt, error) {
	if m.MessageID <= 0 {
		return messenger.Receipt{}, uncertain(method, errors.New("answer names no message"))
	}
	return messenger.Receipt{MessageID: decimal(m.MessageID)}, nil
}

// parameters gives what sending and editing share; text names the parameter that
// the text goes into.
func parameters(o messenger.Outgoing, text string) (tgbotapi.Params, error) {
	params := tgbotapi.Params{"chat_id": o.Chat}
	if o.Paid {
		params["allow_paid_broadcast"] = "true"
	}
	if o.Part.Text != "" {
		params[text] = o.Part.Text
		if o.Part.HTML {
			params["parse_mode"] = "HTML"
		}
	}
	markup, err := encodeKeyboard(o.Keyboard)
	if err != nil {
		return nil, err
	}
	if markup != "" {
		params["reply_markup"] = markup
	}
	return params, nil
}

// check refuses what Telegram would refuse, before a file is uploaded in vain.
// The length of markup is only known to Telegram.
func check(o messenger.Outgoing) error {
	most := limits.Text
	if o.File != nil {
		most = limits.Caption
	}
	switch {
	case o.Part.Text == "" && o.File == nil:
		return invalid("message has neither text nor file")
	case !o.Part.HTML && units(o.Part.Text) > most:
		return invalid("message is longer than Telegram takes")
	case o.File != nil && o.File.Size > limits.Upload:
		return invalid(fmt.Sprintf("a file of %d bytes is larger than Telegram takes", o.File.Size))
	}
	return nil
}
