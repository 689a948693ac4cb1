package vk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"supportbot/shared/messenger"
)

// Group chats have the ids 2,000,000,000 + number; the number is at most
// 100,000,000 (schema of messages.send). Ids of people may be above that.
const (
	chatBase = 2_000_000_000
	chatMost = 100_000_000
)

func isGroupChat(peer int64) bool { return peer > chatBase && peer <= chatBase+chatMost }

// message is a message of VK's; also one that is inside another.
type message struct {
	ID          int64             `json:"id"`
	CMID        int64             `json:"conversation_message_id"`
	Date        int64             `json:"date"`
	UpdateTime  int64             `json:"update_time"`
	Version     int64             `json:"version"`
	PeerID      int64             `json:"peer_id"`
	FromID      int64             `json:"from_id"`
	Out         int               `json:"out"`
	Text        string            `json:"text"`
	Attachments []json.RawMessage `json:"attachments"`
	Forwarded   []message         `json:"fwd_messages"`
	Reply       *message          `json:"reply_message"`
	Geo         *geo              `json:"geo"`
	Payload     json.RawMessage   `json:"payload"`
	Ref         string            `json:"ref"`
	Cropped     bool              `json:"is_cropped"`
	Action      json.RawMessage   `json:"action"` // somebody joined a chat and the like
}

type geo struct {
	Coordinates json.RawMessage `json:"coordinates"`
	Place       struct {
		Title   string `json:"title"`
		Address string `json:"address"`
	} `json:"place"`
}

// client is client_info: what the customer's client can do.
type client struct {
	ButtonActions []string `json:"button_actions"`
	Inline        bool     `json:"inline_keyboard"`
	Language      *int     `json:"lang_id"`
}

// events gives the events of a genuine envelope.
func (b *Bot) events(ctx context.Context, e envelope) ([]messenger.Event, error) {
	switch e.Type {
	case "message_new", "message_edit":
		m, c, err := decodeMessage(e.Object)
		if err != nil {
			return nil, err
		}
		if m.CMID <= 0 && e.EventID == "" {
			return nil, errors.New("message without a number")
		}
		if b.mine(m) {
			return nil, nil
		}
		whole := true
		if m.Cropped {
			m, whole = b.uncropped(ctx, m)
		}
		event, ok := b.said(e.Type, e.EventID, m, c)
		if !ok {
			return nil, nil
		}
		if !whole {
			event.Unsupported = append(event.Unsupported, "part of the message")
		}
		return []messenger.Event{event}, nil
	case "message_event":
		return b.press(e)
	case "message_allow", "user_unblock":
		return b.permission(e, messenger.EventUnblocked)
	case "message_deny", "user_block":
		return b.permission(e, messenger.EventBlocked)
	}
	return nil, nil
}

// decodeMessage reads a message and what comes with it. The message is the
// object itself in edits, and was everywhere before version 5.103.
func decodeMessage(object json.RawMessage) (message, *client, error) {
	var o struct {
		Message json.RawMessage `json:"message"`
		Client  *client         `json:"client_info"`
	}
	if err := lenient(object, &o); err != nil {
		return message{}, nil, err
	}
	if o.Message == nil {
		o.Message = object
	}
	var m message
	if err := lenient(o.Message, &m); err != nil {
		return message{}, nil, err
	}
	if m.PeerID == 0 || m.FromID == 0 {
		return message{}, nil, errors.New("no message")
	}
	return m, o.Client, nil
}

// mine reports whether a message is not a customer's: the community's own, one of or
// to another community, of nobody, or a note that somebody joined.
func (b *Bot) mine(m message) bool {
	return m.Out != 0 || m.FromID <= 0 || m.PeerID < 0 || isObject(m.Action)
}

