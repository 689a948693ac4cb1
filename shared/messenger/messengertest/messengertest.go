// Package messengertest is the conformance suite of the messenger port: what
// every adapter has to do, shown against a fake server of its messenger.
//
// An adapter's test makes a Harness and calls Run. The suite only ever acts
// through the Harness and looks at what the fake customer sees, so that it says
// the same of every messenger; where messengers honestly differ, Features says
// so. The harness judges each request of the adapter and each answer of the fake
// by the messenger's machine-readable specification (package spec) and reports
// differences to its *testing.T.
package messengertest

import (
	"context"
	"net/http"
	"time"

	"supportbot/shared/messenger"
	"supportbot/shared/sandbox/fault"
)

// Harness is one bot on one fake server, both new.
type Harness interface {
	// Adapter gives the adapter under test. Its webhook accepts two secrets.
	Adapter() messenger.Adapter
	// Unreachable gives a second adapter of the same bot whose server refuses
	// connections.
	Unreachable() messenger.Adapter
	// Unsecured makes an adapter without any webhook secret: either that fails,
	// or the adapter has to refuse every call.
	Unsecured() (messenger.Adapter, error)

	// Connect makes the fake deliver what customers do from now on to webhook,
	// with the right secret, in its own time and in its own order.
	Connect(webhook http.Handler)
	// Call builds a webhook call by hand, with body and one of the secrets.
	Call(body []byte, secret Secret) *http.Request
	// Message gives a well-formed body that carries secret where the messenger
	// puts it into the body: a text message of c.
	Message(c Customer, text string, secret Secret) []byte

	// Customer gives a new customer whose id is above 2^40 and to whom the bot
	// may write. Making one delivers nothing.
	Customer() Customer
	// Nobody gives the id of a chat that does not exist.
	Nobody() string
	// Moved gives the old and the new id of a chat that got a new one
	// (Features.Moves).
	Moved() (from, to string)

	// Faults are those of the fake server; Method names what the adapter calls
	// for op, as fault.Fault.Method wants it.
	Faults() *fault.Set
	Method(op Op) string
	// Limit makes the fake refuse the next call of op: too many, wait.
	Limit(op Op, wait time.Duration)

	// Secrets are the values that no error and no log may show: the token, the
	// webhook's secrets.
	Secrets() []string
	// Logged gives what the adapter has logged so far.
	Logged() string
	Features() Features
}

// Op is a kind of call that an adapter makes.
type Op string

// The kinds of calls.
const (
	Send     Op = "send"      // a text
	SendFile Op = "send_file" // the call that makes the message with a file visible
	Upload   Op = "upload"    // the call that carries a file's bytes; may be the same one
	Edit     Op = "edit"
	Answer   Op = "answer"
	Open     Op = "open" // the first call of opening a customer's file
)

// Secret is what a webhook call carries to prove where it comes from.
type Secret int

// The secrets.
const (
	Right  Secret = iota // the one in use
	Second               // the other one that is valid while rotating
	Wrong
	None
)

// Features is how this messenger differs from others, by nature.
type Features struct {
	Markup       bool // formatting can be sent and is seen (Seen.Bold)
	Formatting   bool // customers can format (Customer.WriteBold; Content.Markdown)
	Moves        bool // a chat can get a new id (Harness.Moved)
	NamesWait    bool // a refusal for too many calls names the wait (Limit's wait arrives in Error.RetryAfter)
	AlbumParts   bool // an album is several events that share Event.Album; else it is one event
	StalePress   bool // a press can become too old to be answered (Customer.PressLate)
	Deactivation bool // accounts can be deactivated (Customer.Deactivate)
	// Kinds are the files that customers send. For each, the suite sends one
	// with a name of its own; Named says for which kinds the name survives.
	Kinds []messenger.AttachmentKind
	Named []messenger.AttachmentKind
}

// Customer is a person with a messenger in their hand. Methods that act return
// when the fake has taken the action; its delivery comes later. The ids they
// return are those of Event.MessageID.
type Customer interface {
	Chat() string
	User() string
	Name() string // contains a canary; the bot knows it where the messenger tells it

	Start(payload string) (id string) // the messenger's start button or deep link
	Write(text string) (id string)
	WriteBold(text, bold string) (id string) // text with each occurrence of bold in bold
	Send(f Picked, caption string) (id string)
	Album(files []Picked, caption string) // 2-10 photos at once
	Locate(l messenger.Location) (id string)
	Share(c messenger.Contact) (id string) // a card from the address book
	Edit(id, text string)
	Reply(id, text string) string       // quotes an earlier message of this chat, also one of the bot's
	Forward(author, text string) string // somebody else's words
	Peculiar() string                   // something that no ticket can hold (a story)
	InGroup(text string)                // speaks to the bot in a group chat
	Block()
	Unblock()
	Deactivate()

	// Press presses the button with data below a message of the bot's and gives
	// the text that the bot answers; the channel gets nothing until then.
	Press(messageID, data string) <-chan string
	// PressLate gives a press as the adapter would report it that is too old to
	// be answered.
	PressLate(messageID, data string) messenger.Press

	// Seen is what the bot wrote to this customer, oldest first; Delete removes
	// one of them.
	Seen() []Seen
	Delete(messageID string)
	// Wait blocks until ok holds for what is seen, or ctx ends.
	Wait(ctx context.Context, ok func([]Seen) bool) error
}

// Picked is a file in a customer's hand.
type Picked struct {
	Kind messenger.AttachmentKind
	Name string
	MIME string
	Data []byte
}

// Seen is one message of the bot's as the customer sees it now.
type Seen struct {
	ID       string // as in Receipt.MessageID
	Text     string // as it is read: no markup
	Bold     string // the parts of Text that are bold, joined by a line break
	Keyboard messenger.Keyboard
	File     *SeenFile
	Edited   bool
}

// SeenFile is a file below a message of the bot's.
type SeenFile struct {
	Name  string
	Photo bool // shown as a picture
	Data  []byte
}
