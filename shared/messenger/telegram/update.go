package telegram

import (
	"encoding/json"
	"slices"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"
)

// update is the part of an Update that means something here
// (core.telegram.org/bots/api#update).
type update struct {
	UpdateID      int64                       `json:"update_id"`
	Message       json.RawMessage             `json:"message"`
	EditedMessage json.RawMessage             `json:"edited_message"`
	CallbackQuery *tgbotapi.CallbackQuery     `json:"callback_query"`
	MyChatMember  *tgbotapi.ChatMemberUpdated `json:"my_chat_member"`
}

// message is a Message in three views: as the library knows it, what came after
// the library, and the names of all its fields.
type message struct {
	tgbotapi.Message
	media  media
	later  later
	fields []string
}

// media is the files of a message, or of a message elsewhere that is answered.
type media struct {
	Photo     []tgbotapi.PhotoSize `json:"photo"`
	Document  *tgbotapi.Document   `json:"document"`
	Voice     *tgbotapi.Voice      `json:"voice"`
	Audio     *tgbotapi.Audio      `json:"audio"`
	Video     *video               `json:"video"`
	VideoNote *tgbotapi.VideoNote  `json:"video_note"`
	Animation *tgbotapi.Animation  `json:"animation"`
	Sticker   *sticker             `json:"sticker"`
	LivePhoto *livePhoto           `json:"live_photo"`
}

type video struct {
	tgbotapi.Video
	Qualities []quality `json:"qualities"`
}

// quality is the same video, smaller.
type quality struct {
	FileID   string `json:"file_id"`
	FileSize int64  `json:"file_size"`
}

type sticker struct {
	tgbotapi.Sticker
	IsVideo bool `json:"is_video"`
}

// livePhoto is a photo that moves for a moment: a video, and the photo.
type livePhoto struct {
	Photo    []tgbotapi.PhotoSize `json:"photo"`
	FileID   string               `json:"file_id"`
	MimeType string               `json:"mime_type"`
	FileSize int64                `json:"file_size"`
}

// later is fields that came after Bot API 5.5.
type later struct {
	ForwardOrigin *origin `json:"forward_origin"`
	Quote         *struct {
		Text string `json:"text"`
	} `json:"quote"`
	ReplyTo       *media          `json:"reply_to_message"`
	ExternalReply *externalReply  `json:"external_reply"`
	Checklist     *checklist      `json:"checklist"`
	RichMessage   json.RawMessage `json:"rich_message"`
}

// origin says who wrote what is forwarded or answered.
type origin struct {
	SenderUser      *tgbotapi.User `json:"sender_user"`
	SenderUserName  string         `json:"sender_user_name"`
	SenderChat      *tgbotapi.Chat `json:"sender_chat"`
	Chat            *tgbotapi.Chat `json:"chat"`
	AuthorSignature string         `json:"author_signature"`
}

// externalReply is a message of another chat that is answered.
type externalReply struct {
	Origin *origin `json:"origin"`
	media
}

type checklist struct {
	Title string `json:"title"`
	Tasks []struct {
		Text      string `json:"text"`
		Completed int64  `json:"completion_date"`
	} `json:"tasks"`
}

func decodeMessage(raw json.RawMessage) (message, bool) {
	var m message
	var fields map[string]json.RawMessage
	for _, view := range []any{&m.Message, &m.media, &m.later, &fields} {
		if err := lenient(raw, view); err != nil {
			return message{}, false
		}
	}
	for name, value := range fields {
		if string(value) != "null" && string(value) != "false" {
			m.fields = append(m.fields, name)
		}
	}
	slices.Sort(m.fields)
	return m, m.Chat != nil
}
