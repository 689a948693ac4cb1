package broadcast

import (
	"time"

	"supportbot/shared/messenger"
)

// Outcome is how it ended for one recipient.
type Outcome string

// The outcomes.
const (
	Sent      Outcome = "sent"
	Blocked   Outcome = "blocked"   // the messenger says that this person cannot be written to
	Failed    Outcome = "failed"    // the messenger refuses the message for good
	Uncertain Outcome = "uncertain" // the call was started and nobody knows how it ended
	Skipped   Outcome = "skipped"   // blocked, banned, opted out, erased or cancelled before the call
)

// Outcomes are all of them.
var Outcomes = []Outcome{Sent, Blocked, Failed, Uncertain, Skipped}

// Batch is a part of a broadcast.
type Batch struct {
	ID        int64
	Broadcast int64
	Messenger messenger.Name
	Bot       string
	Number    int
	Counts    Counts
}

// Recipient is one of a batch, as its worker sees it.
type Recipient struct {
	N       int
	Address messenger.Address // its chat is "" when the identity is gone
	Locale  string
	// Deferred: it was to be left alone for a while, so that it goes in a call of its
	// own (see broadcasting).
	Deferred bool
	Refused  string // why it must be skipped now: "unreachable", "banned", "opted out", "erased"; "" if it need not
}

// Result is what is to be written of one recipient that was claimed.
type Result struct {
	N         int
	Outcome   Outcome       // "" gives the claim back: nothing was sent...
	NotBefore time.Duration // ...and not to be tried before, by the database's clock
	MessageID string
	Error     string // the messenger's code and what it means; nothing personal
}

// Listed is a recipient in the list of outcomes.
type Listed struct {
	Customer  int64          `json:"customer,omitempty"` // 0: erased
	Messenger messenger.Name `json:"messenger"`
	Outcome   Outcome        `json:"outcome,omitempty"`
	Error     string         `json:"error,omitempty"`
	At        *time.Time     `json:"at,omitempty"`
}

// Progress is how far a broadcast is, as it is shown while it runs.
type Progress struct {
	State  State      `json:"state"`
	Counts Counts     `json:"counts"`
	Rate   float64    `json:"rate"`              // messages a second in the last seconds
	EndsAt *time.Time `json:"ends_at,omitempty"` // at this rate
}
