// Package messenger is the port to the messengers: what the platform needs of
// Telegram, of VK and of any that comes after them.
//
// An adapter lives in a folder of its own below this one. It translates between
// the messenger's wire format and the value types here, which are the only ones
// that the rest of the platform knows, and it turns every failure into an Error
// of a closed set of kinds. It keeps no state and never retries by itself: what
// to do after a failure is decided by the job that asked for the call.
package messenger

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Name names a messenger; it is the first part of every address and key.
type Name string

// The messengers that have an adapter.
const (
	Telegram Name = "telegram"
	VK       Name = "vk"
)

// Address is one chat with one of our bots. The same chat id in two messengers
// is two addresses.
type Address struct {
	Messenger Name   `json:"messenger"`
	Bot       string `json:"bot"`  // Telegram: the bot's user id; VK: the community's id
	Chat      string `json:"chat"` // Telegram: chat id; VK: peer id; decimal, may be above 2^40
}

// String gives the form "telegram:<bot>:<chat>", which ParseAddress reads.
func (a Address) String() string {
	return string(a.Messenger) + ":" + a.Bot + ":" + a.Chat
}

// ParseAddress reads the form that String gives.
func ParseAddress(s string) (Address, error) {
	parts := strings.SplitN(s, ":", 3)
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" {
		return Address{}, fmt.Errorf("address %q: want messenger:bot:chat", s)
	}
	return Address{Messenger: Name(parts[0]), Bot: parts[1], Chat: parts[2]}, nil
}

// Receiver turns one call of the messenger's webhook into events.
type Receiver interface {
	// Receive verifies and parses a webhook call. The body is limited by the
	// receiver. The reply is what the messenger expects once every event is
	// stored; when Receive returns an error the reply says so to the sender
	// (401, 403, 413; 200 for content that no repetition would mend) and there
	// are no events.
	Receive(r *http.Request) ([]Event, Reply, error)
}

// Sender performs the calls that a customer sees. Every error is an *Error.
type Sender interface {
	// Send sends one message to o.Chat.
	Send(ctx context.Context, o Outgoing) (Receipt, error)
	// Edit replaces the text and the keyboard of a message that we sent.
	// "Not modified" is success; a message that can no longer be edited is Invalid.
	Edit(ctx context.Context, messageID string, o Outgoing) error
	// Answer stops the spinner of a pressed button and may show a short text.
	// A press that is too old to be answered is success.
	Answer(ctx context.Context, p Press, text string) error
}

// Multi is a Sender that can address many chats with one call.
type Multi interface {
	// SendMany sends the same message to at most Limits.Peers chats; o.Chat is not
	// used. There is one Delivered per chat, in their order. An error is of the call
	// as a whole: its kind holds for all of them. A call repeated for the same chats
	// with the same Outgoing.Key takes effect once.
	SendMany(ctx context.Context, chats []string, o Outgoing) ([]Delivered, error)
}

// Prober is a Sender that can find out whether a chat can be written to now, by a
// call that leaves no message. Who is not Idempotent should be one: a send with no
// known end can be repeated once, and that is not to be wasted on an outage.
type Prober interface {
	// Probe is never Uncertain.
	Probe(ctx context.Context, chat string) error
}

// Delivered is how a call to many chats ended for one of them.
type Delivered struct {
	Receipt Receipt
	Err     error // an *Error, or nil
}

// Renderer turns text into parts that fit into one message each. It is
// deterministic: the same text gives the same parts.
type Renderer interface {
	// Render renders Markdown as an agent writes it in Tracker (YFM).
	Render(markdown string) []Part
	// Plain splits text that has no markup.
	Plain(text string) []Part
}

// FileSource opens files that customers sent.
type FileSource interface {
	// Open streams an attachment. The caller closes the stream. An attachment
	// over Limits.Download, or one that is gone, gives an *Error of kind Invalid.
	Open(ctx context.Context, a Attachment) (io.ReadCloser, error)
}

// Adapter is one bot in one messenger.
type Adapter interface {
	Receiver
	Sender
	Renderer
	FileSource
	Name() Name
	Bot() string
	Limits() Limits
}

// Limits are the messenger's bounds that use cases have to know.
type Limits struct {
	Text       int           // one message's text, UTF-16 code units
	Caption    int           // the text beside a file, UTF-16 code units; a longer one is Invalid, so goes as a message of its own
	Upload     int64         // a file that we send, bytes
	Photo      int64         // an image sent as a photo, bytes; above it goes as a document
	Download   int64         // a file that a customer sends, bytes; 0 = no limit of the messenger's
	Buttons    int           // buttons below one message
	Peers      int           // chats that one call of Multi may address; 0 where there is no such call
	Idempotent bool          // a send repeated with the same Outgoing.Key takes effect once
	Settle     time.Duration // how long an inbound message waits for an earlier one that was overtaken
}

// Reply is the answer to a webhook call.
type Reply struct {
	Status      int
	ContentType string
	Body        string
}

// Receipt says what a send created.
type Receipt struct {
	MessageID string // for Edit; Telegram: message_id, VK: conversation_message_id
}

// Part is the text of one message, rendered for one messenger.
type Part struct {
	Text  string `json:"text"`
	HTML  bool   `json:"html,omitempty"`  // Text is the messenger's markup; else it is plain
	Plain string `json:"plain,omitempty"` // what to send when the messenger refuses the markup
}

// Outgoing is one message to one chat: a text, or a file with an optional caption.
type Outgoing struct {
	Chat     string
	Part     Part
	Keyboard Keyboard
	File     *File
	// Key names the message for as long as anybody may try to send it: a
	// messenger that can drop a repetition is given a number derived from it.
	Key string
	// Bare says that the message that an edit replaces has no file. VK has to be asked
	// for the files otherwise, which is one more call.
	Bare bool
	// NoCallback asks for buttons that send their label as a message, for
	// clients that know no others (VK; see Event.NoCallback).
	NoCallback bool
	// Paid lets a broadcast exceed the messenger's free rate for money (Telegram:
	// allow_paid_broadcast, 0.1 Star a message). Others ignore it.
	Paid bool
}

// File is a file that we send. Open may be called more than once.
type File struct {
	Name string
	MIME string
	Size int64 // bytes; < 0 when unknown
	Open func(ctx context.Context) (io.ReadCloser, error)
}

// Keyboard is rows of buttons below a message; nil means none.
type Keyboard [][]Button

// Button is either a callback (Data) or a link (URL).
type Button struct {
	Label string `json:"label"`
	Data  string `json:"data,omitempty"` // ASCII, at most 64 bytes
	URL   string `json:"url,omitempty"`
}
