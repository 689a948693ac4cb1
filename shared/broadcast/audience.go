package broadcast

import (
	"time"

	"supportbot/shared/messenger"
	"supportbot/shared/person"
)

// Audience says who gets a broadcast: those who meet every criterion that is set.
// An empty one is everybody. Whoever cannot be written to, is banned or has opted
// out of the kind gets nothing in any case. A person with identities in several
// messengers gets one copy, on the one last used among those that count.
type Audience struct {
	Messengers []messenger.Name `json:"messengers,omitempty"`
	Locales    []string         `json:"locales,omitempty"`
	Roles      []person.Role    `json:"roles,omitempty"` // any of them
	Tags       []string         `json:"tags,omitempty"`  // any of them
	Registered *Span            `json:"registered,omitempty"`
	Seen       *Span            `json:"seen,omitempty"`
	OpenTicket *bool            `json:"open_ticket,omitempty"` // has one, or has none; asked of Tracker
	Customers  []int64          `json:"customers,omitempty"`   // ids of people
}

// Span is a time: From included, To excluded; nil is open.
type Span struct {
	From *time.Time `json:"from,omitempty"`
	To   *time.Time `json:"to,omitempty"`
}

// Estimate is how many would get a broadcast now, and how long that takes at the
// rate that it may have.
type Estimate struct {
	People     int                    `json:"people"`
	Messengers map[messenger.Name]int `json:"messengers"`
	Seconds    int                    `json:"seconds"`
}
