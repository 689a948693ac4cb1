// Package person holds what the platform knows of a customer: one person with
// an identity in each messenger that they write from.
package person

import (
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

// Settings are what a person wants to be told. Answers to their own tickets
// always come.
type Settings struct {
	News        bool `json:"news"`
	Maintenance bool `json:"maintenance"`
	Status      bool `json:"status"` // status changes of their tickets
}

// DefaultSettings is what a new person has.
var DefaultSettings = Settings{News: true, Maintenance: true, Status: true}

// Identity is a person in one messenger.
type Identity struct {
	Address messenger.Address
	User    messenger.User
	SeenAt  time.Time
}

// Update changes a person; nil fields stay as they are.
type Update struct {
	Locale    *string
	Settings  *Settings
	Reachable *bool // whether the identity can be written to
}

// Visit is what one event tells about a person: who it was, and what changed.
type Visit struct {
	Identity Identity
	Update   Update
}
