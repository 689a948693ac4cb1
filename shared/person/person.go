// Package person holds what the platform knows of a customer: one person with
// an identity in each messenger that they write from.
package person

import (
	"slices"
	"time"

	"supportbot/shared/messenger"
)

// Person is a customer, or somebody with more rights.
type Person struct {
	ID       int64
	Locale   string // "ru" or "en"
	Roles    []Role
	Settings Settings
	Banned   bool
}

// Role is what a person may do beyond being a customer.
type Role string

// The roles.
const (
	Customer Role = "customer"
	Agent    Role = "agent"
	Admin    Role = "admin"
	Analyst  Role = "analyst"
	Operator Role = "operator"
)

// Staff says whether somebody has more rights than a customer.
func (p Person) Staff() bool {
	return slices.ContainsFunc(p.Roles, func(r Role) bool { return r != Customer })
}

// SameRights says whether two people may do the same.
func (p Person) SameRights(o Person) bool {
	lacks := func(p Person) func(Role) bool {
		return func(r Role) bool { return r != Customer && !slices.Contains(p.Roles, r) }
	}
	return !slices.ContainsFunc(p.Roles, lacks(o)) && !slices.ContainsFunc(o.Roles, lacks(p))
}

// Settings are what a person wants to be told. Answers to their own tickets
// always come.
type Settings struct {
	News        bool `json:"news"`
	Maintenance bool `json:"maintenance"`
	Status      bool `json:"status"` // status changes of their tickets
}

// DefaultSettings is what a new person has.
var DefaultSettings = Settings{News: true, Maintenance: true, Status: true}

// Choice is what a person chose of their settings; nil stays as it is. So a button
// below an old message in one chat does not take back what was chosen in another.
type Choice struct {
	News        *bool `json:"news,omitempty"`
	Maintenance *bool `json:"maintenance,omitempty"`
	Status      *bool `json:"status,omitempty"`
}

// With gives the settings after a choice.
func (s Settings) With(c Choice) Settings {
	return Settings{News: or(c.News, s.News), Maintenance: or(c.Maintenance, s.Maintenance), Status: or(c.Status, s.Status)}
}

func or(chosen *bool, was bool) bool {
	if chosen != nil {
		return *chosen
	}
	return was
}

// Identity is a person in one messenger.
type Identity struct {
	Address messenger.Address
	User    messenger.User
	SeenAt  time.Time
}

// MaxTags is how many tags a person may have: links with tags can be made by anybody.
const MaxTags = 100

// Update changes a person; nil fields stay as they are.
type Update struct {
	Locale    *string
	Settings  *Choice
	Tags      []string // added to those that they have
	Reachable *bool    // whether the identity can be written to
}

// Visit is what one event tells about a person: who it was, and what changed.
type Visit struct {
	Identity Identity
	Update   Update
}
