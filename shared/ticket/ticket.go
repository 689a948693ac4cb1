// Package ticket holds what the parts of the platform tell each other about a
// customer's ticket: who it belongs to, how it is named, and the payloads of
// the jobs that act on it. It has no table: Tracker keeps the tickets.
package ticket

import (
	"slices"
	"strings"
	"time"

	"supportbot/shared/messenger"
)

// Ref names a ticket. A ticket that the bot opened is named by the draft that it
// came from, from the confirmation on, before Tracker knows of it; any other by
// Tracker's immutable issue id.
type Ref struct {
	Draft string `json:"draft,omitempty"`
	Issue string `json:"issue,omitempty"`
}

// String gives "d<draft>" or "i<issue>", short enough for a button.
func (r Ref) String() string {
	if r.Draft != "" {
		return "d" + r.Draft
	}
	return "i" + r.Issue
}

// ParseRef reads the form that String gives; ok is false for anything else.
func ParseRef(s string) (r Ref, ok bool) {
	if len(s) < 2 {
		return Ref{}, false
	}
	switch s[0] {
	case 'd':
		return Ref{Draft: s[1:]}, true
	case 'i':
		return Ref{Issue: s[1:]}, true
	}
	return Ref{}, false
}

// Unique is the value that makes the ticket one in Tracker. The chat can be read
// back from it, also when a move to another queue has dropped the fields.
func Unique(a messenger.Address, draft string) string {
	return "support:" + a.String() + ":" + draft
}

// ParseUnique reads what Unique gives; ok is false for issues that are not ours.
func ParseUnique(s string) (a messenger.Address, draft string, ok bool) {
	parts := strings.Split(s, ":")
	if len(parts) != 5 || parts[0] != "support" || slices.Contains(parts, "") {
		return messenger.Address{}, "", false
	}
	a = messenger.Address{Messenger: messenger.Name(parts[1]), Bot: parts[2], Chat: parts[3]}
	return a, parts[4], true
}

// MarkerPrefix begins the marker within every comment that the platform writes: a
// link definition to which nothing refers, which Tracker does not show.
const MarkerPrefix = "[//]: # (support-bot:"

// Marked gives what a comment of the platform's says above its marker, and the
// marker behind MarkerPrefix. The marker is the last line: a comment that quotes
// one of ours is no comment of ours.
func Marked(text string) (body, mark string, ok bool) {
	body, last := "", strings.TrimSpace(text)
	if at := strings.LastIndexByte(last, '\n'); at >= 0 {
		body, last = last[:at], last[at+1:]
	}
	mark, ok = strings.CutPrefix(last, MarkerPrefix)
	return strings.TrimSpace(body), strings.TrimSuffix(mark, ")"), ok
}

// The kinds of comments that the platform writes: what a marker begins with.
const (
	MarkCustomer = "c" // a customer's message
	MarkRobot    = "r" // the robot's own words
)

// FromCustomer reports whether a marker is that of a customer's message.
func FromCustomer(mark string) bool { return strings.HasPrefix(mark, MarkCustomer) }

// Customer is the person in a chat, as the ticket shows them.
type Customer struct {
	Address messenger.Address `json:"address"`
	User    messenger.User    `json:"user"`
	Locale  string            `json:"locale"` // "ru" or "en"
}

// Summary is a ticket in the customer's lists.
type Summary struct {
	Ref    Ref    `json:"ref"`
	Key    string `json:"key,omitempty"` // "" while Tracker does not know it yet
	Title  string `json:"title"`
	Status string `json:"status"` // key
	// StatusName is Tracker's own name of the status, shown where the catalogue
	// has no text for the key.
	StatusName string    `json:"status_name,omitempty"`
	Phase      Phase     `json:"phase"` // what the status means
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
	ClosedAt   time.Time `json:"closed_at"` // zero while open
}

// Open reports whether the ticket still takes messages without being asked.
func (s Summary) Open() bool { return s.Phase == PhaseOpen }

// Phase is what a status means for the conversation.
type Phase string

// The phases of a ticket.
const (
	PhaseOpen     Phase = "open"
	PhaseResolved Phase = "resolved" // asks for a rating, may be reopened for a while
	PhaseClosed   Phase = "closed"   // final: a message asks for a new ticket
)

// EntryKind says what a line of a ticket's history is.
type EntryKind string

// The kinds of entries.
const (
	EntryCreated  EntryKind = "created"
	EntryCustomer EntryKind = "customer" // a message of theirs
	EntryAgent    EntryKind = "agent"    // an agent's reply
	EntryStatus   EntryKind = "status"   // the status became Entry.Status
)

// Entry is one line of a ticket's history as the customer may see it.
type Entry struct {
	At     time.Time `json:"at"`
	Kind   EntryKind `json:"kind"`
	Text   string    `json:"text,omitempty"`
	Status string    `json:"status,omitempty"` // key, for EntryStatus
	// StatusName is Tracker's own name of the status, as in Summary.
	StatusName string `json:"status_name,omitempty"`
	Files      int    `json:"files,omitempty"`
}
