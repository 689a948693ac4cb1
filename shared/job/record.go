package job

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Record is a job as an operator sees it: where it stands and what happened to it.
// What it carries is left out, since that is people's own words.
type Record struct {
	ID            int64
	Queue, Kind   string
	Key, Lane     string
	State         State
	Stage         string // last confirmed stage
	Attempts      int
	Losses        int
	Replays       int
	Failures      []Failure // the oldest first; at most the latest 20
	LastError     string
	CorrelationID string
	HeldFor       string // key of the job that it waits for
	Cancelling    bool   // it runs, and somebody asked it to end
	Remark        string // of whoever settled it
	SettledBy     string
	CreatedAt     time.Time
	RunAt         time.Time
	StartedAt     time.Time // zero: never; later by as long as it was held
	FinishedAt    time.Time // zero: it is open
}

// Failure is one run that went wrong, or what a person decided then.
type Failure struct {
	At    time.Time `json:"at"`
	What  string    `json:"what"` // failed, review, lost, dead; replayed, cancelled
	Stage string    `json:"stage"`
	Error string    `json:"error"` // of what a person decided: who it was
}

// Failure.What of what a person decided.
const (
	FailureReplayed  = "replayed"
	FailureCancelled = "cancelled"
)

// RemarkMost is the longest remark on a review, in characters.
const RemarkMost = 1000

// Remark is what somebody says who settles a review, as it is kept; ok is false if it says
// nothing, or too much.
func Remark(text string) (kept string, ok bool) {
	kept = strings.TrimSpace(strings.ReplaceAll(text, "\x00", ""))
	says := strings.ContainsFunc(kept, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) })
	return kept, says && utf8.RuneCountInString(kept) <= RemarkMost
}

// Filter chooses jobs; its zero value chooses all.
type Filter struct {
	States        []State
	Kind          string // a kind, or the beginning of some: "deliver."
	Lane          string
	CorrelationID string
	Error         string    // part of the last error
	Before        int64     // ids below; 0: from the newest
	Until         time.Time // ended by then, by the database's clock; zero: whenever, or not yet
	Limit         int
}
