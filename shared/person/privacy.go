package person

import (
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/ticket"
)

// ErrBusy: something of theirs is being done at this moment, so that they cannot be
// erased yet.
var ErrBusy = errors.New("something of theirs is under way, try again in a minute")

// ErrPromised: the customer was told that they are erased.
var ErrPromised = errors.New("an erasure that was asked for cannot be called off, nor settled by hand: replay it when what stops it is mended")

// MayEnd says why a person may not end a job before its work is done; nil: they may. The
// key of an erasure stays when it is ended, so that it could not be asked for again.
func MayEnd(r job.Record) error {
	if r.Kind == KindErase && r.State != job.Completed && r.State != job.Cancelled {
		return ErrPromised
	}
	return nil
}

// The kinds of jobs by which a person gets, and is rid of, what is known of them.
const (
	KindErase  = "person.erase"  // Erase
	KindDetach = "person.detach" // Detach
	KindExport = "person.export" // Export
)

// Erase forgets a person. It carries no address: the row outlives them.
type Erase struct {
	Person int64 `json:"person"`
}

// Detach frees one ticket of somebody who is erased already: Tracker refused to, then.
type Detach struct {
	Issue string     `json:"issue"`           // immutable id; "": Tracker refused to say whether there is one
	Asked *time.Time `json:"asked,omitempty"` // when they asked for it, where nobody knows of one
}

// Export sends to a chat what is known of a person.
type Export struct {
	Person  int64             `json:"person"`
	Address messenger.Address `json:"address"`
}

// eraseDelay lets the conversation in which somebody asked come to its end.
const eraseDelay = 3 * time.Second

// EraseKey is the key of the job that erases a person; asking twice is asking once.
func EraseKey(id int64) string { return "erase:" + strconv.FormatInt(id, 10) }

// EraseJob erases a person, in a lane of its own: theirs go with them.
func EraseJob(id int64) job.New {
	return job.New{
		Queue: ticket.QueueDeliveries, Kind: KindErase, Key: EraseKey(id), CorrelationID: EraseKey(id),
		Lane: job.Lane{Name: "person:" + strconv.FormatInt(id, 10)}, Payload: Erase{id}, Delay: eraseDelay,
	}
}

// DetachJob frees a ticket, in a lane that names no customer.
func DetachJob(id int64, issue string) job.New {
	key := "detach:" + strconv.FormatInt(id, 10) + ":" + issue
	return job.New{
		Queue: ticket.QueueDeliveries, Kind: KindDetach, Key: key, CorrelationID: EraseKey(id),
		Lane: job.Lane{Name: "detach:" + issue}, Payload: Detach{Issue: issue},
	}
}

// Unseen is a ticket that somebody asked for and of which Tracker refused to say whether it
// is there.
type Unseen struct {
	Job   int64     `json:"job"` // that would have opened it
	Asked time.Time `json:"asked"`
}

// DetachUnseen leaves such a ticket to an operator.
func DetachUnseen(id int64, u Unseen) job.New {
	j := DetachJob(id, "job:"+strconv.FormatInt(u.Job, 10))
	j.Payload = Detach{Asked: &u.Asked}
	return j
}

// ExportLane is the lane of what is exported to a chat: answers do not wait behind it,
// when Tracker is away.
func ExportLane(a messenger.Address) string { return "export:" + a.String() }

// ExportJob sends what is known of a person to one of their chats, once an hour at the
// most: it is much work for a tap.
func ExportJob(e Export, now time.Time) job.New {
	key := "export:" + strconv.FormatInt(e.Person, 10) + ":" + now.UTC().Format("2006-01-02T15")
	return job.New{
		Queue: ticket.QueueDeliveries, Kind: KindExport, Key: key, CorrelationID: key,
		Lane: job.Lane{Name: ExportLane(e.Address)}, Sequence: now.UnixMilli(), Payload: e,
	}
}

// Dossier is all that is known of a person, for them to read. No secret is in it.
type Dossier struct {
	Person     Facts      `json:"person"`
	Chats      []Chat     `json:"chats"`
	Broadcasts []Received `json:"broadcasts"`
	Requests   []Request  `json:"requests"` // of the last 30 days; older ones are not kept
	Tickets    []Ticket   `json:"tickets"`
}

// Facts are what is known beside the chats.
type Facts struct {
	ID       int64      `json:"id"`
	Locale   string     `json:"locale"`
	Roles    []string   `json:"roles"`
	Tags     []string   `json:"tags"`
	Settings Settings   `json:"settings"`
	Since    time.Time  `json:"since"`
	Banned   *time.Time `json:"banned_at,omitempty"`
	Reason   string     `json:"ban_reason,omitempty"`
}

// Chat is where a person writes from, and what is kept of the conversation.
type Chat struct {
	messenger.Address
	User       string    `json:"user"`
	Name       string    `json:"name"`
	Username   string    `json:"username"`
	Reachable  bool      `json:"reachable"` // the bot may write there
	Registered time.Time `json:"registered_at"`
	Seen       time.Time `json:"seen_at"`
	// Dialog is what the bot remembers between two messages: forms half-filled,
	// messages that wait for an answer. It is gone seven days after the last one.
	Dialog json.RawMessage `json:"dialog,omitempty"`
}

// Received is a broadcast that was for them.
type Received struct {
	Broadcast int64      `json:"broadcast"`
	Kind      string     `json:"kind"`
	Title     string     `json:"title"`
	Outcome   string     `json:"outcome"` // "": not yet
	At        *time.Time `json:"at,omitempty"`
	// Texts is what it says, by language, where it was for them alone.
	Texts map[string]string `json:"texts,omitempty"`
}

// Request is a piece of work: something that they asked for, or that was sent to
// them.
type Request struct {
	Kind    string          `json:"kind"`
	State   string          `json:"state"`
	At      time.Time       `json:"at"`
	Content json.RawMessage `json:"content,omitempty"` // what they wrote; not what others did
}

// Ticket is a ticket of theirs in Tracker.
type Ticket struct {
	Key     string    `json:"key"`
	Title   string    `json:"title"`
	Status  string    `json:"status"`
	Created time.Time `json:"created_at"`
	Updated time.Time `json:"updated_at"`
}

// Draft is a ticket that they asked for, and what came of it so far.
type Draft struct {
	Address messenger.Address
	ID      string
	Issue   string // immutable id; "": nobody knows whether there is one
	Unseen         // what stands for it then
}
