// Package history makes up what happened at a support desk: tickets of customers with
// all that agents and customers do about them, hour by hour, with growth, seasons,
// nights, weekends and rushes. The same seed gives the same history.
//
// A Plan makes up each ticket from the seed and its number alone, so that a history
// of any size costs no memory. Its Records are the truth: they say what was done and
// when, and nothing is ever read back. A Player does it all in a sandbox's tracker,
// by the tracker's own API.
package history

import (
	"math/rand/v2"
	"time"

	"supportbot/shared/sandbox/crowd"
)

// Config says what is made up. What is zero gets the default named.
type Config struct {
	Seed    uint64
	Tickets int
	// From and To bound everything: what would happen at To or later does not.
	From, To time.Time
	Zone     *time.Location // of the people; UTC
	// Queues are keys in the tracker, each with the platform's local fields. Customers
	// write to the first one; some tickets are moved to another one.
	Queues     []string
	Categories []Category // the most frequent first; one
	Messengers []string   // telegram, vk
	Agents     []string   // logins, at least one; their habits go by their order
	Rushes     []Rush     // besides those that the seed brings
	// Ends are statuses in which some tickets end instead of being resolved, by a
	// transition with a resolution; none.
	Ends []string
}

// Category is what a ticket can be about, and the type and priority that it gets.
type Category struct{ Key, Type, Priority string }

// Rush is a time with many more tickets than usual.
type Rush struct {
	At    time.Time
	Lasts time.Duration
	Times float64 // as many tickets as in an ordinary hour of a working day
}

// Record is a ticket's life.
type Record struct {
	Number   int // from 0, roughly in the order of time
	Opened   time.Time
	Customer Customer // zero: an agent opened it for themselves
	By       string   // login of the agent who opened it; "": the robot, for the customer
	Queue    string
	Category string
	Type     string
	Priority string
	Subject  string
	Text     string
	Steps    []Step // in order, each later than the one before
}

// Customer is whose ticket it is.
type Customer struct {
	Messenger string
	ID        int64 // also of their chat, which no messenger knows
	Name      string
	Nick      string
	Locale    string
}

// Step is one operation on a ticket: whatever of it is not empty happens at once.
type Step struct {
	At         time.Time // to the millisecond
	By         string    // login of an agent; "": the robot
	Status     string
	Resolution string // with a Status that ends the work
	Assignee   string // login; Nobody takes the assignee away
	Priority   string
	Type       string
	Category   string
	Deadline   string // "2006-01-02"; Nobody takes it away
	Queue      string // to which it is moved; alone in its step
	Rating     int    // by the customer
	Say        Comment
	// Rewrites is the number of the comment, from 1 in the order of the ticket's
	// comments, whose text Say replaces; 0: Say is a new one. Deletes is the number of
	// one that is deleted. Both are alone in their step.
	Rewrites, Deletes int
}

// Nobody in a Step takes a value away.
const Nobody = "-"

// Comment is what somebody writes; an empty To is none.
type Comment struct {
	To     Audience
	Summon bool // the robot, instead of the prefix of a reply
}

// Audience is from whom to whom a comment goes.
type Audience string

// The audiences.
const (
	In     Audience = "in"     // from the customer
	Out    Audience = "out"    // to the customer
	Inside Audience = "inside" // among agents
	Robot  Audience = "robot"  // the robot's own words to agents
)

// Plan makes up a history.
type Plan struct {
	cfg       Config
	calendar  calendar
	customers []crowd.Person // their names
}

// namesKnown is how many different names customers have.
const namesKnown = 2000

// New makes a Plan.
func New(cfg Config) *Plan {
	if cfg.Zone == nil {
		cfg.Zone = time.UTC
	}
	if len(cfg.Messengers) == 0 {
		cfg.Messengers = []string{"telegram", "vk"}
	}
	if len(cfg.Categories) == 0 {
		cfg.Categories = []Category{{Key: "question", Type: "task", Priority: "normal"}}
	}
	p := &Plan{cfg: cfg, customers: (&crowd.Crowd{}).Grow(namesKnown)}
	rushes := append(seeded(cfg), cfg.Rushes...)
	p.calendar = newCalendar(cfg, rushes)
	return p
}

// Tickets is how many there are.
func (p *Plan) Tickets() int { return p.cfg.Tickets }

// Record gives the ticket with a number below Tickets.
func (p *Plan) Record(n int) Record {
	l := &life{
		Plan: p, r: rand.New(rand.NewPCG(p.cfg.Seed, uint64(n))), //nolint:gosec // made up, and the same again
		rec: &Record{Number: n},
	}
	l.live()
	return *l.rec
}

// All gives all of them.
func (p *Plan) All() []Record {
	all := make([]Record, p.cfg.Tickets)
	for n := range all {
		all[n] = p.Record(n)
	}
	return all
}
