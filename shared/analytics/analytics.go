// Package analytics holds what analysts count: tickets by version, what happened to
// them, messages and outcomes of broadcasts. The rows carry keys and ids, so that
// whatever is loaded twice, late or out of order changes no number; and nothing that
// names a customer.
//
// Package loader reads them from Tracker and Postgres, package clickhouse keeps them.
package analytics

import "time"

// Ticket is a version of a ticket.
type Ticket struct {
	Issue      string // immutable id
	Version    int64
	UpdatedAt  time.Time
	Key        string
	Queue      string
	CreatedAt  time.Time
	ResolvedAt time.Time // zero while open
	Type       string
	Priority   string
	Status     string
	Phase      Phase
	Resolution string
	Assignee   string // id
	Messenger  string
	Category   string
	Locale     string
	Rating     int       // 1..5; 0: none
	Deadline   time.Time // a day; zero: none
	SLAFailsAt time.Time // when the first of its timers fails or has failed; zero: none can

	Story
}

// Phase is what a status means: Tracker's type of a standard status, or what the
// catalogue says of a custom one; "" when nobody has said.
type Phase string

// The phases.
const (
	New        Phase = "new"
	InProgress Phase = "inProgress"
	Paused     Phase = "paused"
	Done       Phase = "done"
	Cancelled  Phase = "cancelled"
)

// Final reports whether work has ended.
func (p Phase) Final() bool { return p == Done || p == Cancelled }

// Kind is what an event is.
type Kind string

// The kinds of events. Before and After are keys, of assignees ids.
const (
	Created       Kind = "created"
	Status        Kind = "status"
	Reopened      Kind = "reopened" // beside its Status, from a final phase to another one
	Assignee      Kind = "assignee"
	Priority      Kind = "priority"
	Type          Kind = "type"
	Queue         Kind = "queue"
	Rating        Kind = "rating"
	CommentIn     Kind = "comment_in"     // the customer's message
	CommentOut    Kind = "comment_out"    // an answer to the customer
	CommentInside Kind = "comment_inside" // among agents
)

// Event is something that happened to a ticket. ID is its own within the ticket. Of
// two states of one event that with the larger Version counts, of the same version
// that which came last.
type Event struct {
	Issue                   string
	ID                      string
	Kind                    Kind
	At                      time.Time
	Actor                   string // id of the account
	Before, After           string
	BeforePhase, AfterPhase Phase
	OpenedAt                time.Time // of the ticket
	Version                 int64
	Deleted                 bool
}

// Agent is who a ticket was given to.
type Agent struct {
	ID, Login, Name string
	SeenAt          time.Time
}

// StatusName is a status of Tracker.
type StatusName struct {
	Key, Name string
	Phase     Phase
}

// Messages is how many messages of a kind there were on a day.
type Messages struct {
	Day       time.Time // midnight in UTC
	Messenger string
	Direction string // "in", "out"
	Kind      string // of the job
	Count     int64
}

// Batch is how a part of a broadcast stands.
type Batch struct {
	Broadcast, ID                             int64
	Kind, Relation, Messenger                 string
	CreatedAt                                 time.Time // of the broadcast
	StartedAt, DoneAt                         time.Time // zero: not yet
	Size                                      int
	Sent, Blocked, Failed, Uncertain, Skipped int
	ReadAt                                    time.Time
}

// LiveLoad is the name of the load that goes on for ever.
const LiveLoad = "tickets"

// Load is how far a load of tickets has come.
type Load struct {
	Name       string
	Since      time.Time
	Until      time.Time // zero: it goes on for ever
	Reached    time.Time // everything updated before is loaded or owed
	Tickets    int64     // read so far
	Remaining  int64     // at the last count; -1: not counted
	StartedAt  time.Time
	FinishedAt time.Time
}

// Advance is a step of a load: rows are in when it is written.
type Advance struct {
	Name      string
	Reached   time.Time
	Tickets   int64 // more than before
	Remaining int64 // -1: not counted
	Finished  bool
	Owed      []Owed   // left out
	Settled   []string // issues that are owed no more
}

// Owed is a ticket that Tracker could not tell everything of.
type Owed struct{ Issue, Error string }

// Version names a ticket's version that is loaded.
type Version struct {
	Issue     string
	Version   int64
	UpdatedAt int64 // Unix milliseconds
}

// Loaded is a version as a load has put it in; a later one may put the same in again.
type Loaded struct {
	Version
	At int64 // Unix milliseconds
}
