// Package broadcast says what a broadcast is: one message to many people, within
// the messengers' limits.
//
//	draft -> scheduled -> planning -> running -> finished
//	                                  |  ^ '-> cancelling -> cancelled
//	                                  v  |
//	                          pausing -> paused
//
// Planning snapshots the recipients into batches, one job each, in the lane of the
// messenger's bot. Pausing and cancelling end when no send is under way any more.
// Finished means that no recipient is without an outcome.
package broadcast

import (
	"fmt"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
)

// Queue is the queue of everything here.
const Queue = "broadcasts"

// The kinds of jobs.
const (
	KindPlan  = "broadcast.plan"
	KindBatch = "broadcast.batch"
)

// BatchSize is recipients in a batch: 20 a second for the 300 s of one call.
const BatchSize = 6000

// Keep is how long recipients are kept; then only the counts.
const Keep = 90 * 24 * time.Hour

// Kind says what a broadcast is about, and so who may not want it.
type Kind string

// The kinds.
const (
	News        Kind = "news"        // not to those who opted out of news
	Maintenance Kind = "maintenance" // not to those who opted out of maintenance; overtakes news
	System      Kind = "system"      // only by role, to everybody who has it
	Message     Kind = "message"     // to one customer, before everything else
)

// Priority is the priority of the jobs of a kind; urgency is 0..9 within it.
func Priority(k Kind, urgency int) int {
	base := map[Kind]int{News: 0, Maintenance: 10, System: 20, Message: 30}
	return base[k] + urgency
}

// State is where a broadcast is in its life.
type State string

// The states.
const (
	Draft      State = "draft"
	Scheduled  State = "scheduled"
	Planning   State = "planning"
	Running    State = "running"
	Pausing    State = "pausing"
	Paused     State = "paused"
	Cancelling State = "cancelling"
	Cancelled  State = "cancelled"
	Finished   State = "finished"
)

// States are all of them, in the order of a life.
var States = []State{Draft, Scheduled, Planning, Running, Pausing, Paused, Cancelling, Cancelled, Finished}

// Relation says how a broadcast belongs to its parent.
type Relation string

// The relations.
const (
	Correction Relation = "correction" // goes to those whom the parent reached or may have reached
	Test       Relation = "test"       // the parent as its author sees it
)

// Content is what everybody gets, by locale.
type Content struct {
	Texts    map[string]string `json:"texts"`              // locale -> Markdown
	Fallback string            `json:"fallback,omitempty"` // the locale for whoever speaks none of them; "" with one text
	Buttons  []Button          `json:"buttons,omitempty"`
}

// Button is a link below the message.
type Button struct {
	Labels map[string]string `json:"labels"` // by locale, as the texts
	URL    string            `json:"url"`
}

// Hours are the hours of a day in which messages may go out. From after To spans
// midnight.
type Hours struct {
	From string `json:"from"` // "09:00"
	To   string `json:"to"`   // "21:00", excluded
	Zone string `json:"zone"` // IANA name
}

// Spec is what an author decides.
type Spec struct {
	Kind     Kind       `json:"kind"`
	Title    string     `json:"title,omitempty"` // for the list, nobody gets it
	Content             // texts, fallback, buttons
	Audience Audience   `json:"audience"`
	StartAt  *time.Time `json:"start_at,omitempty"` // nil: at once
	Urgency  int        `json:"urgency,omitempty"`  // 0..9 among those of its kind
	Rate     float64    `json:"rate,omitempty"`     // messages a second in each messenger; 0: the limit
	Hours    *Hours     `json:"hours,omitempty"`
	Draft    bool       `json:"draft,omitempty"` // keep it, send nothing
}

// Broadcast is a row.
type Broadcast struct {
	ID int64 `json:"id"`
	Spec
	State      State      `json:"state"`
	Parent     int64      `json:"parent,omitempty"`
	Relation   Relation   `json:"relation,omitempty"`
	CreatedBy  string     `json:"created_by"` // "key:<name>" or "person:<id>"
	CreatedAt  time.Time  `json:"created_at"`
	StartedAt  *time.Time `json:"started_at,omitempty"`
	FinishedAt *time.Time `json:"finished_at,omitempty"`
	Counts     Counts     `json:"counts"`
}

// Counts are recipients by outcome; what is missing to Total has none yet.
type Counts struct {
	Total     int `json:"total"`
	Sent      int `json:"sent"`
	Blocked   int `json:"blocked"`
	Failed    int `json:"failed"`
	Uncertain int `json:"uncertain"`
	Skipped   int `json:"skipped"`
}

// Open is how many recipients have no outcome yet.
func (c Counts) Open() int { return c.Total - c.Sent - c.Blocked - c.Failed - c.Uncertain - c.Skipped }

// Add adds the counts of a part.
func (c *Counts) Add(o Counts) {
	c.Total += o.Total
	c.Sent += o.Sent
	c.Blocked += o.Blocked
	c.Failed += o.Failed
	c.Uncertain += o.Uncertain
	c.Skipped += o.Skipped
}

// Text is the text and its locale for somebody who speaks locale.
func (c Content) Text(locale string) (text, in string) {
	for _, l := range []string{locale, c.Fallback} {
		if t, ok := c.Texts[l]; ok {
			return t, l
		}
	}
	for l, t := range c.Texts { // the only one
		return t, l
	}
	return "", ""
}

// Lane is where the batches of one bot wait for each other.
func Lane(m messenger.Name, bot string) job.Lane {
	return job.Lane{Name: fmt.Sprintf("broadcast:%s:%s", m, bot), Loose: true}
}

// PlanLane is a lane of a broadcast's own: planning a large one delays no other.
func PlanLane(id int64) job.Lane {
	return job.Lane{Name: fmt.Sprintf("broadcast:plan:%d", id), Loose: true}
}

// PlanKey is the key of the job that plans a broadcast.
func PlanKey(id int64) string { return fmt.Sprintf("broadcast:%d:plan", id) }

// BatchKey is the key of the job that sends a batch; round counts the jobs that it
// had before: its uncertain recipients were given back, or a job had vanished.
func BatchKey(batch int64, round int) string { return fmt.Sprintf("batch:%d:%d", batch, round) }

// PlanJob is the payload of KindPlan.
type PlanJob struct {
	Broadcast int64 `json:"broadcast"`
}

// BatchJob is the payload of KindBatch.
type BatchJob struct {
	Broadcast int64 `json:"broadcast"`
	Batch     int64 `json:"batch"`
}
