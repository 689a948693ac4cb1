package telegram

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"supportbot/shared/messenger"
)

// message turns a message, or the new version of one, into an event; nil for what
// nobody said: service messages, the moves of a live location.
func (b *Bot) message(raw json.RawMessage, kind messenger.Kind) *messenger.Event {
	m, ok := decodeMessage(raw)
	if !ok {
		return nil
	}
	if !m.Chat.IsPrivate() {
		return b.group(m, kind)
	}
	if m.service() || kind == messenger.EventEdit && m.Location != nil {
		return nil
	}
	event := b.event(kind, m.Chat.ID, m.author())
	event.Time = at(m.Date)
	if kind == messenger.EventEdit && m.EditDate > 0 {
		event.Time = at(m.EditDate)
	}
	event.Sequence, event.MessageID = int64(m.MessageID), decimal(int64(m.MessageID))
	event.Album = m.MediaGroupID
	event.Content = b.content(m)
	if event.Content.Empty() && len(event.Unsupported) == 0 {
		return nil
	}
	if kind == messenger.EventMessage && !m.forwarded() {
		event.Command, event.Argument = b.command(m.Text)
	}
	return event
}

// group gives an event for a message that is meant for the bot; everything else
// that is said in a group is none of its business.
func (b *Bot) group(m message, kind messenger.Kind) *messenger.Event {
	if kind != messenger.EventMessage || m.Chat.IsChannel() || m.From == nil || m.From.IsBot || m.service() || !b.addressed(m) {
		return nil
	}
	event := b.event(messenger.EventGroup, m.Chat.ID, m.From)
	event.Time = at(m.Date)
	event.Sequence, event.MessageID = int64(m.MessageID), decimal(int64(m.MessageID))
	return event
}

// addressed: a command, an answer to the bot, its name.
func (b *Bot) addressed(m message) bool {
	if command, _ := b.command(m.Text); command != "" {
		return true
	}
	if reply := m.ReplyToMessage; reply != nil && reply.From != nil && reply.From.ID == b.id {
		return true
	}
	text, entities := m.words()
	for _, e := range entities {
		switch {
		case e.Type == "text_mention" && e.User != nil && e.User.ID == b.id:
			return true
		case e.Type == "mention" && b.username != "" && strings.EqualFold(part(text, e.Offset, e.Length), "@"+b.username):
			return true
		}
	}
	return false
}

var commandLine = regexp.MustCompile(`^/([A-Za-z0-9_]{1,64})(?:@([A-Za-z0-9_]+))?(?:\s+|$)`)

// command reads "/command@bot argument". A command for another bot is none.
func (b *Bot) command(text string) (command, argument string) {
	m := commandLine.FindStringSubmatch(text)
	if m == nil || m[2] != "" && b.username != "" && !strings.EqualFold(m[2], b.username) {
		return "", ""
	}
	return strings.ToLower(m[1]), strings.TrimSpace(text[len(m[0]):])
}

// author is the person in a private chat, whose id is the chat's.
func (m message) author() *tgbotapi.User {
	if m.From != nil {
		return m.From
	}
	return &tgbotapi.User{
		ID: m.Chat.ID, FirstName: m.Chat.FirstName, LastName: m.Chat.LastName, UserName: m.Chat.UserName,
	}
}

// words gives the text or the caption.
func (m message) words() (string, []tgbotapi.MessageEntity) {
	if m.Text == "" && m.Caption != "" {
		return m.Caption, m.CaptionEntities
	}
	return m.Text, m.Entities
}

// event gives an event with what all have.
func (b *Bot) event(kind messenger.Kind, chat int64, from *tgbotapi.User) *messenger.Event {
	return &messenger.Event{
		Kind:    kind,
		Address: messenger.Address{Messenger: messenger.Telegram, Bot: b.Bot(), Chat: decimal(chat)},
		User: messenger.User{
			ID: decimal(from.ID), Name: fullName(from), Username: from.UserName, Locale: locale(from.LanguageCode),
		},
	}
}

func fullName(u *tgbotapi.User) string { return strings.TrimSpace(u.FirstName + " " + u.LastName) }

// locale chooses between the languages that the platform speaks. The tag is an
// IETF one and may name a country.
func locale(tag string) string {
	language, _, _ := strings.Cut(strings.ToLower(tag), "-")
	switch language {
	case "":
		return ""
	case "ru", "be", "kk", "ky", "tg", "tt", "uz": // whose speakers mostly read Russian
		return "ru"
	}
	return "en"
}

func at(seconds int) time.Time { return time.Unix(int64(seconds), 0).UTC() }

// press turns a pressed button into an event. Telegram does not say when it was
// pressed, and of an old message no more than the ids.
func (b *Bot) press(q tgbotapi.CallbackQuery) *messenger.Event {
	if q.ID == "" || q.From == nil || q.Message == nil || q.Message.Chat == nil || !q.Message.Chat.IsPrivate() {
		return nil
	}
	event := b.event(messenger.EventPress, q.Message.Chat.ID, q.From)
	event.Time = b.now().UTC().Truncate(time.Second)
	event.Press = &messenger.Press{
		ID: q.ID, Chat: event.Address.Chat, User: event.User.ID, Data: q.Data,
	}
	if q.Message.MessageID > 0 {
		event.Press.MessageID = decimal(int64(q.Message.MessageID))
	}
	return event
}

// membership turns a customer's blocking and unblocking of the bot into an event.
func (b *Bot) membership(u tgbotapi.ChatMemberUpdated) *messenger.Event {
	if !u.Chat.IsPrivate() {
		return nil
	}
	kind := messenger.EventUnblocked
	switch u.NewChatMember.Status {
	case "kicked", "left":
		kind = messenger.EventBlocked
	case "member":
	default:
		return nil
	}
	event := b.event(kind, u.Chat.ID, &u.From)
	event.Time = at(u.Date)
	return event
}
