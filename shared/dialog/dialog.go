// Package dialog decides what the bot does: a pure function of the
// conversation's state, one event, and what is known about the customer. It
// reads and writes nothing; its caller (package conversation) keeps the state,
// inserts the jobs and sends the replies.
//
// A customer talks to the bot in three ways: commands and buttons of the menu, a
// form that opens a ticket (category, subject, description with files,
// confirmation), and free text, which goes to the ticket that is open, or asks
// where it belongs. Whatever the customer sends ends in a ticket, waits in the
// state for an answer, or the customer is told that it could not be taken.
package dialog

import (
	"time"

	"supportbot/shared/catalogue"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/person"
	"supportbot/shared/ticket"
)

// Periods of the dialog.
const (
	DraftLife    = 7 * 24 * time.Hour // an unconfirmed form, and the whole state, after the last touch
	ReopenWindow = 3 * 24 * time.Hour // after resolution a message asks: reopen or new

	targetLife = 15 * time.Minute // a chosen ticket takes messages without being asked again
	remarkLife = time.Hour        // after a rating the next text is its remark
	ackPause   = time.Minute      // between two acknowledgements of messages
	refusePace = time.Hour        // between two refusals in a group
	openedLife = 24 * time.Hour   // a confirmed ticket that Tracker's list does not show yet
	cancelWait = 10 * time.Minute // a /cancel this soon after a confirmation meant that form
)

// View is what is known when an event is handled.
type View struct {
	Catalogue *catalogue.Catalogue
	Now       time.Time
	Person    person.Person // Locale decides the language; "" means the user's own
	Tickets   Tickets
	// Settle is how long a message's job waits for one that was overtaken
	// (messenger.Limits).
	Settle time.Duration
	// Download is the largest file that a customer can hand over, bytes; 0 = any.
	Download int64
	// Again: the event is handled once more, by an Again job, now that the
	// tickets are known. It never touches the form.
	Again bool
}

// Tickets is a customer's list of tickets as it was read from Tracker.
type Tickets struct {
	List  []ticket.Summary
	Known bool      // false: Tracker could not be read and nothing was kept
	At    time.Time // when it was read
	// Generation changes whenever the kept list is changed or dropped by
	// somebody else, so that a reading that began earlier is not kept.
	Generation int64
}

// Result is what follows from an event.
type Result struct {
	Replies []Reply
	Jobs    []job.New
	Update  person.Update
	// Visit asks that the person be recorded although there is no job.
	Visit bool
	// Consulted: the outcome depended on View.Tickets, so it is worth to read
	// them anew if they are not fresh, and to handle the event again.
	Consulted bool
}

// Empty reports whether nothing follows.
func (r Result) Empty() bool { return len(r.Replies) == 0 && len(r.Jobs) == 0 && !r.Visit }

// Reply is one thing that the customer sees: the answer to a press, a message,
// or a page that is rendered when it is sent.
type Reply struct {
	Answer *Answer `json:"answer,omitempty"`

	Text     string             `json:"text,omitempty"` // plain
	Keyboard messenger.Keyboard `json:"keyboard,omitempty"`
	Page     *Page              `json:"page,omitempty"` // instead of Text and Keyboard
	// Edit is the message of ours that this one replaces, if it can: the one
	// whose button was pressed, as long as nothing stands below it.
	Edit string `json:"edit,omitempty"`
}

// Answer stops a pressed button's spinner.
type Answer struct {
	Press messenger.Press `json:"press"`
	Text  string          `json:"text,omitempty"` // at most 200 characters
}

// Page is a view on data that is read when it is sent: Tracker's, or a code that
// nobody but the customer may have.
type Page struct {
	Kind   PageKind   `json:"kind"`
	Ref    ticket.Ref `json:"ref,omitempty"`    // of PageTicket and PageHistory
	Number int        `json:"number,omitempty"` // from 0
	Locale string     `json:"locale"`
	// Opened are tickets that Tracker's list may not show yet.
	Opened []ticket.Summary `json:"opened,omitempty"`
	Code   string           `json:"code,omitempty"` // of PageLinked, as the customer sent it
}

// PageKind names a view.
type PageKind string

// The views.
const (
	PageTickets PageKind = "tickets" // those that are not closed
	PageAll     PageKind = "all"     // all of them, to read one's history
	PageTicket  PageKind = "ticket"
	PageHistory PageKind = "history"
	PageLink    PageKind = "link"    // a code, to be sent to the bot in another messenger
	PageLinked  PageKind = "linked"  // what came of such a code
	PageConsole PageKind = "console" // a link into the console
)
