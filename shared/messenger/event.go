package messenger

import "time"

// Kind says what happened in a chat.
type Kind string

// The kinds of events. Whatever else a messenger reports is accepted and gives
// no event.
const (
	EventMessage   Kind = "message"   // the customer wrote or sent something
	EventEdit      Kind = "edit"      // the customer changed an earlier message; the event carries the new content
	EventPress     Kind = "press"     // the customer pressed a button of ours
	EventBlocked   Kind = "blocked"   // we may no longer write to the customer
	EventUnblocked Kind = "unblocked" // we may write again
	EventGroup     Kind = "group"     // somebody spoke to the bot in a group chat: politely refused
)

// Event is one thing that happened in a chat, in our terms.
type Event struct {
	// Key names the update: "telegram:<bot>:<update_id>", "vk:<community>:<event_id>".
	// A repeated delivery has the same key.
	Key     string    `json:"key"`
	Kind    Kind      `json:"kind"`
	Address Address   `json:"address"`
	User    User      `json:"user"`
	Time    time.Time `json:"time"` // when the customer did it, by the messenger's clock
	// Sequence is the messenger's number of the message within the chat; it
	// orders messages. 0 where the messenger gives none (presses, blocks).
	Sequence  int64  `json:"sequence,omitempty"`
	MessageID string `json:"message_id,omitempty"`

	// Command and Argument are set for "/command argument", for deep links
	// ("start" and the payload) and for the messenger's own start button.
	Command  string `json:"command,omitempty"` // lower case, without the slash and the bot's name
	Argument string `json:"argument,omitempty"`

	Content
	Album      string `json:"album,omitempty"` // the id that the parts of one album share
	Press      *Press `json:"press,omitempty"` // set for EventPress
	NoCallback bool   `json:"no_callback,omitempty"`
}

// Content is what a customer's message carries.
type Content struct {
	Text string `json:"text,omitempty"` // as typed; the caption for files
	// Markdown is Text with its formatting (bold, links behind words, code) as
	// Markdown, everything else escaped. Empty when there is no formatting.
	Markdown    string       `json:"markdown,omitempty"`
	Attachments []Attachment `json:"attachments,omitempty"`
	Quotes      []Quote      `json:"quotes,omitempty"`
	Location    *Location    `json:"location,omitempty"`
	Contact     *Contact     `json:"contact,omitempty"`
	// Notes are things that have no file and no text of their own but can be
	// said in words ("poll: Question? / Yes / No", "dice: 5").
	Notes []string `json:"notes,omitempty"`
	// Unsupported names what could not be carried at all ("story"): the
	// customer is told.
	Unsupported []string `json:"unsupported,omitempty"`
}

// Empty reports whether the content carries nothing for a ticket.
func (c Content) Empty() bool {
	return c.Text == "" && len(c.Attachments) == 0 && len(c.Quotes) == 0 &&
		c.Location == nil && c.Contact == nil && len(c.Notes) == 0
}

// User is the person behind an event, as the messenger tells it.
type User struct {
	ID       string `json:"id"`
	Name     string `json:"name,omitempty"`
	Username string `json:"username,omitempty"` // nickname without "@"
	Locale   string `json:"locale,omitempty"`   // "ru" or "en"; empty when the messenger does not tell
}

// Press is a pressed button.
type Press struct {
	ID        string `json:"id,omitempty"` // for Sender.Answer; empty when there is nothing to answer
	Chat      string `json:"chat"`
	User      string `json:"user"`
	Data      string `json:"data"`
	MessageID string `json:"message_id,omitempty"` // the message below which the button stands
}

// AttachmentKind says what a file is to the customer.
type AttachmentKind string

// The kinds of files that customers send.
const (
	Photo     AttachmentKind = "photo"
	Document  AttachmentKind = "document"
	Voice     AttachmentKind = "voice"
	Audio     AttachmentKind = "audio"
	Video     AttachmentKind = "video"
	VideoNote AttachmentKind = "video_note"
	Animation AttachmentKind = "animation"
	Sticker   AttachmentKind = "sticker"
)

// Attachment is a file that a customer sent. Ref never leaves the platform: it
// can carry an access key.
type Attachment struct {
	Kind AttachmentKind `json:"kind"`
	Ref  string         `json:"ref"`            // Telegram: file_id; VK: download address
	Name string         `json:"name"`           // never empty: made up from the kind when the messenger gives none
	MIME string         `json:"mime,omitempty"` // "" when unknown
	Size int64          `json:"size,omitempty"` // bytes; 0 when unknown
}

// Quote is text of somebody else inside a message.
type Quote struct {
	Kind        string       `json:"kind"` // "reply" or "forward"
	Author      string       `json:"author,omitempty"`
	Text        string       `json:"text,omitempty"`
	Attachments []Attachment `json:"attachments,omitempty"`
}

// Location is a point on the map, degrees of WGS 84, perhaps with a name.
type Location struct {
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
	Title     string  `json:"title,omitempty"`
	Address   string  `json:"address,omitempty"`
}

// Contact is a card from the address book.
type Contact struct {
	Name  string `json:"name,omitempty"`
	Phone string `json:"phone,omitempty"`
}
