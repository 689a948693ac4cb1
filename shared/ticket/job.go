package ticket

import (
	"time"

	"supportbot/shared/messenger"
)

// The queues of what concerns tickets. Each belongs to one function.
const (
	QueueTickets    = "tickets"    // ticket-worker: the customer's requests -> Tracker
	QueueDeliveries = "deliveries" // tracker-worker: Tracker's news -> the customer
)

// InboundLane is the lane of what a customer asks of Tracker.
func InboundLane(a messenger.Address) string { return "in:" + a.String() }

// OutboundLane is the lane of what goes to a customer.
func OutboundLane(a messenger.Address) string { return "out:" + a.String() }

// IssueLane is the lane in which an issue is looked at, by its immutable id.
func IssueLane(id string) string { return "issue:" + id }

// NoteLane is the lane of what an agent is told of a ticket that is nobody's: it names
// no customer.
func NoteLane(issue string) string { return "note:" + issue }

// The kinds of jobs in the queue tickets. Their payloads are the types below.
const (
	KindCreate  = "ticket.create"  // Create
	KindComment = "ticket.comment" // Comment; as an album a list of them (job.Member)
	KindRate    = "ticket.rate"    // Rate
	KindReopen  = "ticket.reopen"  // Reopen
	KindNote    = "ticket.note"    // Note
	KindAgain   = "event.again"    // Again
)

// The kinds of jobs in the queue deliveries.
const (
	KindLook   = "issue.look"     // Look
	KindAnswer = "deliver.answer" // Answer: an agent's reply
	KindEdit   = "deliver.edit"   // Answer: an agent's reply was edited
	KindStatus = "deliver.status" // StatusNews
	KindNotice = "deliver.notice" // Notice: a message of the bot's own
)

// DraftKey is the key of the job that creates the ticket of a draft.
func DraftKey(draft string) string { return "draft:" + draft }

// AlbumKey is the key of the job that gathers an album.
func AlbumKey(a messenger.Address, album string) string {
	return "album:" + a.String() + ":" + album
}

// AnswerKey is the key of the delivery of an agent's reply.
func AnswerKey(issue, comment string) string { return "tracker:" + issue + ":comment:" + comment }

// ChangeKey is the key of the delivery of a changelog entry.
func ChangeKey(issue, change string) string { return "tracker:" + issue + ":change:" + change }

// Message is one message of a customer as it goes into a ticket.
type Message struct {
	Key string    `json:"key"` // of the event
	At  time.Time `json:"at"`  // when the customer sent it
	messenger.Content
	Edited bool `json:"edited,omitempty"` // the new content of an earlier message
	Late   bool `json:"late,omitempty"`   // came after a later one had been recorded
}

// Create opens a ticket.
type Create struct {
	Draft    string    `json:"draft"`
	Customer Customer  `json:"customer"`
	Category string    `json:"category"` // key in the catalogue
	Subject  string    `json:"subject"`
	Messages []Message `json:"messages"` // the description, in order; may be empty
	At       time.Time `json:"at"`       // when the customer confirmed
}

// Comment adds a customer's message to a ticket.
type Comment struct {
	Customer Customer `json:"customer"`
	Ref      Ref      `json:"ref"`
	Message  Message  `json:"message"`
}

// Rate records the customer's rating. Score 0 leaves an earlier score as it is.
type Rate struct {
	Customer Customer  `json:"customer"`
	Ref      Ref       `json:"ref"`
	Score    int       `json:"score,omitempty"` // 1..5
	Remark   string    `json:"remark,omitempty"`
	At       time.Time `json:"at"`
}

// Reopen takes a resolved ticket back to work; Message, if any, becomes a comment.
type Reopen struct {
	Customer Customer  `json:"customer"`
	Ref      Ref       `json:"ref"`
	Message  *Message  `json:"message,omitempty"`
	At       time.Time `json:"at"`
}

// Note tells the agent something in a comment of the robot's: an answer that
// could not be delivered, one that was sent twice.
type Note struct {
	Ref  Ref      `json:"ref"`
	Note NoteKind `json:"note"`
	// Comment is the id of the agent's comment that the note is about, if any.
	Comment string `json:"comment,omitempty"`
	Detail  string `json:"detail,omitempty"` // never what a customer wrote
}

// NoteKind says what a note tells.
type NoteKind string

// The notes.
const (
	NoteUndelivered NoteKind = "undelivered" // the customer has blocked the bot or is gone
	NoteRefused     NoteKind = "refused"     // the messenger refuses the message for good
	NoteResent      NoteKind = "resent"      // sent once more after an unknown outcome: may have come twice
	NoteReview      NoteKind = "review"      // nobody knows whether it arrived; waits for an operator
	NoteTooLarge    NoteKind = "too_large"   // a file was over the messenger's limit
	NoteErased      NoteKind = "erased"      // the customer was erased: nothing reaches them any more
)

// Again handles an event once more when Tracker can be read: which of several
// tickets it belongs to could not be told before.
type Again struct {
	Event messenger.Event `json:"event"`
}

// Look reads what is new on an issue. ID may be empty in a call that knows only
// the key.
type Look struct {
	ID  string `json:"id,omitempty"`
	Key string `json:"key,omitempty"`
	// Second: a look went before; this one sees what listings held back from it.
	Second bool `json:"second,omitempty"`
}

// Answer delivers an agent's comment. The text is read from Tracker when the
// job runs.
type Answer struct {
	Address messenger.Address `json:"address"`
	Ref     Ref               `json:"ref"`
	Issue   string            `json:"issue"` // immutable id
	Comment string            `json:"comment"`
	Version int64             `json:"version,omitempty"` // for KindEdit: the version that made the job
}

// StatusNews announces a status change.
type StatusNews struct {
	Address messenger.Address `json:"address"`
	Ref     Ref               `json:"ref"`
	Issue   string            `json:"issue"`
	Key     string            `json:"key"`
	Title   string            `json:"title"`
	From    string            `json:"from"` // status key
	To      string            `json:"to"`
	Type    string            `json:"type,omitempty"`    // of To; "" for custom statuses
	Display string            `json:"display,omitempty"` // Tracker's name of To
}

// Notice is a message of the bot's own, already in the customer's language.
type Notice struct {
	Address    messenger.Address  `json:"address"`
	Part       messenger.Part     `json:"part"`
	Keyboard   messenger.Keyboard `json:"keyboard,omitempty"`
	NoCallback bool               `json:"no_callback,omitempty"`
	// Uncertain: it was already sent once and nobody knows how that ended.
	Uncertain bool `json:"uncertain,omitempty"`
}