// said turns a customer's message into an event. A message has the same key
// whichever way VK tells of it: another callback server, or the history.
func (b *Bot) said(kind, eventID string, m message, c *client) (messenger.Event, bool) {
	if m.CMID > 0 {
		eventID = fmt.Sprintf("%d:%d", m.PeerID, m.CMID)
	}
	event := b.event(eventID, messenger.EventMessage, m.PeerID, m.FromID)
	event.Time = time.Unix(m.Date, 0).UTC()
	event.Sequence, event.MessageID = m.CMID, id(m.CMID)
	if c != nil {
		event.User.Locale = c.locale()
		event.NoCallback = !c.Inline || !slices.Contains(c.ButtonActions, "callback")
	}
	if isGroupChat(m.PeerID) {
		event.Kind = messenger.EventGroup
		return event, kind == "message_new" && b.addressed(m)
	}
	if kind == "message_edit" {
		event.Kind = messenger.EventEdit
		event.Key += fmt.Sprintf(":%d:%d", m.UpdateTime, m.Version)
		if m.UpdateTime > 0 {
			event.Time = time.Unix(m.UpdateTime, 0).UTC()
		}
		event.Content = b.content(m)
		return event, true
	}
	if data, ours := buttonData(m.Payload); ours {
		event.Kind = messenger.EventPress
		event.Press = &messenger.Press{Chat: id(m.PeerID), User: id(m.FromID), Data: data}
		return event, true
	}
	event.Command, event.Argument = command(m)
	event.Content = b.content(m)
	return event, true
}

// addressed reports whether a message in a group chat is meant for the bot.
func (b *Bot) addressed(m message) bool {
	return b.name.MatchString(m.Text) || len(m.Payload) > 0 || (m.Reply != nil && m.Reply.FromID == -b.group)
}

// command gives "/command argument" and the messenger's start button. The ref of a
// link that led here is the argument of a start; beside words of the customer's
// own it stands alone, so that these are not taken for a mere greeting.
func command(m message) (name, argument string) {
	var payload struct {
		Command string `json:"command"`
	}
	_ = json.Unmarshal(unquoted(m.Payload), &payload) // anything else is no command
	if payload.Command == "start" || (m.Ref != "" && greeting(m)) {
		return "start", m.Ref
	}
	if name, argument = slashed(m.Text); name == "" {
		argument = m.Ref
	}
	return name, argument
}

// greeting reports whether a message says nothing but that somebody is here.
func greeting(m message) bool {
	switch strings.ToLower(strings.Trim(m.Text, " \n/!.")) {
	case "", "start", "начать", "старт":
		return len(m.Attachments) == 0 && len(m.Forwarded) == 0 && m.Geo == nil
	}
	return false
}

// slashed reads "/command argument".
func slashed(text string) (name, argument string) {
	word, ok := strings.CutPrefix(text, "/")
	if !ok {
		return "", ""
	}
	if i := strings.IndexFunc(word, unicode.IsSpace); i >= 0 {
		word, argument = word[:i], strings.TrimSpace(word[i:])
	}
	word, _, _ = strings.Cut(word, "@")
	if word == "" || strings.ContainsRune(word, '/') {
		return "", ""
	}
	return strings.ToLower(word), argument
}

// unquoted gives JSON that may come as a text with JSON in it.
func unquoted(payload json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(payload, &text) == nil {
		return json.RawMessage(text)
	}
	return payload
}

// locale translates lang_id (dev.vk.com/reference/lang): of the languages of the
// platform, people who read Ukrainian, Belarusian or Kazakh get Russian.
func (c *client) locale() string {
	if c.Language == nil {
		return ""
	}
	switch *c.Language {
	case 0, 1, 2, 97, 100, 777:
		return "ru"
	}
	return "en"
}

// uncropped fetches what is in a message that VK has cut; when that fails the
// message stays as it is. Whose it is, and so its key, is as VK told first.
func (b *Bot) uncropped(ctx context.Context, m message) (message, bool) {
	ctx, cancel := context.WithTimeout(ctx, 1500*time.Millisecond)
	defer cancel()
	list, err := b.history(ctx, "messages.getById", map[string]any{"peer_id": m.PeerID, "cmids": m.CMID})
	if err != nil || len(list) != 1 {
		return m, false
	}
	whole := list[0]
	m.Text, m.Attachments, m.Forwarded, m.Reply, m.Geo = whole.Text, whole.Attachments, whole.Forwarded, whole.Reply, whole.Geo
	return m, true
}
