package dialog

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/person"
)

// LeaseTime is how long the right to send a conversation's replies holds.
const LeaseTime = 10 * time.Second

// Entry is what one event led to and what is not done yet: jobs that have to be
// inserted, then replies that have to be sent. It is written together with the
// state, so that a crash after that loses nothing, and carries all that anybody
// needs to complete it.
type Entry struct {
	Key        string            `json:"key"`    // of the event
	N          int64             `json:"n"`      // orders the entries of a conversation
	Writer     string            `json:"writer"` // random: tells a repeated command from a second writer
	At         time.Time         `json:"at"`
	Address    messenger.Address `json:"address"`
	User       messenger.User    `json:"user"`
	NoCallback bool              `json:"no_callback,omitempty"`
	Group      bool              `json:"group,omitempty"` // a group chat: nobody to be recorded
	Visit      bool              `json:"visit,omitempty"` // record the person also without jobs
	Update     person.Update     `json:"update"`
	Jobs       []Job             `json:"jobs,omitempty"`
	Replies    []Reply           `json:"replies,omitempty"`
}

// Job is a job.New whose payload is JSON already.
type Job job.New

// Jobs freezes the payloads.
func Jobs(jobs []job.New) ([]Job, error) {
	out := make([]Job, len(jobs))
	for i, j := range jobs {
		raw, err := json.Marshal(j.Payload)
		if err != nil {
			return nil, fmt.Errorf("encode payload of %s: %w", j.Kind, err)
		}
		j.Payload = json.RawMessage(raw)
		out[i] = Job(j)
	}
	return out, nil
}

// UnmarshalJSON keeps the payload as it was written.
func (j *Job) UnmarshalJSON(b []byte) error {
	var s struct {
		job.New
		Payload json.RawMessage
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	*j = Job(s.New)
	j.Payload = s.Payload
	return nil
}

// Pending is an entry as it is kept.
type Pending struct {
	Entry
	Recorded bool // its jobs are known to be inserted
	// Begun: somebody else had begun to send its replies and has not come to the
	// end. They may have been sent.
	Begun bool
}

// Profile is the kept copy of the person behind a conversation.
type Profile struct {
	Person person.Person  `json:"person"`
	User   messenger.User `json:"user"`
	At     time.Time      `json:"at"` // when it was read
}

// Verdict says how an event stands.
type Verdict string

// The verdicts of loading and committing.
const (
	Fresh     Verdict = "fresh"     // to be handled
	Seen      Verdict = "seen"      // handled, and all of it is done
	Repeated  Verdict = "repeated"  // handled, its entry is pending
	Banned    Verdict = "banned"    // to be ignored
	Flooding  Verdict = "flooding"  // to be ignored: over the customer's limit
	Warned    Verdict = "warned"    // like Flooding, and the customer has to be told
	Committed Verdict = "committed" // written
	Conflict  Verdict = "conflict"  // somebody else wrote first: handle it again on what is there now
	Forgotten Verdict = "forgotten" // the mark is gone: nobody knows whether it was handled
)

// Snapshot is a conversation as it is kept.
type Snapshot struct {
	Verdict Verdict
	Version int64
	State   State
	Profile *Profile // nil when nobody knows
	Tickets Tickets
	Pending []Pending // in order
	// Holds: the caller has the right to send the conversation's replies.
	Holds bool
}

// ErrForgotten means that a mark is gone (Lookup.Mark): nothing was done.
var ErrForgotten = errors.New("the memory of what was handled is lost")

// Lookup asks for a conversation on behalf of an event.
type Lookup struct {
	Address messenger.Address
	Key     string // of the event
	// At is when it happened, by the messenger's clock. What happened before the
	// customer was erased counts as seen: messengers repeat, and are asked again.
	At time.Time
	// Burst events may come at once, then one each Every; Burst 0 = no limit.
	Burst int
	Every time.Duration
	// Mark names what has to be there still for anything to be done, in the same memory
	// that tells which events were handled; "": nothing.
	Mark string
}

// Write is what an event changes, if the version is still the same.
type Write struct {
	Address messenger.Address
	Key     string // of the event
	Version int64
	State   State
	Profile *Profile // nil: leave it
	// Entry is nil when nothing but the state changes; the event counts as seen
	// at once then.
	Entry *Entry
	// Token is the reply lease to take if it is free.
	Token string
	// Tickets, if not nil, were read just now.
	Tickets *Tickets
	Mark    string // as in Lookup
}

// Done says that an entry is done.
type Done struct {
	Address messenger.Address
	Token   string // of the reply lease
	Key     string // of the entry
	Profile *Profile
	Forget  bool     // the next event reads the person anew
	Tickets *Tickets // if not nil, read just now
}
