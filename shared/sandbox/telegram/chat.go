package telegram

import (
	"net/http"
	"strconv"
	"strings"
)

// User is a person on Telegram, or the bot.
type User struct {
	ID        int64  `json:"id"` // 0: Server.Customer makes one up above 2^40
	IsBot     bool   `json:"is_bot"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name,omitempty"`
	Username  string `json:"username,omitempty"` // without "@"
	Language  string `json:"language_code,omitempty"`
	Premium   bool   `json:"is_premium,omitempty"`
	Started   bool   `json:"-"` // the bot may write though they never wrote
}

type user struct {
	User
	passing     bool // of the crowd, and nobody has them in hand
	blocked     bool
	deactivated bool
}

// name is the person's whole name.
func (u User) name() string { return strings.TrimSpace(u.FirstName + " " + u.LastName) }

// Kinds of chats.
const (
	private    = "private"
	group      = "group"
	supergroup = "supergroup"
)

type chat struct {
	id       int64
	kind     string
	title    string
	user     *user // of a private chat
	owner    *user // of a group: who made it
	left     bool  // the bot is no member of the group
	movedTo  int64 // the chat has another id now
	messages []*message
	keyboard [][]string // the ordinary one below the input field
	pace     pace
}

// wire is the chat as messages carry it.
func (c *chat) wire() map[string]any {
	w := map[string]any{"id": c.id, "type": c.kind}
	if c.user == nil {
		w["title"] = c.title
		return w
	}
	w["first_name"] = c.user.FirstName
	for key, value := range map[string]string{"last_name": c.user.LastName, "username": c.user.Username} {
		if value != "" {
			w[key] = value
		}
	}
	return w
}

// find gives a message of the chat, or nil.
func (c *chat) find(id int64) *message {
	for i := len(c.messages) - 1; i >= 0; i-- {
		if m := c.messages[i]; m.id == id && !m.deleted {
			return m
		}
	}
	return nil
}

// chat gives the chat that a call names, whether or not the bot may write to it.
func (s *Server) chat(c *call) (*chat, *refusal) {
	name := strings.TrimSpace(c.text("chat_id"))
	if name == "" {
		return nil, bad("chat_id is empty")
	}
	id, err := strconv.ParseInt(name, 10, 64)
	if err != nil {
		return nil, bad("chat not found") // "@name" is for public chats, of which there are none
	}
	ch := s.known(id)
	switch {
	case ch == nil:
		return nil, bad("chat not found")
	case ch.movedTo != 0:
		return nil, &refusal{
			code: http.StatusBadRequest, migratedTo: ch.movedTo,
			text: "Bad Request: group chat was upgraded to a supergroup chat",
		}
	}
	return ch, nil
}

// writable refuses what Telegram refuses whatever the message is.
func (ch *chat) writable() *refusal {
	switch {
	case ch.left && ch.kind == supergroup:
		return forbidden("bot was kicked from the supergroup chat")
	case ch.left:
		return forbidden("bot was kicked from the group chat")
	case ch.user == nil:
		return nil
	case ch.user.deactivated:
		return forbidden("user is deactivated")
	case ch.user.blocked:
		return forbidden("bot was blocked by the user")
	case !ch.user.Started:
		return forbidden("bot can't initiate conversation with a user")
	}
	return nil
}

func (s *Server) getChat(c *call) (any, *refusal) {
	ch, r := s.chat(c)
	if r != nil {
		return nil, r
	}
	w := ch.wire()
	w["accent_color_id"], w["max_reaction_count"] = ch.id&7, 11
	w["accepted_gift_types"] = map[string]any{
		"unlimited_gifts": false, "limited_gifts": false, "unique_gifts": false,
		"premium_subscription": false, "gifts_from_channels": false,
	}
	return w, nil
}

func (s *Server) sendChatAction(c *call) (any, *refusal) {
	ch, r := s.chat(c)
	if r != nil {
		return nil, r
	}
	switch c.text("action") {
	case "typing", "upload_photo", "record_video", "upload_video", "record_voice", "upload_voice",
		"upload_document", "choose_sticker", "find_location", "record_video_note", "upload_video_note":
	default:
		return nil, bad("wrong parameter action in request")
	}
	if r := ch.writable(); r != nil {
		return nil, r
	}
	return true, nil
}
