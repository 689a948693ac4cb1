package telegram

import (
	"cmp"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"supportbot/shared/messenger"
)

// forwarded: a forwarded message looks like one of the customer's own but for
// forward_origin (and what came before Bot API 7.0).
func (m message) forwarded() bool {
	return m.later.ForwardOrigin != nil || m.ForwardDate != 0
}

func (m message) forwardedFrom() string {
	if m.later.ForwardOrigin != nil {
		return m.later.ForwardOrigin.name()
	}
	old := origin{
		SenderUser: m.ForwardFrom, SenderUserName: m.ForwardSenderName,
		Chat: m.ForwardFromChat, AuthorSignature: m.ForwardSignature,
	}
	return old.name()
}

func (o *origin) name() string {
	switch {
	case o == nil:
		return ""
	case o.SenderUser != nil:
		return fullName(o.SenderUser)
	case o.SenderChat != nil:
		return joined(", ", o.SenderChat.Title, o.AuthorSignature)
	case o.Chat != nil:
		return joined(", ", o.Chat.Title, o.AuthorSignature)
	}
	return o.SenderUserName
}

// inQuote makes of a forwarded message what it is: somebody else's words.
func inQuote(c messenger.Content, author string) messenger.Content {
	quote := messenger.Quote{Kind: "forward", Author: author, Text: c.Text, Attachments: c.Attachments}
	c.Text, c.Markdown, c.Attachments = "", "", nil
	c.Quotes = append(c.Quotes, quote)
	return c
}

// replies gives what the message answers. The files of this chat's own messages
// are in the ticket already, those of another chat are not.
func (b *Bot) replies(m message) []messenger.Quote {
	quote := messenger.Quote{Kind: "reply"}
	switch reply, other := m.ReplyToMessage, m.later.ExternalReply; {
	case reply != nil:
		quote.Author = b.authorOf(reply.From)
		quote.Text = cmp.Or(reply.Text, reply.Caption)
		if quote.Text == "" && m.later.ReplyTo != nil {
			if files := m.later.ReplyTo.files(reply.MessageID); len(files) > 0 {
				quote.Text = "[" + files[0].Name + "]"
			}
		}
	case other != nil:
		quote.Author = other.Origin.name()
		quote.Attachments = other.media.files(m.MessageID)
	}
	if m.later.Quote != nil { // only this part of the message is meant
		quote.Text = m.later.Quote.Text
	}
	if quote.Text == "" && len(quote.Attachments) == 0 {
		return nil // the beginning of a topic, which every message of it answers
	}
	return []messenger.Quote{quote}
}

// authorOf: what the bot said has no author for the customer's ticket.
func (b *Bot) authorOf(from *tgbotapi.User) string {
	if from == nil || from.ID == b.id {
		return ""
	}
	return fullName(from)
}
